import pg from 'pg';
import { type Clock, monotonic } from '../calendar.ts';
import { endsWithin } from '../deadline.ts';
import { LOCKS } from '../locks.ts';
import type { Logger } from '../log.ts';
import { EVENTS_CHANNEL } from './bell.ts';

export const SUBSCRIPTIONS_CHANNEL = 'webhook_subscriptions';

/** Milliseconds: between two looks at the other workers, after a lost connection, and for one answer on the control connection. */
const HEARTBEAT = 400;
const RECONNECT_AFTER = 200;
const ANSWER_WITHIN = 5_000;
/** Milliseconds for the end of the control connection. */
const GOODBYE_WITHIN = 1_000;

export interface WorkerEvents {
  /** There are events. */
  onEvents(): void;
  onSubscription(id: string): void;
  /** The worker has an identity (again); `kept` false: what it held under the former one is no longer its own. */
  onRegistered(id: number, kept: boolean): void;
  /** The connection is lost: nothing new may be leased until onRegistered. */
  onLost(): void;
  /** Leases of a dead worker were put back. */
  onTakenOver(count: number): void;
}

/**
 * A worker's identity: a row and a session advisory lock on one connection. When the process dies, its connection and with it the lock is
 * gone at once, and the others put its leases back. A worker whose connection broke (the database was restarted) goes on under the same id
 * if nobody has done so in between.
 */
export class WorkerRegistration {
  readonly #url: string;
  readonly #name: string;
  readonly #attempt: number;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #events: WorkerEvents;
  #client: pg.Client | undefined;
  #stopped = false;
  #running: Promise<void> = Promise.resolve();
  #wakeUp: (() => void) | undefined;
  /** The id under which leases are held; undefined before the first registration. */
  id: number | undefined;
  /** Whether the lock is held now. */
  registered = false;
  /** Workers that are alive, this one included. */
  peers = 1;
  /** Monotonic milliseconds from which on the workers that were here before have let go of this one's share of every endpoint's cap. */
  #sharedFrom = Number.NEGATIVE_INFINITY;

  /** @param attempt milliseconds that an attempt takes at most */
  constructor(url: string, name: string, attempt: number, clock: Clock, log: Logger, events: WorkerEvents) {
    this.#url = url;
    this.#attempt = attempt;
    this.#name = name;
    this.#clock = clock;
    this.#log = log;
    this.#events = events;
  }

  /** Whether deliveries may be leased and sent. One that joins others waits until what they sent under their larger shares has ended. */
  get working(): boolean {
    return this.registered && (this.peers === 1 || monotonic() >= this.#sharedFrom);
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Gives the identity up, and back what is still leased under it. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wakeUp?.();
    await this.#running;
    const client = this.#client;
    this.#client = undefined;
    if (!client) return;
    if (this.registered)
      await client
        .query(
          `with freed as (update delivery.queue set lease_owner = null where lease_owner = $1::int)
           delete from delivery.workers where id = $1::int`,
          [this.id],
        )
        .catch(() => undefined);
    this.registered = false;
    await endsWithin(
      client.end().catch(() => undefined),
      GOODBYE_WITHIN,
    );
  }

  async #run(): Promise<void> {
    let failing = false;
    while (!this.#stopped) {
      try {
        if (!this.#client) await this.#connect();
        await this.#lookAtOthers(this.id as number);
        failing = false;
        await this.#pause(HEARTBEAT);
      } catch (error) {
        if (!failing)
          this.#log.warn({ reason: (error as Error).message }, 'the webhook worker has lost its database connection');
        failing = true;
        this.#lose();
        await this.#pause(RECONNECT_AFTER);
      }
    }
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'lombard-webhooks-worker',
      connectionTimeoutMillis: ANSWER_WITHIN,
      query_timeout: ANSWER_WITHIN,
      keepAlive: true,
    });
    client.on('error', () => {
      if (this.#client === client) this.#lose();
    });
    client.on('notification', ({ channel, payload }) => {
      if (channel === EVENTS_CHANNEL) this.#events.onEvents();
      else if (payload) this.#events.onSubscription(payload);
    });
    await client.connect();
    this.#client = client;
    // A machine that disappears without a word is noticed within seconds, too.
    await client.query('set tcp_keepalives_idle = 2; set tcp_keepalives_interval = 1; set tcp_keepalives_count = 3');
    await client.query(`listen ${EVENTS_CHANNEL}; listen ${SUBSCRIPTIONS_CHANNEL}`);
    const kept = this.id !== undefined && (await this.#resume(client, this.id));
    if (!kept) {
      const id = await this.#register(client);
      // Of several that start together the first begins.
      const first = await this.#lookAtOthers(id);
      this.id = id;
      this.#sharedFrom = first ? Number.NEGATIVE_INFINITY : monotonic() + 2 * HEARTBEAT + this.#attempt;
    }
    this.registered = true;
    this.#events.onRegistered(this.id as number, kept);
  }

  /** Takes the lock of the former id, unless another worker has taken the leases over. */
  async #resume(client: pg.Client, id: number): Promise<boolean> {
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1, $2) as locked', [
      LOCKS.webhookWorker,
      id,
    ]);
    if (!rows[0]?.locked) return false;
    const known = await client.query('select from delivery.workers where id = $1', [id]);
    return known.rowCount === 1;
  }

  /** The lock comes before the row: nobody ever sees a row of a living worker without its lock. */
  async #register(client: pg.Client): Promise<number> {
    const { rows } = await client.query<{ id: number }>(
      `select id, pg_advisory_lock($1, id) from (select nextval(pg_get_serial_sequence('delivery.workers', 'id'))::int as id offset 0) as made`,
      [LOCKS.webhookWorker],
    );
    const id = rows[0]?.id as number;
    await client.query(
      'insert into delivery.workers (id, name, started_at) overriding system value values ($1, $2, $3)',
      [id, this.#name, this.#clock.now()],
    );
    // Leases of nobody: of a database that was restored from a copy, for one.
    await client.query(
      `update delivery.queue set lease_owner = null
       where lease_owner is not null and lease_owner not in (select w.id from delivery.workers w)`,
    );
    return id;
  }

  /** Counts the living and puts the leases of the dead back. Gives whether no other living one is older. */
  async #lookAtOthers(id: number): Promise<boolean> {
    const client = this.#client as pg.Client;
    const { rows } = await client.query<{ id: number; alive: boolean }>({
      name: 'webhooks-workers',
      text: `select w.id, exists (select from pg_locks l where l.locktype = 'advisory' and l.granted and l.objsubid = 2
          and l.database = (select oid from pg_database where datname = current_database())
          and l.classid = $1::int::oid and l.objid = w.id::oid) as alive
        from delivery.workers w`,
      values: [LOCKS.webhookWorker],
    });
    this.peers = Math.max(1, rows.filter((row) => row.alive).length);
    if (!rows.some((row) => row.id === id)) throw new Error('another worker has taken the leases over');
    for (const row of rows) if (!row.alive) await this.#takeOver(client, row.id);
    return !rows.some((row) => row.alive && row.id < id);
  }

  async #takeOver(client: pg.Client, id: number): Promise<void> {
    // Of several workers that see it, one takes the dead one's lock for the transaction; and it may have come back.
    const { rows } = await client.query<{ count: number }>({
      text: `with dead as materialized (select id from delivery.workers where id = $2 and pg_try_advisory_xact_lock($1, $2)),
        freed as (update delivery.queue set lease_owner = null where lease_owner in (select id from dead) returning 1),
        gone as (delete from delivery.workers where id in (select id from dead) returning 1)
        select (select count(*) from freed)::int as count from gone`,
      values: [LOCKS.webhookWorker, id],
    });
    const row = rows[0];
    if (!row) return;
    this.#log.warn({ worker: id, deliveries: row.count }, 'a webhook worker has died; its deliveries are taken over');
    this.#events.onTakenOver(row.count);
  }

  /** Gives the connection up, without waiting for the other side's goodbye, which may never come. */
  #lose(): void {
    const client = this.#client;
    this.#client = undefined;
    const was = this.registered;
    this.registered = false;
    if (was) this.#events.onLost();
    void client?.end().catch(() => undefined);
  }

  #pause(milliseconds: number): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
