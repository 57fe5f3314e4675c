import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { listening } from '../ports.ts';
import { until } from '../until.ts';

/** A request that a receiver got: header names in lower case, and in their original form. */
export interface Received {
  at: number;
  method: string;
  path: string;
  headers: Record<string, string>;
  rawHeaders: string[];
  body: Buffer;
}

export type Behaviour = (request: Received, response: ServerResponse, socket: Socket) => void;

/** A receiver on a free port of 127.0.0.1, whose behaviour a test can change. */
export class Receiver {
  readonly received: Received[] = [];
  port = 0;
  behaviour: Behaviour = (_request, response) => void response.end('ok');
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(
    behaviour?: Behaviour,
    make: (listener: (q: IncomingMessage, r: ServerResponse) => void) => Server = createServer,
  ): Promise<Receiver> {
    let receiver: Receiver | undefined;
    const server = make((request, response) => receiver?.take(request, response));
    server.keepAliveTimeout = 30_000;
    receiver = new Receiver(server);
    if (behaviour) receiver.behaviour = behaviour;
    receiver.port = await listening(server);
    return receiver;
  }

  url(path = '/hook'): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    request.on('end', () => {
      const got: Received = {
        at: performance.now(),
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers as Record<string, string>,
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(chunks),
      };
      this.received.push(got);
      this.behaviour(got, response, request.socket);
      for (const wake of this.#waiting) wake();
    });
  }

  /** Waits until this many requests have arrived. */
  async wait(count: number, seconds?: number): Promise<Received[]> {
    await until(() => this.received.length >= count, {
      what: `${count} requests`,
      seen: () => this.received.length,
      on: (look) => {
        this.#waiting.add(look);
        return () => this.#waiting.delete(look);
      },
      ...(seconds === undefined ? {} : { seconds }),
    });
    return this.received;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
