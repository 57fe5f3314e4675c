import { readdirSync, readFileSync } from 'node:fs';

/** Ticks of /proc per second. */
const TICKS_PER_SECOND = 100;

/** The fields of /proc/PID/stat from the state on; undefined if the process has ended. */
function stat(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ');
  } catch {
    return undefined;
  }
}

const sum = (fields: string[] | undefined, places: number[]) =>
  places.reduce((total, place) => total + Number(fields?.[place] ?? 0), 0) / TICKS_PER_SECOND;

/** Processor time of a process, in seconds. */
export function processorSeconds(pid: number): number {
  return sum(stat(pid), [11, 12]);
}

/** Processor time of a process in milliseconds, with nanosecond precision, for work shorter than a tick. */
export function preciseMilliseconds(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

/** The parent of a process. */
export function parentOf(pid: number): number {
  return Number(stat(pid)?.[1]);
}

/** Processor time of a PostgreSQL server: its first process, its living children, and those that have ended. */
export function serverSeconds(postmaster: number): number {
  let total = sum(stat(postmaster), [11, 12, 13, 14]);
  for (const name of readdirSync('/proc')) {
    const fields = /^\d+$/.test(name) ? stat(Number(name)) : undefined;
    if (Number(fields?.[1]) === postmaster) total += sum(fields, [11, 12]);
  }
  return total;
}

/** Resident memory of a process in MB: the current value and the peak. */
export function memory(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const value = (name: string) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1_024);
  return { now: value('VmRSS'), peak: value('VmHWM') };
}
