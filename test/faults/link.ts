import { connect, createServer, type Server, type Socket } from 'node:net';
import { listening } from '../world/ports.ts';

/** A network path to a database: it leads to a server, which may change, and can swallow what it carries or break. */
export class Link {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #target: number;
  #swallowing = false;
  port = 0;

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.#target = target;
  }

  /** @param target a port of this machine */
  static async start(target: number): Promise<Link> {
    const server = createServer();
    const link = new Link(server, target);
    server.on('connection', (near) => link.#carry(near));
    link.port = await listening(server);
    return link;
  }

  /** Leads elsewhere from now on; what was open is reset. */
  leadTo(target: number): void {
    this.#target = target;
    this.break();
  }

  /** From now on nothing comes through, and nobody is told: neither connections that are open nor new ones. */
  swallow(): void {
    this.#swallowing = true;
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  /** New connections work again. What was silent is reset, as by a network that has forgotten it. */
  heal(): void {
    this.#swallowing = false;
    this.break();
  }

  break(): void {
    for (const socket of this.#sockets) {
      socket.resetAndDestroy();
      // At once: by itself it would wait until what is written has gone out.
      socket.destroy();
    }
  }

  stop(): void {
    this.#server.close();
    this.break();
  }

  #carry(near: Socket): void {
    this.#keep(near);
    if (this.#swallowing) {
      near.pause();
      return;
    }
    const far = connect(this.#target, '127.0.0.1');
    this.#keep(far);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.once('close', () => other.destroy());
      one.pipe(other);
    }
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.once('close', () => this.#sockets.delete(socket));
  }
}
