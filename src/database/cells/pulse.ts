import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';
import { endsWithin } from '../../process/deadline.ts';
import type { Logger } from '../../process/log.ts';
import { monotonic } from '../../values/calendar.ts';
import { DatabaseClient } from '../client.ts';
import { SILENCE } from '../fault.ts';
import { readServers } from './cell.ts';
import type { CellPaths, Connection } from './connection.ts';
import { schemaOf } from './connection.ts';
import type { Cell } from './scope.ts';

/** Milliseconds between two looks at which connections wait for an answer. A query that still waits at the second look makes its cell suspect. */
const LOOK_INTERVAL_MS = 100;
/** Milliseconds that a cell has to answer a question. Including the looks before, a silent cell is detected within a second. */
const ANSWER_WITHIN_MS = 700;
/** Milliseconds to get a connection for a question. */
const CONNECT_WITHIN_MS = 1_000;
/** Milliseconds between two questions to a silent cell. */
const ASK_AGAIN_MS = 1_000;
/** Milliseconds after which Citus gives up connecting to a worker. */
const CONNECTS_WITHIN_MS = 1_500;
const GIVE_UP_MS = 5_000;
/** The most connections for questions, and the idle milliseconds after which they close. */
const MAX_ASKING = 4;
const MAX_IDLE_MS = 10_000;

/**
 * Connections for questions keep no connection of their own to a Citus worker. So a question to a hanging worker ends without an answer.
 * Otherwise, breaking off a statement that a worker has begun would wait until the worker answers. Outside Citus these settings do nothing.
 */
const SET_UP = `set citus.max_cached_conns_per_worker = 0; set citus.node_connection_timeout = ${CONNECTS_WITHIN_MS};
  set client_connection_check_interval = '1s'`;

/** A pg client, with the query whose answer it waits for. */
interface Waiting {
  _activeQuery: object | null;
}

/**
 * Knows which cells give no answer, for all pools of a process. A server that hangs accepts everything and answers nothing. Each statement
 * would then use up its caller's full timeout, and hold a connection as long. So if a statement waits, its cell is asked a small question.
 * If that gets no answer either, everything that waits in the cells of that server is broken off. Nobody is let in until it answers again.
 */
export class CellPulse {
  readonly #paths: CellPaths;
  readonly #log: Logger;
  readonly #pool: pg.Pool;
  readonly #connections = new Map<object, Connection>();
  /** What waited at the last look, and for how many looks. */
  #waited = new Map<object, { query: object; looks: number }>();
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** For each cell, the earliest moment at which a statement that had waited may have been answered. */
  readonly #answeredAt = new Map<Cell, number>();
  readonly #silent = new Set<number>();
  /** Servers that are being asked now. */
  readonly #asked = new Set<string>();
  #askedAt = Number.NEGATIVE_INFINITY;
  #ticker: NodeJS.Timeout | undefined;
  #onBack: (cells: number[]) => void = () => {};

  /** @param url of a direct session, not through a pooler in transaction mode */
  constructor(url: string, paths: CellPaths, log: Logger) {
    this.#paths = paths;
    this.#log = log;
    this.#pool = new pg.Pool({
      connectionString: url,
      Client: DatabaseClient,
      max: MAX_ASKING,
      application_name: 'lombard-cells',
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      query_timeout: GIVE_UP_MS,
      idleTimeoutMillis: MAX_IDLE_MS,
      onConnect: async (client) => void (await client.query(SET_UP)),
    });
    this.#pool.on('error', () => {});
  }

  start(): void {
    this.#ticker = setInterval(() => this.#look(), LOOK_INTERVAL_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#ticker);
    await endsWithin(this.#pool.end(), ANSWER_WITHIN_MS);
  }

  /** @param listener gets the cells that answer again */
  onBack(listener: (cells: number[]) => void): void {
    this.#onBack = listener;
  }

  /** Watches a connection for as long as it is open. */
  watch(client: pg.PoolClient, connection: Connection): void {
    this.#connections.set(client, connection);
    client.once('end', () => this.#connections.delete(client));
  }

  /** Whether a cell is known to give no answer. For `all`: whether any cell is. */
  isSilent(cell: Cell): boolean {
    return cell === 'all' ? this.#silent.size > 0 : typeof cell === 'number' && this.#silent.has(cell);
  }

  /** @throws Error as for a statement without an answer, if the cell is known to give none */
  refuseSilent(cell: Cell): void {
    if (this.isSilent(cell)) throw new Error(SILENCE);
  }

  #look(): void {
    const waits = new Map<object, { query: object; looks: number }>();
    const doubtful = new Set<Cell>();
    for (const [client, { cell }] of this.#connections) {
      const query = (client as Waiting)._activeQuery;
      const before = this.#waited.get(client);
      // A statement that the coordinator answers by itself does not wait for two looks, so this answer came from the cell.
      if (before && before.query !== query && before.looks > 1) this.#answeredAt.set(cell, this.#lookedAt);
      if (!query || cell === 'none' || cell === 0) continue;
      const looks = before?.query === query ? before.looks + 1 : 1;
      waits.set(client, { query, looks });
      if (looks > 1) doubtful.add(cell);
    }
    this.#waited = waits;
    this.#lookedAt = monotonic();
    const due = this.#silent.size > 0 && monotonic() - this.#askedAt >= ASK_AGAIN_MS;
    if (doubtful.size === 0 && !due) return;
    this.#askedAt = this.#lookedAt;
    const { numbers } = this.#paths;
    const wanted = doubtful.has('all')
      ? numbers
      : numbers.filter((cell) => doubtful.has(cell) || this.#silent.has(cell));
    this.#ask(wanted).catch((error: Error) =>
      this.#log.debug({ reason: error.message }, 'the cells could not be asked whether they answer'),
    );
  }

  /** Asks the servers of some cells. The answer of one cell counts for all cells of its server. */
  async #ask(wanted: readonly number[]): Promise<void> {
    const servers = await this.#servers();
    await Promise.all(
      [...servers]
        .filter(([server, cells]) => !this.#asked.has(server) && cells.some((cell) => wanted.includes(cell)))
        .map(async ([server, cells]) => {
          this.#asked.add(server);
          try {
            await this.#askServer(cells);
          } finally {
            this.#asked.delete(server);
          }
        }),
    );
  }

  async #askServer(cells: readonly number[]): Promise<void> {
    // Without a connection, nothing is learned.
    const client = await this.#pool.connect();
    const askedAt = monotonic();
    let late = false;
    let answers = false;
    const schema = pg.escapeIdentifier(schemaOf(this.#paths.home, cells[0] ?? 0));
    const question = client.query(`select from ${schema}.subscriptions limit 1`).then(
      () => {
        answers = true;
        client.release();
      },
      (error: Error) => {
        // A server that refuses at once does not hang: its statements end at once too.
        answers = !late;
        client.release(error);
      },
    );
    await endsWithin(question, ANSWER_WITHIN_MS);
    // This process may have been busy, so it first reads what has arrived.
    await nextTurn();
    late = true;
    // An overloaded server may not answer the question, but it answers other statements meanwhile.
    const busy = cells.some((cell) => (this.#answeredAt.get(cell) ?? 0) > askedAt);
    if (answers || !busy) this.#found(cells, answers);
    if (answers) return;
    await question;
    if (answers) this.#found(cells, true);
  }

  #found(cells: readonly number[], answers: boolean): void {
    const changed = cells.filter((cell) => this.#silent.has(cell) === answers);
    for (const cell of changed) this.#silent[answers ? 'delete' : 'add'](cell);
    const schemas = changed.map((cell) => schemaOf(this.#paths.home, cell)).join(', ');
    if (!answers) {
      if (changed.length > 0)
        this.#log.warn({ cells: schemas }, 'cells give no answer; they are left out until they do');
      this.#breakOff();
    } else if (changed.length > 0) {
      this.#log.info({ cells: schemas }, 'cells answer again');
      this.#onBack(changed);
    }
  }

  /** Breaks off what waits in silent cells, and reads of all cells that have waited for some time. */
  #breakOff(): void {
    for (const [client, { cell }] of this.#connections) {
      const query = (client as Waiting)._activeQuery;
      if (query && this.isSilent(cell) && (cell !== 'all' || this.#waited.get(client)?.query === query))
        (client as DatabaseClient).connection.stream.destroy(new Error(SILENCE));
    }
  }

  /** The further cells, grouped by their server. If one PostgreSQL has all cells, each is its own group. */
  async #servers(): Promise<Map<string, number[]>> {
    if (this.#paths.distributed) this.#paths.servers = await readServers(this.#pool);
    const { numbers, servers } = this.#paths;
    const further = numbers.filter((cell) => cell > 0);
    return Map.groupBy(further, (cell) => servers.get(cell) ?? String(cell));
  }
}
