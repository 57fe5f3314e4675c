import type { ServerResponse } from 'node:http';
import { Problem } from '../../values/errors.ts';
import type { LiveUpdate, LiveUpdates } from './live-updates.ts';

/** The most streams at once in one process: of a contact for a client, of a client, and of all clients. */
export const MAX_STREAMS_PER_CONTACT = 4;
export const MAX_STREAMS_PER_CLIENT = 10;
const MAX_STREAMS = 1_000;
/** Milliseconds between two checks of the token. A stream outlives the revocation of its token by no more than this. */
const TOKEN_INTERVAL_MS = 1_000;
/** Milliseconds between two comments that keep the connection of an idle stream open. */
const HEARTBEAT_INTERVAL_MS = 15_000;
/** Milliseconds after which a client that lost its stream should open it again. */
const RETRY_AFTER_MS = 3_000;
/** Bytes that may wait for a slow reader. Beyond them events are dropped, and a `resync` event says so. */
const MAX_WAITING_BYTES = 65_536;

/** Checks that the token still gives access to the client. It rejects with a Problem if not. */
export type TokenCheck = () => Promise<void>;

/** The open event streams of a process (service interface, X-GraphQL-Event-Stream). */
export class EventStreams {
  readonly #updates: LiveUpdates;
  readonly #open = new Set<EventStream>();

  constructor(updates: LiveUpdates) {
    this.#updates = updates;
  }

  /**
   * Answers with server-sent events until the reader, the token or the service ends the stream.
   * @param request `headers`: of the answer, in addition to those of an event stream
   * @throws Problem rate_limited if too many streams are open
   */
  async serve(
    caller: StreamCaller,
    response: ServerResponse,
    request: { headers: Record<string, string>; check: TokenCheck },
  ): Promise<void> {
    const { headers, check } = request;
    const { clientId, contactId } = caller;
    const ofClient = [...this.#open].filter((stream) => stream.caller.clientId === clientId);
    // A single contact must not take all streams of its client.
    if (ofClient.filter((stream) => stream.caller.contactId === contactId).length >= MAX_STREAMS_PER_CONTACT) {
      throw new Problem(
        'rate_limited',
        `a contact has at most ${MAX_STREAMS_PER_CONTACT} event streams at once (MAX_STREAMS_PER_CONTACT)`,
      );
    }
    if (ofClient.length >= MAX_STREAMS_PER_CLIENT) {
      throw new Problem(
        'rate_limited',
        `a client has at most ${MAX_STREAMS_PER_CLIENT} event streams at once (MAX_STREAMS_PER_CLIENT)`,
      );
    }
    if (this.#open.size >= MAX_STREAMS)
      throw new Problem('rate_limited', `there are at most ${MAX_STREAMS} event streams at once (MAX_STREAMS)`);
    const stream = new EventStream(caller, response, check);
    this.#open.add(stream);
    response.once('close', () => this.#open.delete(stream));
    try {
      const unfollow = await this.#updates.follow(clientId, stream);
      response.once('close', unfollow);
      if (response.closed) unfollow();
      else stream.start(headers);
    } catch (error) {
      this.#open.delete(stream);
      throw error;
    }
  }

  /** Ends every stream. The readers reconnect to another process. */
  async stop(): Promise<void> {
    for (const stream of this.#open) stream.end('stopping');
    await this.#updates.stop();
  }
}

/** The contact and the client of a stream. */
export interface StreamCaller {
  clientId: string;
  contactId: string;
}

class EventStream {
  readonly caller: StreamCaller;
  readonly #response: ServerResponse;
  readonly #check: TokenCheck;
  #behind = false;

  constructor(caller: StreamCaller, response: ServerResponse, check: TokenCheck) {
    this.caller = caller;
    this.#response = response;
    this.#check = check;
  }

  start(headers: Record<string, string>): void {
    this.#response.writeHead(200, {
      ...headers,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // A proxy that buffers the answer would make the stream useless.
      'x-accel-buffering': 'no',
    });
    this.#response.write(`retry: ${RETRY_AFTER_MS}\n\n`);
    this.#send('ready', { clientId: this.caller.clientId });
    this.#response.on('drain', () => {
      if (!this.#behind) return;
      this.#behind = false;
      this.#send('resync', {});
    });
    const heartbeat = setInterval(() => this.#write(':\n\n'), HEARTBEAT_INTERVAL_MS);
    const token = setInterval(() => void this.#recheck(), TOKEN_INTERVAL_MS);
    this.#response.once('close', () => {
      clearInterval(heartbeat);
      clearInterval(token);
    });
  }

  updated({ event, data }: LiveUpdate): void {
    this.#send(event, data);
  }

  missed(): void {
    this.#send('resync', {});
  }

  end(reason: string): void {
    if (this.#response.headersSent) this.#send('end', { reason });
    this.#response.end();
  }

  async #recheck(): Promise<void> {
    try {
      await this.#check();
    } catch (error) {
      // If the database does not answer, nothing is known about the token.
      if (error instanceof Problem) this.end(error.code);
    }
  }

  #send(event: string, data: object): void {
    this.#write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  #write(text: string): void {
    if (this.#response.writableEnded || !this.#response.headersSent) return;
    if (this.#response.writableLength > MAX_WAITING_BYTES) this.#behind = true;
    else this.#response.write(text);
  }
}
