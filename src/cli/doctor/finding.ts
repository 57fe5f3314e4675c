/** The result of a check. */
export interface Finding {
  /** What was checked, in a few words. */
  check: string;
  status: 'ok' | 'warning' | 'failed';
  /** What was found; if it is not ok, also what to do. */
  message: string;
}

export const ok = (check: string, message: string): Finding => ({ check, status: 'ok', message });
export const warning = (check: string, message: string): Finding => ({ check, status: 'warning', message });
export const failed = (check: string, message: string): Finding => ({ check, status: 'failed', message });

/** A warning if a condition holds, otherwise ok. */
export function warnIf(is: boolean, check: string, { warns, fine }: { warns: string; fine: string }): Finding {
  return is ? warning(check, warns) : ok(check, fine);
}

/** A number with its noun: `3 receivers`, `1 receiver`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** A duration for people, such as `4 minutes`. @param seconds not negative */
export function lasting(seconds: number): string {
  if (seconds < 120) return count(Math.round(seconds), 'second');
  if (seconds < 7_200) return count(Math.round(seconds / 60), 'minute');
  if (seconds < 172_800) return count(Math.round(seconds / 3_600), 'hour');
  return count(Math.round(seconds / 86_400), 'day');
}
