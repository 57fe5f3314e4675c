import pg from 'pg';
import type { Cell } from './scope.ts';

/** Which cells a connection can belong to. */
export interface CellPaths {
  /** The schema of what exists once, and of the first cell. */
  home: string;
  /** Whether Citus has the schemas of further cells on its workers. */
  distributed: boolean;
  /** The numbers of all cells. */
  numbers: number[];
  /** The servers of further cells, where Citus has them on several: as far as they are known, which may be before a move. */
  servers: ReadonlyMap<number, string>;
  /** Which of them give no answer; only of a service that runs. */
  pulse?: Pulse;
}

/** Knows which cells give no answer (pulse.ts). */
interface Pulse {
  /** Watches a connection for as long as it is open. */
  watch(client: pg.PoolClient, connection: Connection): void;
  /** Whether a cell is known to give no answer; of all cells, whether one of them is. */
  isSilent(cell: Cell): boolean;
  /** @throws Error as for a statement without an answer, where a cell is known to give none */
  refuseSilent(cell: Cell): void;
}

/** What a connection of a database with several cells knows: the cell that its `search_path` names now, and all others. */
export interface Connection {
  paths: CellPaths;
  cell: Cell;
  /** Further cells in which its transaction has worked. */
  entered: Set<Cell>;
  beside: pg.Pool | undefined;
}

/** The connections of databases with several cells. */
export const CONNECTIONS = new WeakMap<object, Connection>();

/** The schema of a cell; of the views over all cells; of those that refuse the tables of clients. */
export function schemaOf(home: string, cell: Cell): string {
  if (cell === 0) return home;
  if (cell === 'all') return `${home}_cells`;
  return cell === 'none' ? `${home}_no_cell` : `${home}_cell_${cell}`;
}

/** The `search_path` of a cell. @param local until the end of the transaction */
export function pathStatement({ home }: CellPaths, cell: Cell, local = false): string {
  const schemas = [...new Set([schemaOf(home, cell), home])].map((schema) => pg.escapeIdentifier(schema));
  return `set ${local ? 'local ' : ''}search_path = ${schemas.join(', ')}`;
}

/** What sets the path of a connection's cell until the end of a transaction; empty where it is that of the session. */
export function localPathOf(client: object): string {
  const connection = CONNECTIONS.get(client);
  return connection && connection.cell !== 0 ? pathStatement(connection.paths, connection.cell, true) : '';
}

/**
 * Runs a part of a transaction in another cell of the same database. Statements before and after it stay in the cell of the transaction.
 * @param tx a pool stays in its cell
 * @returns what the work returns
 * @throws Error as for a statement without an answer, where the cell is known to give none
 */
export async function withinCell<T>(
  tx: { query(text: string): Promise<unknown> },
  cell: Cell,
  work: () => Promise<T>,
): Promise<T> {
  const connection = CONNECTIONS.get(tx);
  if (!connection || connection.cell === cell) return work();
  const { paths, cell: before } = connection;
  paths.pulse?.refuseSilent(cell);
  await tx.query(pathStatement(paths, cell, true));
  connection.cell = cell;
  connection.entered.add(cell);
  try {
    const result = await work();
    await tx.query(pathStatement(paths, before, true));
    return result;
  } finally {
    // Where the work failed, the rollback brings the path back.
    connection.cell = before;
  }
}

/** The cell that a connection is in; the first one where the database has one. */
export function cellOf(client: object): Cell {
  return CONNECTIONS.get(client)?.cell ?? 0;
}

/** Whether a connection is in a cell other than the first, or its transaction has worked in one. */
export function worksInFurtherCell(client: object): boolean {
  const connection = CONNECTIONS.get(client);
  return connection !== undefined && [connection.cell, ...connection.entered].some((cell) => Number(cell) > 0);
}

/** The cells in which a transaction that has ended has worked; the first one where the database has one. */
export function leaveCells(tx: object): Cell[] {
  const connection = CONNECTIONS.get(tx);
  if (!connection) return [0];
  const cells = [connection.cell, ...connection.entered];
  connection.entered.clear();
  return cells;
}

/** Beyond the locks of the first cell, which are those of a database with one cell. */
const LOCKS_OF_CELL = 2 ** 32;

/** The number of an advisory lock that each cell has for itself. @param lock of LOCKS */
export function lockIn(tx: object, lock: number): number {
  const cell = cellOf(tx);
  return typeof cell === 'number' ? lock + cell * LOCKS_OF_CELL : lock;
}
