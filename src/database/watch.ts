import type { Logger } from '../process/log.ts';
import type { Part } from '../process/parts.ts';
import { Periodic } from '../process/periodic.ts';
import type { Readiness } from '../process/readiness.ts';
import { monotonic } from '../values/calendar.ts';
import { messageOf } from '../values/unknown.ts';
import { leaveFormerServer } from './client.ts';
import { first, type Pool, transaction, urlOf } from './database.ts';
import { databaseFault } from './fault.ts';
import { PatientPool } from './patient-pool.ts';
import { createPool } from './pools.ts';

const INTERVAL_MS = 1_000;
/**
 * How many checks go on renewing all connections after the last one that found the database read-only. A connection may have been opened
 * meanwhile.
 */
const RENEWALS = 3;
/** Milliseconds that a check may take. */
const ANSWER_WITHIN_MS = 2_500;

interface Options {
  url: string;
  log: Logger;
  readiness: Readiness;
  /** Their connections are replaced while the server behind them takes no writes. */
  pools: Pool[];
  /** Why the schema does not fit this program; undefined if it fits. */
  schemaFault(pool: Pool): Promise<string | undefined>;
}

/**
 * Checks once a second whether the database answers, takes writes and has a schema that fits. It has a connection of its own, so it
 * measures the database and not how busy the pools are.
 */
export class DatabaseWatch implements Part {
  readonly #options: Options;
  readonly #pool: Pool;
  readonly #checking: Periodic;
  #renewals = 0;
  /** The server that answered last, identified by its start time. After a failover it is a different one. `answeredAt`: monotonic. */
  #server: { started: string | undefined; answeredAt: number } | undefined;

  constructor(options: Options) {
    const { url, log } = options;
    this.#options = options;
    this.#pool = createPool(url, log, { max: 1, answerWithin: ANSWER_WITHIN_MS, name: 'lombard-watch' });
    const run = () => this.#check();
    this.#checking = new Periodic({ name: 'database watch', intervalMs: INTERVAL_MS, log, run });
  }

  async start(): Promise<void> {
    await this.#checking.startNow();
  }

  async stop(): Promise<void> {
    await this.#checking.stop();
    await this.#pool.end();
  }

  async #check(): Promise<void> {
    const { readiness, schemaFault } = this.#options;
    let fault: string | undefined;
    try {
      fault = (await this.#writeFault()) ?? (await schemaFault(this.#pool));
    } catch (error) {
      fault = databaseFault(error) ?? `the database cannot be checked: ${messageOf(error)}`;
    }
    readiness.found(fault);
  }

  async #writeFault(): Promise<string | undefined> {
    const { pools } = this.#options;
    const state = first(await this.#pool.query<{ read_only: boolean; started: string }>(STATE));
    const urls = [this.#pool, ...pools].map(urlOf);
    const former = this.#server;
    this.#server = { started: state?.started, answeredAt: monotonic() };
    // Connections to the former server would wait for answers until the network gives up.
    if (former && former.started !== state?.started) await leaveFormerServer(urls, former.answeredAt);
    const readOnly = state?.read_only ?? false;
    this.#renewals = readOnly ? RENEWALS : Math.max(this.#renewals - 1, 0);
    // Connections that were opened meanwhile may go on refusing writes after the database takes them again.
    if (this.#renewals > 0) for (const pool of [this.#pool, ...pools]) if (pool instanceof PatientPool) pool.renew();
    if (readOnly) return 'the database is read-only';
    // Only a write shows whether there is disk space for one.
    await transaction(this.#pool, async (tx) => {
      await tx.query('set local work_mem = 64');
      await tx.query(SPILL);
    });
    return undefined;
  }
}

const STATE = `select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as read_only,
  pg_postmaster_start_time()::text as started`;

/** A query that does not fit into 64 kB of memory, so PostgreSQL writes about 100 kB to its disk. That fails if the disk is full. It takes 1.5 ms. */
const SPILL = 'select count(*) from generate_series(1, 8000)';
