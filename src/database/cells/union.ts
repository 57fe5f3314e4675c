import { databaseFault } from '../fault.ts';
import { distributedCells, isPoolOfCells } from './pool.ts';
import { inCell } from './scope.ts';
import { CELL_TABLES } from './tables.ts';

/** A function that each cell has. Its name needs the cell's schema, because a worker knows no other. */
const FUNCTION = /\bnotification_id\(/g;
const TABLE = /\b(from|join)(\s+)(\w+)\b/gi;

/**
 * Returns how to read all cells of a Citus cluster with a `select`, if the connection is to read all. Over a view of all cells, Citus would
 * copy the tables to the coordinator. So each cell answers the `select` itself, with its own order and limit, and only the answers are
 * copied.
 * @param from the tables of the `select`; the first one decides whether each cell has rows of its own
 * @returns undefined if the statement is the same as for one cell
 */
export function unionOfCells(db: object, from: string): ((select: string) => string) | undefined {
  if (!CELL_TABLES.has(/^\w+/.exec(from)?.[0] ?? '')) return undefined;
  const schemas = distributedCells(db);
  if (!schemas) return undefined;
  return (select) => schemas.map((schema) => `(${inSchema(select, schema)})`).join(' union all ');
}

/**
 * A `select` for use in the `from` of another one: over all cells if the connection reads all, and otherwise unchanged.
 * @param from the tables of the `select`
 */
export function overCells(db: object, from: string, select: string): string {
  return `(${unionOfCells(db, from)?.(select) ?? select})`;
}

/**
 * Directs a `select` to one cell, if the connection reads all cells of a Citus cluster; otherwise leaves it unchanged.
 * @param cell the number of a cell; undefined is returned if there is no such cell
 */
export function selectInCell(db: object, cell: number, select: string): string | undefined {
  const schemas = distributedCells(db, cell);
  if (!schemas) return select;
  const schema = schemas.at(cell);
  return schema && inSchema(select, schema);
}

/** A statement of the program's own, with the tables of one cell. */
function inSchema(select: string, schema: string): string {
  return select
    .replace(FUNCTION, (call) => `${schema}.${call}`)
    .replace(TABLE, (whole, word: string, space: string, table: string) =>
      CELL_TABLES.has(table) ? `${word}${space}${schema}.${table}` : whole,
    );
}

/** Reads in all cells. Reads in the current cell alone if another one does not answer, within a transaction, and if the database has one cell. */
export async function overAll<T>(db: object, work: () => Promise<T>): Promise<T> {
  if (!isPoolOfCells(db)) return work();
  try {
    return await inCell('all', work);
  } catch (error) {
    if (!databaseFault(error)) throw error;
    return work();
  }
}
