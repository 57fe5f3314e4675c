import { connect, createServer, type Server, type Socket } from 'node:net';
import { listening } from './ports.ts';

/** A proxy between a service and its database that carries the data of both. Subclasses decide what happens to the data. */
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

  /** @returns the database address to give to the service */
  async open(target: URL): Promise<string> {
    const port = await listening(this.#server);
    return Object.assign(new URL(target), { hostname: '127.0.0.1', port }).toString();
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  /**
   * @param near the side of the service;
   * @param far the side of the database
   */
  protected abstract carry(near: Socket, far: Socket): void;
}
