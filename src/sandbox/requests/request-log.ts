import { poolOf } from '../../database/cells/pool.ts';
import type { Db, Pool } from '../../database/database.ts';
import type { Logger } from '../../process/log.ts';
import { Periodic } from '../../process/periodic.ts';
import { londonTimestamp } from '../../values/calendar.ts';
import { type AnsweredRequest, type LoggedRequest, logEntry } from './entry.ts';

/** The number of requests of a client that are kept. */
const MAX_REQUESTS_OF_CLIENT = 1_000;
/** The most requests that wait to be written. If more arrive in a second, older ones are lost, because only the newest are ever read. */
const MAX_WAITING_REQUESTS = 1_000;
/** Milliseconds between two writes of a process under load. Otherwise requests are written at once. */
const WRITE_INTERVAL_MS = 1_000;
/** With this many requests in one write, a process counts as under load. */
const MIN_LOAD_REQUESTS = 100;

/** The log of integrators' requests (docs/sandbox.md, Read your requests), for one listener. */
export class RequestLog {
  readonly #pool: Pool;
  readonly #periodic: Periodic;
  #waiting: AnsweredRequest[] = [];
  #loaded = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(pool: Pool, log: Logger) {
    this.#pool = pool;
    this.#periodic = new Periodic({ name: 'request log', intervalMs: WRITE_INTERVAL_MS, log, run: () => this.write() });
  }

  start(): void {
    this.#periodic.start();
  }

  /** Writes the waiting requests. */
  async stop(): Promise<void> {
    await this.#periodic.stop();
    await this.write().catch(() => {});
  }

  add(request: AnsweredRequest): void {
    this.#waiting.push(request);
    if (this.#waiting.length > MAX_WAITING_REQUESTS) this.#waiting.shift();
    if (!this.#loaded) this.#periodic.wake();
  }

  /** Writes the waiting requests. The reader of the log calls it too, and so finds its own requests. */
  write(): Promise<void> {
    this.#writing = this.#writing.catch(() => {}).then(() => this.#writeAll());
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    const batch = this.#waiting;
    this.#waiting = [];
    this.#loaded = batch.length >= MIN_LOAD_REQUESTS;
    // While the database is away they are lost, because a log of trials is not worth the memory.
    for (const [cell, ofCell] of Map.groupBy(batch, (request) => request.cell))
      await insert(poolOf(this.#pool, cell), ofCell.map(logEntry));
  }
}

const COLUMNS =
  'client_id, at, method, path, status, code, details, ms, request_id, application, request_body, response_body, ignored_parameters';

/**
 * Deletes what is older than the newest requests of each client. `materialized`: the oldest that is kept is looked up once for each client.
 * Looked up for each of a thousand requests, it took 130 ms.
 */
export const CLEAR = `with kept as materialized (
    select c.client_id, (select o.id from sandbox_requests o
        where o.client_id = any($1) and o.client_id = c.client_id order by o.id desc offset $2 limit 1) as last
    from unnest($1::text[]) as c (client_id))
  delete from sandbox_requests r using kept
  where r.client_id = any($1) and r.client_id = kept.client_id and r.id <= kept.last`;

async function insert(pool: Pool, rows: LoggedRequest[]): Promise<void> {
  await pool.query({
    name: 'requests-write',
    text: `insert into sandbox_requests (${COLUMNS}) select ${COLUMNS} from json_populate_recordset(null::sandbox_requests, $1)`,
    values: [JSON.stringify(rows)],
  });
  await pool.query({
    name: 'requests-clear',
    text: CLEAR,
    values: [[...new Set(rows.map((row) => row.client_id))], MAX_REQUESTS_OF_CLIENT],
  });
}

/** A logged request in the form that its client sees. */
export type ShownRequest = Omit<LoggedRequest, 'client_id' | 'at'> & { at: string };

/**
 * A page of the client's requests, newest first.
 * @param status a status such as `404`, or a class such as `4xx`; undefined: all
 * @param without an application whose requests are left out
 */
export async function listRequests(
  db: Db,
  clientId: string,
  { page, pageSize, status, without }: { page: number; pageSize: number; status: string | undefined; without?: string },
): Promise<{ rows: ShownRequest[]; total: number }> {
  const least = status === undefined ? 0 : Number(status.replace('xx', '00'));
  const most = status === undefined ? 999 : Number(status.replace('xx', '99'));
  const last = `(select * from sandbox_requests where client_id = $1 order by id desc limit ${MAX_REQUESTS_OF_CLIENT}) as last
    where last.client_id = $1 and last.status between $2 and $3 and last.application is distinct from $4`;
  const wanted = [clientId, least, most, without ?? null];
  const total = await db.query<{ total: number }>(`select count(*) as total from ${last}`, wanted);
  const { rows } = await db.query<LoggedRequest & { id: number }>(
    `select * from ${last} order by last.id desc limit $5 offset $6`,
    [...wanted, pageSize, (page - 1) * pageSize],
  );
  return {
    rows: rows.map(({ id: _id, client_id: _client, at, ...shown }) => ({ at: londonTimestamp(at), ...shown })),
    total: total.rows[0]?.total ?? 0,
  };
}
