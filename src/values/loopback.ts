/** The names that a machine has for itself (RFC 6761, 6.3; RFC 5735, 3; RFC 4291, 2.5.3). */
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/** @param hostname as `URL` gives it */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.includes(hostname);
}

/** The addresses under which a browser on this machine reaches an address: the address itself first, and its other names if it is a loopback address. */
export function namesOfMachine(address: string): string[] {
  const url = new URL(address);
  if (!isLoopback(url.hostname)) return [address];
  const others = LOOPBACK.filter((name) => name !== url.hostname);
  return [address, ...others.map((name) => address.replace(url.hostname, name))];
}
