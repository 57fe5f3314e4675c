import type { Server } from 'node:http';
import type { Part } from '../../process/parts.ts';
import { StartupError } from '../../values/errors.ts';
import { portFault } from './ports.ts';

/** Milliseconds that requests in flight get when a listener stops. */
export const MAX_STOP_MS = 10_000;

export interface Binding {
  /** The variable that sets the port. */
  variable: string;
  host: string;
  /** 0: any free port. */
  port: number;
}

/** What accepts connections: a Fastify instance, or a server of its own. */
export interface Listening {
  server: Server;
  listen(binding: Omit<Binding, 'variable'>): Promise<unknown>;
  close(): Promise<unknown>;
}

/** A listener as a part of the service. When it stops, it takes no new requests and ends those in flight within 10 seconds. */
export class Listener implements Part {
  readonly #listening: Listening;
  readonly #binding: Binding;

  constructor(listening: Listening, binding: Binding) {
    this.#listening = listening;
    this.#binding = binding;
  }

  /** @throws StartupError if the address is in use or does not belong to this machine */
  async start(): Promise<void> {
    const { variable, host, port } = this.#binding;
    await this.#listening.listen({ host, port }).catch((error: NodeJS.ErrnoException) => {
      throw new StartupError(portFault({ variable, host, port }, error), { cause: error });
    });
  }

  async stop(): Promise<void> {
    const timer = setTimeout(() => this.#listening.server.closeAllConnections(), MAX_STOP_MS);
    await this.#listening.close();
    clearTimeout(timer);
  }

  /** Host and port for a caller on this machine, once it listens. */
  get authority(): string {
    const { host, port } = this.#binding;
    const bound = this.#listening.server.address();
    return authorityOf(host, typeof bound === 'object' && bound ? bound.port : port);
  }
}

/** Host and port of a listener for a caller on this machine. */
export function authorityOf(host: string, port: number): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `${name}:${port}`;
}

/** Starts to listen with a Node server. */
export function listenOn(server: Server, { host, port }: Omit<Binding, 'variable'>): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
}
