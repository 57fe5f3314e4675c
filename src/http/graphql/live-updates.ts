import { randomUUID } from 'node:crypto';
import type { Pool } from '../../database/database.ts';
import type { Heard, Hearing } from '../../database/hearing.ts';
import type { Logger } from '../../process/log.ts';
import { Periodic } from '../../process/periodic.ts';

const TOPIC = 'webhook_changes';
/** Milliseconds between two signs of life in `webhook_watches`. A watch remains valid for a minute after the last one. */
const WATCH_INTERVAL_MS = 10_000;
/** Milliseconds before a lost connection is opened again. */
const RECONNECT_AFTER_MS = 1_000;

/** A change of a client's subscriptions or notifications, in the form that migrations/0010_graphql.sql announces. */
export interface LiveUpdate {
  clientId: string;
  event: 'subscription' | 'notification';
  data: object;
}

export interface Follower {
  updated(update: LiveUpdate): void;
  /** Called when updates may have been missed. */
  missed(): void;
}

/**
 * The changes that any process makes to the webhooks of followed clients. Changes of clients without followers are not announced, so they
 * cost the engine nothing.
 */
export class LiveUpdates {
  readonly #pool: Pool;
  readonly #hearing: Hearing;
  readonly #log: Logger;
  readonly #watcher = randomUUID();
  readonly #followers = new Map<string, Set<Follower>>();
  readonly #watching: Periodic;
  #heard: Heard | undefined;
  #connecting: Promise<void> | undefined;
  #stopped = false;

  constructor(pool: Pool, hearing: Hearing, log: Logger) {
    this.#pool = pool;
    this.#hearing = hearing;
    this.#log = log;
    this.#watching = new Periodic({
      name: 'watched clients',
      intervalMs: WATCH_INTERVAL_MS,
      log,
      run: () => this.#watch(),
    });
    this.#watching.start();
  }

  /**
   * Follows a client from the moment at which the promise resolves.
   * @returns a function that stops following it
   */
  async follow(clientId: string, follower: Follower): Promise<() => void> {
    const others = this.#followers.get(clientId);
    if (others) others.add(follower);
    else this.#followers.set(clientId, new Set([follower]));
    const end = () => {
      const all = this.#followers.get(clientId);
      all?.delete(follower);
      if (all?.size === 0) this.#followers.delete(clientId);
    };
    try {
      await this.#connect();
      await this.#watch();
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  /** Stops listening, and removes the watches of this process. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#followers.clear();
    await this.#watching.stop();
    await this.#watch().catch(() => undefined);
  }

  #connect(): Promise<void> {
    if (this.#heard) return Promise.resolve();
    this.#connecting ??= this.#listen().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #listen(): Promise<void> {
    this.#heard = await this.#hearing.hear({
      topics: { [TOPIC]: (payload) => this.#tell(payload) },
      lost: (error) => this.#lost(error),
    });
  }

  #lost(error: Error): void {
    this.#heard = undefined;
    if (this.#stopped || this.#followers.size === 0) return;
    this.#log.warn({ reason: error.message }, 'the connection for live updates was lost');
    const again = () => {
      if (this.#stopped || this.#followers.size === 0) return;
      // A database that was killed has lost the watches, because their table is unlogged.
      this.#connect()
        .then(() => this.#watch())
        .then(() => this.#everyone((follower) => follower.missed()))
        .catch(() => setTimeout(again, RECONNECT_AFTER_MS).unref());
    };
    setTimeout(again, RECONNECT_AFTER_MS).unref();
  }

  #tell(payload: string): void {
    for (const update of JSON.parse(payload) as LiveUpdate[]) {
      for (const follower of this.#followers.get(update.clientId) ?? []) follower.updated(update);
    }
  }

  #everyone(work: (follower: Follower) => void): void {
    for (const followers of this.#followers.values()) for (const follower of followers) work(follower);
  }

  /** Writes which clients are followed here. Deletes the watches of processes that have written nothing for two minutes. */
  async #watch(): Promise<void> {
    const clients = [...this.#followers.keys()];
    if (clients.length === 0 && !this.#heard) return;
    await this.#pool.query(
      `with gone as (
         delete from webhook_watches where seen_at < clock_timestamp() - interval '2 minutes'
           or (watcher = $1 and client_id <> all($2::text[])))
       insert into webhook_watches (watcher, client_id, seen_at)
         select $1, client_id, clock_timestamp() from unnest($2::text[]) as c(client_id)
       on conflict (client_id, watcher) do update set seen_at = excluded.seen_at`,
      [this.#watcher, clients],
    );
    if (this.#followers.size > 0 || !this.#heard) return;
    const idle = this.#heard;
    this.#heard = undefined;
    await idle.end();
  }
}
