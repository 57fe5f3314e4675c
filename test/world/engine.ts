import { connect, createServer, type Socket } from 'node:net';
import type pg from 'pg';
import { pathsOf } from '../../src/database/cells/pool.ts';
import { NUMBERS_OF_CELL } from '../../src/database/cells/scope.ts';
import { transaction } from '../../src/database/database.ts';
import { createPool } from '../../src/database/pools.ts';
import { Journals } from '../../src/monitoring/journals.ts';
import { endsWithin } from '../../src/process/deadline.ts';
import { PATIENCE } from '../../src/process/patience.ts';
import { Readiness } from '../../src/process/readiness.ts';
import { Traffic } from '../../src/process/traffic.ts';
import { readConfig } from '../../src/settings/config.ts';
import { ServiceClock } from '../../src/values/calendar.ts';
import { Vault } from '../../src/values/crypto.ts';
import type { Dispatcher, DispatcherOptions } from '../../src/webhooks/delivery/dispatcher.ts';
import { createDays } from '../../src/webhooks/delivery/retention.ts';
import { notify } from '../../src/webhooks/notification.ts';
import {
  createSubscription,
  type NewSubscription,
  type SubscriptionPatch,
  updateSubscription,
} from '../../src/webhooks/subscription.ts';
import { createDatabase, log } from './database.ts';
import { openPools, startDispatcher } from './dispatcher.ts';
import { listening } from './ports.ts';
import { engineLooks } from './runs.ts';
import { until } from './until.ts';

const VAULT = new Vault(Buffer.alloc(32, 7));
const SETTINGS = { sandbox: true, brand: 'Service', vault: VAULT, streamUrl: 'http://service.example/webhooks/stream' };
/** Milliseconds within which one of several cells must answer, as in src/service.ts. */
const CELL_ANSWER_MS = 30_000;

/**
 * The delivery engine in this process, without the rest of the service. The clients CLI0, CLI1, ... have their own database. With several
 * cells, the engine works on all of them, and the clients live in the last one.
 */
export async function createEngine(clients = 1) {
  const database = await createDatabase();
  const { whole, pool, cell, announce } = await openPools(database.url, log, { max: 6, background: true });
  const clock = new ServiceClock();
  const act = () => ({ now: clock.now(), actor: 'test', requestId: 'test' });
  await createDays(pool, clock.now());
  await pool.query(
    `insert into contacts (contact_id, name, email, second_factor, trusted_access, created_at) values ('CON', 'c', 'c@example.com', 'none', false, now())`,
  );
  await pool.query(
    `insert into clients (client_id, client_name, status, fx_enabled, mass_payments_customer, authorisation_workflow, payment_approvals_enabled,
       payment_creator_approval_enabled, created_at, cell)
     select 'CLI' || n, 'c', 'enabled', true, false, 'simple', false, false, now(), $2 from generate_series(0, $1::int - 1) n`,
    [clients, cell],
  );
  const stops: (() => Promise<unknown>)[] = [];
  const query = async (text: string, values?: unknown[]) => (await pool.query(text, values)).rows;
  return {
    database,
    pool: pool as pg.Pool,
    clock,
    act,
    query,
    /** The number of the first event. */
    firstEvent: cell * NUMBERS_OF_CELL + 1,
    subscribe: (url: string, more: Partial<NewSubscription> = {}) =>
      transaction(pool, (tx) =>
        createSubscription(
          tx,
          act(),
          {
            clientId: 'CLI0',
            contactId: 'CON',
            url,
            types: ['PAYMENT_STATUS_CHANGE'],
            active: true,
            secret: 'secret',
            ...more,
          },
          SETTINGS,
        ),
      ),
    patch: (id: string, patch: SubscriptionPatch, clientId = 'CLI0') =>
      transaction(pool, (tx) => updateSubscription(tx, act(), { clientId, id, patch }, SETTINGS)),
    event: async (clientId = 'CLI0', body = '{}') => {
      const event = { clientId, type: 'PAYMENT_STATUS_CHANGE' as const, body, now: clock.now() };
      await transaction(pool, (tx) => notify(tx, event));
      announce();
    },
    /** Waits until the engine of this process has looked for work again everywhere. */
    looks: () => engineLooks(announce),
    /** Starts a worker. `url` may lead to the database through a DatabaseProxy. */
    start(env: Record<string, string> = {}, url = database.url, options: DispatcherOptions = {}): Dispatcher {
      const cells = pathsOf(whole);
      // The check of idle cells repeats, and each silent connection would occupy one of the pool.
      const answerWithin = cells && { answerWithin: options.queryTimeoutMs ?? CELL_ANSWER_MS };
      const backgroundPool = createPool(url, log, { max: 3, background: true, cells, ...answerWithin });
      const { dispatcher, stop } = startDispatcher(
        {
          config: readConfig(env),
          pool: whole,
          backgroundPool,
          clock,
          log,
          vault: VAULT,
          readiness: new Readiness(log),
          patience: PATIENCE,
          journals: new Journals(backgroundPool, clock, log),
          rateCounts: undefined,
          traffic: new Traffic(),
          addressOf: () => '',
          addresses: { api: '', auth: '', trusted: undefined, operator: 'http://127.0.0.1:1' },
        },
        options,
      );
      stops.push(async () => {
        await stop();
        await ended(backgroundPool);
      });
      return dispatcher;
    },
    /** Waits until a query returns the wanted row. */
    until(text: string, wanted: (row: Record<string, unknown>) => boolean) {
      return until(async () => (await query(text)).find(wanted), {
        what: `${text}: ${wanted}`,
        seen: () => query(text),
      });
    },
    async stop(): Promise<void> {
      for (const stop of stops.reverse()) await stop();
      await ended(whole);
      await database.drop();
    },
  };
}

/** Ends a pool. A connection with a silent peer need not close properly, because the database is dropped anyway. */
function ended(pool: pg.Pool): Promise<unknown> {
  return endsWithin(pool.end(), 2_000);
}

/** A proxy for connections to a database that a test can silence or break. New connections work. */
export class DatabaseProxy {
  readonly url: string;
  readonly #pairs: { near: Socket; far: Socket; name: string }[] = [];
  readonly #close: () => void;

  private constructor(url: string, pairs: { near: Socket; far: Socket; name: string }[], close: () => void) {
    this.url = url;
    this.#pairs = pairs;
    this.#close = close;
  }

  static async start(url: string): Promise<DatabaseProxy> {
    const target = new URL(url);
    const pairs: { near: Socket; far: Socket; name: string }[] = [];
    const server = createServer((near) => {
      const far = connect(Number(target.port), target.hostname);
      const pair = { near, far, name: '' };
      pairs.push(pair);
      near.once('data', (start) => {
        pair.name = /application_name\0([^\0]*)/.exec(start.toString('latin1'))?.[1] ?? '';
      });
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        one.on('error', () => other.destroy());
        one.on('close', () => other.destroy());
        one.pipe(other);
      }
    });
    const port = await listening(server);
    return new DatabaseProxy(Object.assign(new URL(target), { port }).toString(), pairs, () => server.close());
  }

  /** From now on nothing passes through the open connections, and neither side is told. */
  silence(): void {
    for (const { near, far } of this.#pairs) for (const socket of [near, far]) socket.unpipe().pause();
  }

  /** Resets the open connections with a given name on the caller's side; the database continues its work. */
  break(name: string): void {
    for (const pair of this.#pairs) {
      if (pair.name !== name) continue;
      pair.near.removeAllListeners('close').destroy();
      pair.far.unpipe().pause();
    }
  }

  stop(): void {
    this.#close();
    for (const { near, far } of this.#pairs) for (const socket of [near, far]) socket.destroy();
  }
}
