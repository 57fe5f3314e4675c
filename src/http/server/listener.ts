import type { Server } from 'node:http';
import type { Part } from '../../process/parts.ts';
import { StartupError } from '../../values/errors.ts';
import { portFault } from './ports.ts';

/** Milliseconds that requests in flight get when a listener stops. */
export const MAX_STOP_MS = 10_000;

export interface Binding {
  /** The variable that names the port. */
  variable: string;
  host: string;
  /** 0: any free port. */
  port: number;
}

/** What a listener listens with: a Fastify instance, or a server of its own. */
export interface Listening {
  server: Server;
  listen(binding: Omit<Binding, 'variable'>): Promise<unknown>;
  close(): Promise<unknown>;
}

/** A listener as a part of the service. When it stops, it takes no new request and ends those in flight within 10 seconds. */
export class Listener implements Part {
  readonly #listening: Listening;
  readonly #binding: Binding;

  constructor(listening: Listening, binding: Binding) {
    this.#listening = listening;
    this.#binding = binding;
  }

  /** @throws StartupError when the address is in use or not one of this machine's */
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

  /** Host and port as a caller on this machine writes them, once it listens. */
  get authority(): string {
    const { host, port } = this.#binding;
    const bound = this.#listening.server.address();
    return authorityOf(host, typeof bound === 'object' && bound ? bound.port : port);
  }
}

/** Host and port of a listener as a caller on this machine writes them. */
export function authorityOf(host: string, port: number): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `${name}:${port}`;
}

/** Listens with a server of Node's. */
export function listenOn(server: Server, { host, port }: Omit<Binding, 'variable'>): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
}
