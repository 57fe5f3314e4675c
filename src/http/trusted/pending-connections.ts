import type { Socket } from 'node:net';

/** Milliseconds from the connection to the end of the handshake, and the most connections that may be pending. */
export interface PendingLimits {
  handshakeMs: number;
  maxPending: number;
}

/**
 * Connections that have not been, or never will be, handed to the HTTP server. If there are too many, the oldest is destroyed. A good
 * handshake takes milliseconds, so the oldest is always a slow caller.
 */
export class PendingConnections {
  readonly #limits: PendingLimits;
  readonly #pending = new Map<string, { socket: Socket; timer: NodeJS.Timeout }>();

  constructor(limits: PendingLimits) {
    this.#limits = limits;
  }

  /** Adds a connection until it closes or `delete` is called. It is destroyed after `handshakeMs` unless `keep` is called. */
  add(socket: Socket): void {
    const key = endpointOf(socket);
    if (this.#pending.size >= this.#limits.maxPending) {
      const [oldest] = this.#pending.values();
      oldest?.socket.destroy();
      if (oldest) this.delete(oldest.socket);
    }
    const timer = setTimeout(() => socket.destroy(), this.#limits.handshakeMs);
    this.#pending.set(key, { socket, timer });
    socket.on('close', () => {
      if (this.#pending.get(key)?.socket === socket) this.delete(socket);
    });
  }

  /** Lifts the deadline of a connection, which stays pending. It takes the connection's TCP socket or its TLS socket. */
  keep(socket: Socket): void {
    clearTimeout(this.#pending.get(endpointOf(socket))?.timer);
  }

  delete(socket: Socket): void {
    const key = endpointOf(socket);
    clearTimeout(this.#pending.get(key)?.timer);
    this.#pending.delete(key);
  }

  destroyAll(): void {
    for (const { socket } of this.#pending.values()) socket.destroy();
  }
}

/** Identifies a connection. Node does not reveal which TCP socket belongs to a TLS socket. */
function endpointOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}
