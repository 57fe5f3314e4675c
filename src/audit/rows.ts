import type pg from 'pg';
import { distributedCells } from '../database/cells/pool.ts';
import { cellOfNumber } from '../database/cells/scope.ts';
import { selectInCell } from '../database/cells/union.ts';
import type { Db } from '../database/database.ts';
import { addDays } from '../values/calendar.ts';

/** The place of a row in the trail. `at` has all digits that PostgreSQL stores (`momentText`). */
export interface RowPlace {
  id: number;
  at: string;
}

/** SQL for a moment as a text that PostgreSQL and JavaScript can read. Infinite moments stay infinite. */
export function momentText(column: string): string {
  return `case when isfinite(${column}) then to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') else ${column}::text end`;
}

/** SQL of the program's own. */
interface RowSelection {
  /** Columns of the row `a`. */
  columns: string;
  /** A condition on the row, without an alias. Its values begin at $3. */
  where?: string;
  values?: unknown[];
}

/** Reads rows of the trail by their places. The days are literals in the statement, so that PostgreSQL searches only these partitions. */
export async function readRows<R extends pg.QueryResultRow>(
  db: Db,
  places: readonly RowPlace[],
  { columns, where = 'true', values = [] }: RowSelection,
): Promise<R[]> {
  const found: R[] = [];
  for (const [cell, ofCell] of distributedCells(db) ? byCell(places) : [[0, places] as const]) {
    const text = selectInCell(
      db,
      cell,
      `select ${columns} from unnest($1::timestamptz[], $2::bigint[]) as f(at, id)
       cross join lateral (select * from audit where at = f.at and id = f.id and ${daysOf(ofCell)} and (${where}) offset 0) a`,
    );
    if (text === undefined || ofCell.length === 0) continue;
    const { rows } = await db.query<R>(text, [ofCell.map(({ at }) => at), ofCell.map(({ id }) => id), ...values]);
    found.push(...rows);
  }
  return found;
}

/** Groups rows by cell. A row stays in the cell that made its number. */
function byCell(places: readonly RowPlace[]): Map<number, RowPlace[]> {
  return Map.groupBy(places, ({ id }) => cellOfNumber(id));
}

function daysOf(places: readonly RowPlace[]): string {
  // No row of the trail has an infinite moment.
  const moments = places.map(({ at }) => Date.parse(at)).filter((ms) => !Number.isNaN(ms));
  if (moments.length === 0) return 'false';
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const ms of moments) [from, to] = [Math.min(from, ms), Math.max(to, ms)];
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  return `at >= '${day(from)}T00:00:00Z' and at < '${addDays(day(to), 1)}T00:00:00Z'`;
}
