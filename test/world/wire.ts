import { connect, createServer, type Server, type Socket } from 'node:net';
import { listening } from './ports.ts';

/** Stands between a service and its database, and carries what both say. What becomes of it is the affair of who extends it. */
export abstract class Wire {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(target: URL) {
    this.#server = createServer((near) => {
      const far = connect(Number(target.port), target.hostname);
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.setNoDelay(true).on('error', () => {});
      }
      near.on('close', () => far.destroy());
      far.on('close', () => near.destroy());
      this.carry(near, far);
    });
  }

  /** @returns the address of the database as the service is to know it */
  async open(target: URL): Promise<string> {
    const port = await listening(this.#server);
    return Object.assign(new URL(target), { hostname: '127.0.0.1', port }).toString();
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  /** @param near towards the service; @param far towards the database */
  protected abstract carry(near: Socket, far: Socket): void;
}
