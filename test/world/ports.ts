import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** For a program that must be told its port. Servers in this process use `listening`. The kernel never assigns these ports to connections. */
export { freePort } from '../../src/embedded/postgres.ts';

/**
 * Makes a server listen on 127.0.0.1.
 * @param port 0 for a free one
 * @returns its port
 */
export async function listening(server: Server, port = 0): Promise<number> {
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}
