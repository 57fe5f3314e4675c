/** Where the clients of a bench live: in one PostgreSQL, or in cells on the workers of a Citus cluster. */
import pg from 'pg';
import { readPaths } from '../../src/database/cells/cell.ts';
import { type CellPaths, schemaOf } from '../../src/database/cells/connection.ts';
import { inCell } from '../../src/database/cells/scope.ts';
import type { Pool } from '../../src/database/database.ts';
import { createPool } from '../../src/database/pools.ts';
import { onServer, workersOf } from '../../test/world/cluster.ts';
import { serverClock } from '../feed/service.ts';
import { log } from '../payments-data.ts';

/** The cells of a database, and where its clients live. With one cell, nothing of this is needed. */
export class BenchCells {
  readonly #url: string;
  readonly #paths: CellPaths | undefined;
  readonly #homes: ReadonlyMap<string, number>;

  private constructor(url: string, paths: CellPaths | undefined, homes: ReadonlyMap<string, number>) {
    this.#url = url;
    this.#paths = paths;
    this.#homes = homes;
  }

  static async read(url: string): Promise<BenchCells> {
    const pool = createPool(url, log, { max: 1, background: true });
    try {
      const { rows } = await pool.query<{ client_id: string; cell: number }>('select client_id, cell from clients');
      return new BenchCells(url, await readPaths(pool), new Map(rows.map((row) => [row.client_id, row.cell])));
    } finally {
      await pool.end();
    }
  }

  pool(max: number): Pool {
    return createPool(this.#url, log, { max, background: true, cells: this.#paths });
  }

  /** Runs work in the cell of a client. */
  inCellOf<T>(client: string, work: () => Promise<T>): Promise<T> {
    return inCell(this.#homes.get(client) ?? 0, work);
  }

  /** Updates the statistics of imported tables. */
  async analyze(db: pg.Client): Promise<void> {
    await db.query('vacuum (analyze) clients, contacts, contact_clients');
    for (const number of this.#paths?.numbers ?? [0]) {
      const schema = pg.escapeIdentifier(schemaOf(this.#paths?.home ?? 'public', number));
      await db.query(`vacuum (analyze) ${schema}.beneficiaries, ${schema}.trades`);
    }
  }

  /** A connection that sees all cells. */
  async connect(): Promise<pg.Client> {
    const db = new pg.Client({ connectionString: this.#url });
    await db.connect();
    const home = this.#paths?.home;
    if (home) await db.query(`set search_path = ${schemaOf(home, 'all')}, ${home}`);
    return db;
  }
}

/** The processor time of a server, and of the workers of its cluster if it has some, in seconds. */
export async function allServersClock(db: pg.Client, url: string): Promise<() => number> {
  const clocks = [await serverClock(db)];
  for (const worker of await workersOf(url)) clocks.push(await onServer(worker, serverClock));
  return () => clocks.reduce((total, clock) => total + clock(), 0);
}
