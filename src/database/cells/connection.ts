import pg from 'pg';
import type { Cell } from './scope.ts';

/** The cells that a connection can belong to. */
export interface CellPaths {
  /** The schema of the first cell, which also holds what exists once. */
  home: string;
  /** Whether Citus workers hold the schemas of further cells. */
  distributed: boolean;
  /** The numbers of all cells. */
  numbers: number[];
  /** The servers of further cells, if Citus has several. The list may be incomplete, or from before a move. */
  servers: ReadonlyMap<number, string>;
  /** Which cells give no answer. Only a running service has it. */
  pulse?: Pulse;
}

/** Knows which cells give no answer (pulse.ts). */
interface Pulse {
  /** Watches a connection for as long as it is open. */
  watch(client: pg.PoolClient, connection: Connection): void;
  /** Whether a cell is known to give no answer. For `all`: whether any cell is. */
  isSilent(cell: Cell): boolean;
  /** @throws Error as for a statement without an answer, if the cell is known to give none */
  refuseSilent(cell: Cell): void;
}

/** What a connection of a database with several cells knows: the cell that its `search_path` names now, and all others. */
export interface Connection {
  paths: CellPaths;
  cell: Cell;
  /** Further cells in which its current transaction has worked. */
  entered: Set<Cell>;
  beside: pg.Pool | undefined;
}

/** The connections of databases with several cells. */
export const CONNECTIONS = new WeakMap<object, Connection>();

/** The schema of a cell. For `all`, that of the views over all cells; for `none`, that of the views that refuse clients' tables. */
export function schemaOf(home: string, cell: Cell): string {
  if (cell === 0) return home;
  if (cell === 'all') return `${home}_cells`;
  return cell === 'none' ? `${home}_no_cell` : `${home}_cell_${cell}`;
}

/** The statement that sets the `search_path` to a cell. @param local until the end of the transaction */
export function pathStatement({ home }: CellPaths, cell: Cell, local = false): string {
  const schemas = [...new Set([schemaOf(home, cell), home])].map((schema) => pg.escapeIdentifier(schema));
  return `set ${local ? 'local ' : ''}search_path = ${schemas.join(', ')}`;
}

/** The statement that sets the path of a connection's cell until the end of a transaction. Empty if the session has that path. */
export function localPathOf(client: object): string {
  const connection = CONNECTIONS.get(client);
  return connection && connection.cell !== 0 ? pathStatement(connection.paths, connection.cell, true) : '';
}

/**
 * Runs a part of a transaction in another cell of the same database. Statements before and after it run in the cell of the transaction.
 * @param tx a transaction; a pool stays in its cell
 * @returns what the work returns
 * @throws Error as for a statement without an answer, if the cell is known to give none
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
    // If the work failed, the rollback restores the path.
    connection.cell = before;
  }
}

/** The cell of a connection; 0 if the database has one cell. */
export function cellOf(client: object): Cell {
  return CONNECTIONS.get(client)?.cell ?? 0;
}

/** Whether a connection is in a further cell, or its transaction has worked in one. */
export function worksInFurtherCell(client: object): boolean {
  const connection = CONNECTIONS.get(client);
  return connection !== undefined && [connection.cell, ...connection.entered].some((cell) => Number(cell) > 0);
}

/** The cells in which a transaction that has ended has worked; the first one if the database has one cell. */
export function leaveCells(tx: object): Cell[] {
  const connection = CONNECTIONS.get(tx);
  if (!connection) return [0];
  const cells = [connection.cell, ...connection.entered];
  connection.entered.clear();
  return cells;
}

/** Locks of further cells begin above those of the first cell, which are those of a database with one cell. */
const LOCKS_OF_CELL = 2 ** 32;

/** The number of an advisory lock in the current cell, so that each cell has its own. @param lock one of LOCKS */
export function lockIn(tx: object, lock: number): number {
  const cell = cellOf(tx);
  return typeof cell === 'number' ? lock + cell * LOCKS_OF_CELL : lock;
}
