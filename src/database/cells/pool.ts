import pg from 'pg';
import { type CellPaths, CONNECTIONS, pathStatement, schemaOf } from './connection.ts';
import { type Cell, currentCell, inCell } from './scope.ts';

type Connected = Parameters<pg.Pool['connect']>[0];

/** What a pool of a database with several cells knows about its cells. */
interface Cells {
  paths: CellPaths;
  /** For what commits by itself beside a transaction. Undefined if one PostgreSQL has all cells. */
  beside: pg.Pool | undefined;
}

/** The pools of databases with several cells. `whole`: the pool of all cells; `cell`: undefined if the caller decides it. */
const POOLS = new WeakMap<object, Cells & { whole: pg.Pool; cell: Cell | undefined }>();

/** Registers a new pool that has several cells. */
export function hasCells(pool: pg.Pool, cells: Cells): void {
  POOLS.set(pool, { ...cells, whole: pool, cell: undefined });
}

/** Whether this is a pool, rather than a connection, of a database with several cells. */
export function isPoolOfCells(db: object): db is pg.Pool {
  return POOLS.has(db);
}

/** Where the statements of a pool or a connection run; undefined if the database has one cell. */
function placeOf(db: object): (Cells & { cell: Cell }) | undefined {
  const pool = POOLS.get(db);
  return pool ? { ...pool, cell: pool.cell ?? currentCell() } : CONNECTIONS.get(db);
}

/** A pool for background work. Its connections belong to one cell, whoever asks for them. @returns the pool itself if there is one cell */
export function poolOf(pool: pg.Pool, cell: Cell): pg.Pool {
  const known = POOLS.get(pool);
  if (!known) return pool;
  const { whole } = known;
  const bound: pg.Pool = Object.create(whole);
  const connect = (callback?: Connected) => inCell(cell, () => (callback ? whole.connect(callback) : whole.connect()));
  const query = (...input: Parameters<pg.Pool['query']>) => inCell(cell, () => whole.query(...input));
  POOLS.set(bound, { ...known, cell });
  return Object.assign(bound, { connect, query });
}

/** The statement that moves a separate session to a cell of a pool's database; empty if there is one cell. */
export function pathOf(pool: pg.Pool, cell: Cell): string {
  const paths = pathsOf(pool);
  return paths ? pathStatement(paths, cell) : '';
}

/** How the connections of a pool belong to cells; undefined if there is one cell. */
export function pathsOf(pool: pg.Pool): CellPaths | undefined {
  return POOLS.get(pool)?.paths;
}

/** Whether a Citus worker holds the cell of a connection, or of a pool that belongs to a cell. */
export function isDistributed(db: object): boolean {
  const place = placeOf(db);
  return place?.paths.distributed === true && place.cell !== 0 && place.cell !== 'none';
}

/** The cell to which a pool belongs, or else the caller's cell. The first cell if the database has one. */
export function cellOfPool(pool: pg.Pool): Cell {
  return POOLS.has(pool) ? (placeOf(pool)?.cell ?? 0) : 0;
}

/**
 * The quoted schemas of all cells, if a connection reads all of them and a Citus worker holds some.
 * @param asked the cell that is read, if not all are
 * @throws Error as for a statement without an answer, if such a cell is known to give none
 */
export function distributedCells(db: object, asked: Cell = 'all'): string[] | undefined {
  const { paths, cell } = placeOf(db) ?? {};
  if (!paths || cell !== 'all') return undefined;
  paths.pulse?.refuseSilent(asked);
  if (!paths.distributed) return undefined;
  return paths.numbers.map((number) => pg.escapeIdentifier(schemaOf(paths.home, number)));
}

/** @throws Error as for a statement without an answer, if a cell of the pool is known to give none */
export function refuseWhileSilent(pool: object): void {
  POOLS.get(pool)?.paths.pulse?.refuseSilent('all');
}

/** The quoted schema of a cell, for a statement that needs two schemas. @param db of a database with several cells */
export function quotedSchema(db: object, cell: Cell): string {
  const paths = placeOf(db)?.paths;
  if (!paths) throw new TypeError('the database has one cell');
  return pg.escapeIdentifier(schemaOf(paths.home, cell));
}

/**
 * The pool for a statement that commits by itself, before the transaction of a connection does. It finds the tables of the first cell and
 * those that exist once. Undefined if one PostgreSQL has all cells, because then the transaction itself can run the statement.
 */
export function besideOf(db: object): pg.Pool | undefined {
  return placeOf(db)?.beside;
}

/** Whether the database of a connection has several cells. */
export function hasSeveralCells(db: object): boolean {
  return placeOf(db) !== undefined;
}
