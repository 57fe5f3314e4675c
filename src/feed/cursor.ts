import { createHmac } from 'node:crypto';
import { poolOf } from '../database/cells/pool.ts';
import { NUMBERS_OF_CELL } from '../database/cells/scope.ts';
import { type Db, first, type Pool } from '../database/database.ts';
import { Problem } from '../values/errors.ts';

/** Digits of a position. Texts of one length sort like their numbers. */
const POSITION_DIGITS = 16;
const MARK_DIGITS = 12;
const CURSOR = new RegExp(`^\\d{${POSITION_DIGITS}}-[0-9a-f]{${MARK_DIGITS}}$`);

/** Cursors of the feed: a position, and a signature that only this database's key can make. */
export class Cursors {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** @param position of a change, counted from 1; 0 is before the first one */
  write(position: number): string {
    const digits = String(position).padStart(POSITION_DIGITS, '0');
    return `${digits}-${createHmac('sha256', this.#key).update(digits).digest('hex').slice(0, MARK_DIGITS)}`;
  }

  /**
   * @param last the newest position that was published
   * @throws Problem invalid_parameter if this cursor was never issued
   */
  read(cursor: string, field: string, last: number): number {
    const position = CURSOR.test(cursor) ? Number(cursor.slice(0, POSITION_DIGITS)) : Number.NaN;
    if (position <= last && this.write(position) === cursor) return position;
    throw new Problem('invalid_parameter', { field, message: 'must be a cursor that the change feed handed out' });
  }
}

/** The cursors of this database. */
export async function readCursors(db: Db): Promise<Cursors> {
  const row = first(await db.query<{ key: Buffer }>('select key from change_cursor_key'));
  if (!row) throw new Error('the key of the change feed is missing');
  return new Cursors(row.key);
}

/** Where the changes of a section of the feed are. */
export interface FeedCell {
  pool: Pool;
  /** The position of its first transaction in the section. */
  position: number;
}

/** The cells that have changes after a position. The number of a transaction shows its cell. */
export async function cellsAfter(pool: Pool, after: number): Promise<FeedCell[]> {
  const db: Db = pool;
  const { rows } = await db.query<{ cell: number; position: number }>({
    name: 'change-cells',
    text: `select batch / ${NUMBERS_OF_CELL} as cell, min(position) as position from change_order
      where position >= coalesce((select position from change_order where position <= $1::bigint + 1 order by position desc limit 1), 0)
      group by 1 order by 2`,
    values: [after],
  });
  return rows.map(({ cell, position }) => ({ pool: poolOf(pool, cell), position }));
}
