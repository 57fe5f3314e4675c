import { hasSeveralCells } from '../database/cells/pool.ts';
import { type Db, first, type Pool } from '../database/database.ts';
import { BoundedMap } from '../values/bounded-map.ts';
import { monotonic } from '../values/calendar.ts';
import { cellsAfter } from './cursor.ts';

/** Milliseconds between two checks of the feed, however many ask. */
const LOOK_INTERVAL_MS = 500;
/** The most changes that one check reads individually. If there are more, every client counts as changed. */
const MAX_READ_ROWS = 2_000;
const MAX_CLIENTS = 100_000;

/**
 * Knows the position of each client's latest change in the feed, for pages that ask whether they are up to date. A process reads what is
 * new only when somebody asks, and at most twice a second, so asking costs nothing. A client about which the process knows nothing counts
 * as changed when the process began to check. At worst a page then reads once too often.
 */
export class LatestChanges {
  readonly #pool: Pool;
  readonly #positions = new BoundedMap<string, number>(MAX_CLIENTS);
  #floor = 0;
  #last: number | undefined;
  #looking: Promise<void> | undefined;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** A number that grows with every change of the client's records or its contacts. */
  async of(clientId: string): Promise<number> {
    if (monotonic() - this.#lookedMs >= LOOK_INTERVAL_MS)
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
    await this.#looking;
    return this.#positions.get(clientId) ?? this.#floor;
  }

  async #look(): Promise<void> {
    if (this.#last === undefined) await this.#skip();
    else if (hasSeveralCells(this.#pool)) await this.#readCells(this.#last);
    else await this.#read(this.#pool, this.#last);
    this.#lookedMs = monotonic();
  }

  /** If a cell cannot be read, every client counts as changed. */
  async #readCells(last: number): Promise<void> {
    try {
      const cells = await cellsAfter(this.#pool, last);
      for (const { pool } of cells) await this.#read(pool, last);
    } catch {
      await this.#skip();
    }
  }

  async #read(db: Db, after: number): Promise<void> {
    const { rows } = await db.query<{ position: number; client_ids: string[] }>({
      name: 'latest-changes',
      text: `select o.position, c.client_ids from change_order o join changes c on c.batch = o.batch
        where o.position > $1 order by o.position limit ${MAX_READ_ROWS}`,
      values: [after],
    });
    for (const { position, client_ids: clients } of rows) {
      for (const client of clients) this.#positions.set(client, Math.max(position, this.#positions.get(client) ?? 0));
      this.#last = Math.max(position, this.#last ?? 0);
    }
    if (rows.length === MAX_READ_ROWS) await this.#skip();
  }

  /** Continues at the end of the feed. */
  async #skip(): Promise<void> {
    const end = first(
      await this.#pool.query<{ position: number }>('select coalesce(max(position), 0) as position from change_order'),
    );
    this.#floor = end?.position ?? 0;
    this.#last = this.#floor;
    this.#positions.clear();
  }
}
