import type pg from 'pg';
import type { Context } from '../../context.ts';
import { ACTIVITY_TOPIC } from '../../database/cells/activity.ts';
import { first, one } from '../../database/database.ts';
import type { Heard } from '../../database/hearing.ts';
import { LOCKS } from '../../database/locks.ts';
import { monotonic } from '../../values/calendar.ts';
import { errorOf, messageOf } from '../../values/unknown.ts';

/** The topic on which subscriptions announce their changes (migrations/0008_webhooks.sql). */
const SUBSCRIPTIONS_TOPIC = 'webhook_subscriptions';

/** Milliseconds between two checks of the other workers, and after a lost connection. */
const HEARTBEAT_MS = 400;
const RECONNECT_AFTER_MS = 200;
/** Milliseconds for a cell to answer if there are several, and between two attempts to take over a dead worker's leases. */
const CELL_TIMEOUT_MS = 2_000;
const TAKE_OVER_AGAIN_MS = 5_000;

export interface RegistrationOptions {
  /** The statement that moves the connection to each cell. If the database has one cell, a single empty path. */
  cells: readonly { path: string; isSilent: () => boolean }[];
  /** Shown to people who read `webhook_workers`. */
  name: string;
  /** A subscription has changed. */
  onSubscription(id: string): void;
  /** Called when the worker is registered (again). `kept` is false if the leases of its former id are no longer its own. */
  onRegistered(kept: boolean): void;
  /** Leases of a dead worker were put back. */
  onTakenOver(count: number): void;
}

/**
 * A worker's identity: a row, and a session advisory lock on the connection that listens. If the process dies, the connection and its lock
 * end at once, and the other workers put its leases back. If only the connection breaks (the database was restarted), the worker continues
 * under the same id, unless its leases were put back meanwhile.
 */
export class WorkerRegistration {
  readonly #context: Context;
  readonly #options: RegistrationOptions;
  #heard: Heard | undefined;
  #stopped = false;
  #running: Promise<void> = Promise.resolve();
  #wakeUp: (() => void) | undefined;
  #id: number | undefined;
  #registered = false;
  #peers = 1;
  /** Monotonic milliseconds before which the leases of a dead worker are not put back again, because a cell did not answer. */
  readonly #tryAgainMs = new Map<number, number>();
  /** Monotonic milliseconds from which the older workers have given up this one's share of every endpoint's slots. */
  #sharedFromMs = Number.NEGATIVE_INFINITY;

  constructor(context: Context, options: RegistrationOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** The id under which leases are held; undefined before the first registration. */
  get id(): number | undefined {
    return this.#id;
  }

  /** Whether the lock is held now. Without it, nothing new may be leased. */
  get registered(): boolean {
    return this.#registered;
  }

  /** The number of living workers, including this one. */
  get peers(): number {
    return this.#peers;
  }

  /** Whether deliveries may be leased and sent. A worker that joins others waits until attempts under their larger shares have ended. */
  get working(): boolean {
    return this.#registered && (this.#peers === 1 || monotonic() >= this.#sharedFromMs);
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Gives the identity up, and puts back what is still leased under it. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wakeUp?.();
    await this.#running;
    const heard = this.#heard;
    if (!heard) return;
    try {
      if (this.#registered && this.#id !== undefined) await this.#leave(heard.client, this.#id);
      this.#heard = undefined;
      this.#registered = false;
      await heard.end();
    } catch (error) {
      this.#giveUp(errorOf(error));
    }
  }

  async #leave(client: pg.Client, id: number): Promise<void> {
    const { everywhere } = await this.#free(client, id);
    // If a cell does not answer, other workers put the leases back.
    if (everywhere) await client.query('delete from webhook_workers where id = $1', [id]);
    await client.query('select pg_advisory_unlock($1, $2)', [LOCKS.webhookWorker, id]);
  }

  /** A loop rather than a Periodic, because it reconnects sooner than it checks again. */
  async #run(): Promise<void> {
    let failing = false;
    while (!this.#stopped) {
      try {
        const { client } = this.#heard ?? (await this.#connect());
        if (this.#id !== undefined) await this.#lookAtOthers(client, this.#id);
        failing = false;
        await this.#pause(HEARTBEAT_MS);
      } catch (error) {
        if (!failing)
          this.#context.log.warn({ reason: messageOf(error) }, 'the webhook worker has lost its database connection');
        failing = true;
        this.#giveUp(errorOf(error));
        await this.#pause(RECONNECT_AFTER_MS);
      }
    }
  }

  async #connect(): Promise<Heard> {
    const { activity, hearing } = this.#context;
    const heard = await hearing.hear({
      topics: {
        [ACTIVITY_TOPIC]: (payload) => activity.receive(payload),
        [SUBSCRIPTIONS_TOPIC]: (id) => this.#options.onSubscription(id),
      },
      lost: () => {
        this.#heard = undefined;
        this.#registered = false;
      },
    });
    this.#heard = heard;
    const { client } = heard;
    const kept = this.#id !== undefined && (await this.#resume(client, this.#id));
    if (!kept) {
      const id = await this.#register(client);
      const oldest = await this.#lookAtOthers(client, id);
      this.#id = id;
      // If several start together, the oldest begins.
      const attemptMs = this.#context.config.webhookTimeout;
      this.#sharedFromMs = oldest ? Number.NEGATIVE_INFINITY : monotonic() + 2 * HEARTBEAT_MS + attemptMs;
    }
    this.#registered = true;
    this.#options.onRegistered(kept);
    return heard;
  }

  /** Takes the lock of the former id again, unless another worker has taken over its leases. */
  async #resume(client: pg.Client, id: number): Promise<boolean> {
    const tried = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1, $2) as locked', [
      LOCKS.webhookWorker,
      id,
    ]);
    if (!first(tried)?.locked) return false;
    const known = await client.query('select from webhook_workers where id = $1', [id]);
    return known.rowCount === 1;
  }

  /** Takes a lock and then makes its row, so that nobody ever sees the row of a living worker without its lock. */
  async #register(client: pg.Client): Promise<number> {
    const locked = await client.query<{ id: number }>(
      `select id, pg_advisory_lock($1, id)
       from (select nextval('webhook_worker_numbers')::int as id offset 0) as made`,
      [LOCKS.webhookWorker],
    );
    const { id } = one(locked);
    await client.query('insert into webhook_workers (id, name, started_at) values ($1, $2, $3)', [
      id,
      this.#options.name,
      this.#context.clock.now(),
    ]);
    return id;
  }

  /** Counts the living workers, and puts the leases of dead ones back. Returns whether no living worker is older. */
  async #lookAtOthers(client: pg.Client, id: number): Promise<boolean> {
    const { rows } = await client.query<{ id: number; alive: boolean }>({
      name: 'webhooks-workers',
      text: `select w.id, exists (select from pg_locks l where l.locktype = 'advisory' and l.granted and l.objsubid = 2
          and l.database = (select oid from pg_database where datname = current_database())
          and l.classid = $1::int::oid and l.objid = w.id::oid) as alive
        from webhook_workers w`,
      values: [LOCKS.webhookWorker],
    });
    this.#peers = Math.max(1, rows.filter((row) => row.alive).length);
    if (!rows.some((row) => row.id === id)) throw new Error('another worker has taken the leases over');
    for (const row of rows) if (!row.alive) await this.#takeOver(client, row.id);
    return !rows.some((row) => row.alive && row.id < id);
  }

  async #takeOver(client: pg.Client, id: number): Promise<void> {
    if (monotonic() < (this.#tryAgainMs.get(id) ?? 0)) return;
    // Of the workers that see it, the one that gets the dead worker's lock does it. The dead worker may also have come back.
    const lock = [LOCKS.webhookWorker, id];
    const tried = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1, $2) as locked', lock);
    if (!first(tried)?.locked) return;
    try {
      const { count, everywhere } = await this.#free(client, id);
      if (count > 0) this.#options.onTakenOver(count);
      if (!everywhere) return void this.#tryAgainMs.set(id, monotonic() + TAKE_OVER_AGAIN_MS);
      const gone = await client.query('delete from webhook_workers where id = $1', [id]);
      if (gone.rowCount === 1)
        this.#context.log.warn(
          { worker: id, deliveries: count },
          'a webhook worker has died; its deliveries are taken over',
        );
    } finally {
      await client.query('select pg_advisory_unlock($1, $2)', lock);
    }
  }

  /** Puts the leases of a worker back. @returns the number of leases, and whether every cell has answered */
  async #free(client: pg.Client, id: number): Promise<{ count: number; everywhere: boolean }> {
    let count = 0;
    let everywhere = true;
    for (const { path, isSilent } of this.#options.cells)
      try {
        // A Citus worker that hangs would block this connection.
        if (isSilent()) everywhere = false;
        if (isSilent()) continue;
        if (path) await client.query(`${path}; set statement_timeout = ${CELL_TIMEOUT_MS}`);
        const freed = await client.query('update webhook_queue set lease_owner = null where lease_owner = $1::int', [
          id,
        ]);
        count += freed.rowCount ?? 0;
      } catch (error) {
        if (!path) throw error;
        everywhere = false;
      }
    if (this.#options.cells.some(({ path }) => path !== ''))
      await client.query('reset search_path; reset statement_timeout');
    return { count, everywhere };
  }

  #giveUp(reason: Error): void {
    const heard = this.#heard;
    this.#heard = undefined;
    this.#registered = false;
    heard?.giveUp(reason);
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
