import { randomUUID } from 'node:crypto';
import type { Logger } from '../process/log.ts';
import type { Part } from '../process/parts.ts';
import { Periodic } from '../process/periodic.ts';
import { sha256 } from '../values/crypto.ts';
import { first, type Pool } from './database.ts';
import { createPool } from './pools.ts';

const INTERVAL_MS = 2_000;
/** Seconds after which a process that has not reported counts as gone. One that is too busy to report still allows requests. */
const GONE_AFTER_SECONDS = 20;
/** Milliseconds that an exchange may take. A process that is busy for a second must not mistake that for a silent database. */
const ANSWER_WITHIN_MS = 1_500;

/** The count of all processes under one key. */
export interface SharedCount {
  used: number;
  /** Milliseconds until the window ends. */
  leftMs: number;
}

/** Exchanges the counts of rate limits with the other processes through the database, and knows how many processes there are. */
export class RateCounts implements Part {
  readonly #id = randomUUID();
  readonly #pool: Pool;
  readonly #beating: Periodic;
  #processes = 1;
  #beats = 0;

  /** @param names whether statements are prepared by name, which a pooler in transaction mode does not keep */
  constructor(url: string, log: Logger, names: boolean) {
    this.#pool = createPool(url, log, { max: 1, answerWithin: ANSWER_WITHIN_MS, name: 'lombard-limits', names });
    const run = () => this.#beat();
    this.#beating = new Periodic({ name: 'processes', intervalMs: INTERVAL_MS, log, run });
  }

  async start(): Promise<void> {
    await this.#beating.startNow();
  }

  async stop(): Promise<void> {
    await this.#beating.stop();
    await this.#pool.query('delete from processes where id = $1', [this.#id]).catch(() => {});
    await this.#pool.end();
  }

  /** The number of processes that serve requests now, including this one. */
  get processes(): number {
    return this.#processes;
  }

  /** Whether processes that started together with this one are counted. The first count may have been too early for them. */
  get settled(): boolean {
    return this.#beats > 1;
  }

  /**
   * Adds uses to the count of all processes.
   * @param leftMs milliseconds until this process's window ends; used for the shared window if none is open
   * @returns undefined if the database cannot tell
   */
  async add(key: string, uses: number, leftMs: number): Promise<SharedCount | undefined> {
    const values = [sha256(key), uses, leftMs / 1_000];
    const counted = await this.#pool
      .query<SharedCount>({ name: 'rate-count', text: ADD, values })
      .catch(() => undefined);
    return counted && first(counted);
  }

  async #beat(): Promise<void> {
    const beat = await this.#pool.query<{ processes: number }>(BEAT, [this.#id, GONE_AFTER_SECONDS]);
    this.#processes = Math.max(1, first(beat)?.processes ?? 1);
    this.#beats += 1;
    await this.#pool.query(CLEAR, [GONE_AFTER_SECONDS]);
  }
}

const ADD = `
  insert into rate_counts as r (key, used, ends_at) values ($1, $2, clock_timestamp() + make_interval(secs => $3))
  on conflict (key) do update set
    used = case when r.ends_at <= clock_timestamp() then excluded.used else r.used + excluded.used end,
    ends_at = case when r.ends_at <= clock_timestamp() then excluded.ends_at else r.ends_at end
  returning used, (extract(epoch from ends_at - clock_timestamp()) * 1000)::float8 as "leftMs"`;

/** The count does not see the row that this statement itself writes, so one is added. */
const BEAT = `
  with beat as (
    insert into processes (id, seen_at) values ($1, clock_timestamp()) on conflict (id) do update set seen_at = excluded.seen_at)
  select 1 + count(*)::int as processes from processes where id <> $1 and seen_at > clock_timestamp() - make_interval(secs => $2)`;

const CLEAR = `
  with gone as (delete from processes where seen_at < clock_timestamp() - 10 * make_interval(secs => $1))
  delete from rate_counts where ends_at < clock_timestamp()`;
