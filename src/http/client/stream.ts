import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Addresses, Context } from '../../context.ts';
import type { Sessions } from '../../identity/tokens/sessions.ts';
import { monotonic } from '../../values/calendar.ts';
import { Problem } from '../../values/errors.ts';
import { ClientId, UuidOfRecord } from '../../values/schemas.ts';
import { Signer } from '../../webhooks/delivery/signer.ts';
import { openSettings, readEndpointRows } from '../../webhooks/endpoint-settings.ts';
import {
  cursorOf,
  lookAtStream,
  noteReader,
  openStream,
  readStream,
  type StreamKey,
  takePending,
} from '../../webhooks/stream.ts';
import { errors } from '../schemas/schemas.ts';
import type { ClientRoutes } from './listener.ts';

const PATH = '/webhooks/stream';
/** The most streams at once in a process, and for one client. */
const MAX_STREAMS = 1_000;
const MAX_STREAMS_PER_CLIENT = 10;
/** Milliseconds between two checks for pending notifications. */
const LOOK_INTERVAL_MS = 100;
/** Milliseconds between two checks of the token, and between two signs of life of the reader and to the reader. */
const TOKEN_INTERVAL_MS = 1_000;
const LIFE_INTERVAL_MS = 15_000;
/** Milliseconds after which a reader that lost its stream should open it again. */
const RETRY_AFTER_MS = 1_000;

/** The address for which a stream's notifications are signed. */
export function streamUrl({ api }: Addresses): string {
  return `${api}${PATH}`;
}

const SCHEMA = {
  operationId: 'streamNotifications',
  tags: ['webhooks'],
  summary: 'Reads the notifications of a subscription with delivery STREAM',
  description:
    'Server-sent events. Each has an `id`, the cursor, and in `data` a notification: {id, headers, body}. `X-<Brand>-Signature` is over ' +
    'the address of this operation without its query. Without `Last-Event-ID` the stream begins with what is pending. It has one ' +
    'reader; a second one takes it over. A subscription without a reader for 10 minutes is removed.',
  querystring: Type.Object({
    client_id: Type.Optional(ClientId),
    subscription_id: UuidOfRecord('Subscription UUID'),
  }),
  headers: Type.Object({
    'last-event-id': Type.Optional(Type.String({ description: 'A cursor: the stream continues after it' })),
  }),
  response: {
    200: { description: 'A stream of events', content: { 'text/event-stream': { schema: Type.String() } } },
    ...errors(400, 403, 502, 'subscription_not_found'),
  },
};

/** GET /webhooks/stream: a client reads its notifications itself, because the service cannot reach it. */
export function streamRoutes(sessions: Sessions): ClientRoutes {
  return (app: FastifyInstance, context: Context) => {
    const open = new Set<StreamReader>();
    app.addHook('preClose', async () => {
      await Promise.all([...open].map((reader) => reader.stop()));
    });
    app.get<{ Querystring: { subscription_id: string }; Headers: { 'last-event-id'?: string } }>(
      PATH,
      {
        config: { permission: 'can_manage_webhooks', clientHeader: true },
        schema: SCHEMA,
        exposeHeadRoute: false,
      },
      async (request, reply) => {
        const { clientId } = request.caller;
        refuseMore(open, clientId);
        const key = { clientId, subscriptionId: request.query.subscription_id };
        const after = request.headers['last-event-id'];
        const place = await openStream(context.pool, key, { after, now: request.now });
        // Others may have been opened meanwhile.
        refuseMore(open, clientId);
        const token = (request.headers.authorization ?? '').slice('Bearer '.length).trim();
        const check = async () => {
          const session = await sessions.find(token);
          const client = session.clients.get(clientId);
          if (!client?.enabled || !client.permissions.can_manage_webhooks)
            throw new Problem('permission_denied', 'the contact may no longer read the stream');
        };
        const headers = Object.fromEntries(
          Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]),
        );
        const reader = new StreamReader(context, { key, ...place, check }, reply.raw);
        open.add(reader);
        reply.raw.once('close', () => open.delete(reader));
        reply.hijack();
        void reader.run(headers);
      },
    );
  };
}

/** @throws Problem rate_limited */
function refuseMore(open: ReadonlySet<StreamReader>, clientId: string): void {
  const ofClient = [...open].filter(({ key }) => key.clientId === clientId).length;
  if (open.size >= MAX_STREAMS || ofClient >= MAX_STREAMS_PER_CLIENT)
    throw new Problem('rate_limited', `a client has at most ${MAX_STREAMS_PER_CLIENT} streams at once`);
}

interface Reading {
  key: StreamKey;
  reader: string;
  position: number;
  /** Rejects with a Problem if the token no longer gives access. */
  check: () => Promise<void>;
}

/** A connection that reads a stream. */
class StreamReader {
  readonly key: StreamKey;
  readonly #context: Context;
  readonly #reading: Reading;
  readonly #response: ServerResponse;
  readonly #signer: Signer;
  readonly #closed = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(context: Context, reading: Reading, response: ServerResponse) {
    this.key = reading.key;
    this.#context = context;
    this.#reading = reading;
    this.#response = response;
    this.#signer = new Signer(context.config.brand);
    response.once('close', () => this.#closed.abort());
  }

  /** Sends until the reader, the token, another reader or the service ends it. Never throws. */
  run(headers: Record<string, string>): Promise<void> {
    this.#response.writeHead(200, {
      ...headers,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    // An id without data is not an event. It tells the reader its place, so a reader that is cut off before its first event loses nothing.
    const cursor = cursorOf(this.key.subscriptionId, this.#reading.position);
    this.#response.write(`retry: ${RETRY_AFTER_MS}\nid: ${cursor}\n\n`);
    this.#ended = this.#send().catch((error: Error) => {
      if (error instanceof Problem) this.#response.write(`: ${error.code}\n\n`);
      else
        this.#context.log.warn(
          { reason: error.message },
          'a stream of notifications was cut off; its reader comes back',
        );
    });
    return this.#ended.then(async () => {
      this.#response.end();
      const { pool, clock } = this.#context;
      const last = { reader: this.#reading.reader, now: clock.now(), gone: true };
      await noteReader(pool, this.key, last).catch(() => {});
    });
  }

  async stop(): Promise<void> {
    this.#closed.abort();
    await this.#ended;
  }

  async #send(): Promise<void> {
    const { pool, clock } = this.#context;
    const { reader, check } = this.#reading;
    let [checkedMs, livedMs] = [monotonic(), monotonic()];
    while (!this.#closed.signal.aborted) {
      if (monotonic() - checkedMs >= TOKEN_INTERVAL_MS) {
        checkedMs = monotonic();
        await check();
      }
      if (monotonic() - livedMs >= LIFE_INTERVAL_MS) {
        livedMs = monotonic();
        this.#response.write(':\n\n');
        await noteReader(pool, this.key, { reader, now: clock.now(), gone: false });
      }
      const { mine, waiting } = await lookAtStream(pool, this.key, reader);
      if (!mine) return;
      if (waiting) await takePending(pool, this.key, { reader, now: clock.now() });
      if (!(await this.#sendTaken()))
        await pause(LOOK_INTERVAL_MS, undefined, { signal: this.#closed.signal }).catch(() => {});
    }
  }

  /** Sends the notifications after the last one sent. @returns whether there were any */
  async #sendTaken(): Promise<boolean> {
    const { pool, clock, vault, addresses } = this.#context;
    const { subscriptionId, clientId } = this.key;
    const taken = await readStream(pool, this.key, this.#reading.position);
    if (taken.length === 0) return false;
    const [row] = await readEndpointRows(pool, [subscriptionId]);
    if (row?.client_id !== clientId) return false;
    const settings = { ...openSettings(row, vault, this.#signer.reserved), urlText: streamUrl(addresses) };
    for (const { position, id, type, attemptNumber, deliveryId, body } of taken) {
      const delivery = { id, clientId, type, attempts: attemptNumber - 1, body };
      const pairs = this.#signer.headers(settings, { delivery, deliveryId, startedAt: clock.now() });
      const headers: Record<string, string> = {};
      for (const [at, name] of pairs.entries()) if (at % 2 === 0) headers[name] = pairs[at + 1] ?? '';
      const data = JSON.stringify({ id, headers, body });
      this.#reading.position = position;
      if (!this.#response.write(`id: ${cursorOf(subscriptionId, position)}\ndata: ${data}\n\n`)) await this.#drained();
      if (this.#closed.signal.aborted) return false;
    }
    return true;
  }

  /** Waits until a slow reader has taken what was written. */
  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#response.off('drain', done);
        this.#closed.signal.removeEventListener('abort', done);
        resolve();
      };
      this.#response.once('drain', done);
      this.#closed.signal.addEventListener('abort', done);
      if (this.#closed.signal.aborted) done();
    });
  }
}
