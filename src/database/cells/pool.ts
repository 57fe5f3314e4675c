import pg from 'pg';
import { type CellPaths, CONNECTIONS, pathStatement, schemaOf } from './connection.ts';
import { type Cell, currentCell, inCell } from './scope.ts';

type Connected = Parameters<pg.Pool['connect']>[0];

/** What a pool of a database with several cells says of itself. */
interface Cells {
  paths: CellPaths;
  /** For what commits by itself beside a transaction; undefined where all cells are in one PostgreSQL. */
  beside: pg.Pool | undefined;
}

/** The pools of databases with several cells. `whole`: that of all cells; `cell`: undefined where it is that of who asks. */
const POOLS = new WeakMap<object, Cells & { whole: pg.Pool; cell: Cell | undefined }>();

/** Makes known that a new pool has several cells. */
export function hasCells(pool: pg.Pool, cells: Cells): void {
  POOLS.set(pool, { ...cells, whole: pool, cell: undefined });
}

/** Whether it is a pool, and not a connection, of a database with several cells. */
export function isPoolOfCells(db: object): db is pg.Pool {
  return POOLS.has(db);
}

/** Where the statements of a pool or a connection run; undefined where the database has one cell. */
function placeOf(db: object): (Cells & { cell: Cell }) | undefined {
  const pool = POOLS.get(db);
  return pool ? { ...pool, cell: pool.cell ?? currentCell() } : CONNECTIONS.get(db);
}

/** A pool whose connections belong to one cell, whoever asks for them: for background work. @returns the pool itself where there is one cell */
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

/** What leads a session of its own to a cell of a pool's database; empty where it has one. */
export function pathOf(pool: pg.Pool, cell: Cell): string {
  const paths = pathsOf(pool);
  return paths ? pathStatement(paths, cell) : '';
}

/** How the connections of a pool belong to cells; undefined where there is one. */
export function pathsOf(pool: pg.Pool): CellPaths | undefined {
  return POOLS.get(pool)?.paths;
}

/** Whether a worker of Citus has the cell of a connection, or of a pool that belongs to a cell. */
export function isDistributed(db: object): boolean {
  const place = placeOf(db);
  return place?.paths.distributed === true && place.cell !== 0 && place.cell !== 'none';
}

/** The cell to which a pool belongs, or whoever asks it. The first one where the database has one. */
export function cellOfPool(pool: pg.Pool): Cell {
  return POOLS.has(pool) ? (placeOf(pool)?.cell ?? 0) : 0;
}

/**
 * The schemas of all cells, quoted, where a connection is to read all of them and a worker of Citus has some.
 * @param asked the one of them that is read, where it is not all
 * @throws Error as for a statement without an answer, where such a cell is known to give none
 */
export function distributedCells(db: object, asked: Cell = 'all'): string[] | undefined {
  const { paths, cell } = placeOf(db) ?? {};
  if (!paths || cell !== 'all') return undefined;
  paths.pulse?.refuseSilent(asked);
  if (!paths.distributed) return undefined;
  return paths.numbers.map((number) => pg.escapeIdentifier(schemaOf(paths.home, number)));
}

/** @throws Error as for a statement without an answer, where one of the cells of a pool is known to give none */
export function refuseWhileSilent(pool: object): void {
  POOLS.get(pool)?.paths.pulse?.refuseSilent('all');
}

/** The schema of a cell, quoted, for a statement that needs two of them. @param db of a database with several cells */
export function quotedSchema(db: object, cell: Cell): string {
  const paths = placeOf(db)?.paths;
  if (!paths) throw new TypeError('the database has one cell');
  return pg.escapeIdentifier(schemaOf(paths.home, cell));
}

/**
 * Where a statement commits by itself, before the transaction of a connection does. Undefined where the transaction can do it, because one
 * PostgreSQL has all cells. It finds the tables that exist once, and those of the first cell.
 */
export function besideOf(db: object): pg.Pool | undefined {
  return placeOf(db)?.beside;
}

/** Whether the database of a connection has several cells. */
export function hasSeveralCells(db: object): boolean {
  return placeOf(db) !== undefined;
}
