/** Milliseconds since 1970, on this machine's clock. */
export function nowMs(): number {
  return Date.now();
}
