import { createHmac } from 'node:crypto';
import { type Db, first } from '../database/database.ts';
import { Problem } from '../values/errors.ts';

/** Digits of a position: texts of one length sort as their numbers do. */
const POSITION_DIGITS = 16;
const MARK_DIGITS = 12;
const CURSOR = new RegExp(`^\\d{${POSITION_DIGITS}}-[0-9a-f]{${MARK_DIGITS}}$`);

/** Cursors of the feed: a position, and a mark that only this database's key makes. */
export class Cursors {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** @param position of a change, counted from 1 on; 0: before the first one */
  write(position: number): string {
    const digits = String(position).padStart(POSITION_DIGITS, '0');
    return `${digits}-${createHmac('sha256', this.#key).update(digits).digest('hex').slice(0, MARK_DIGITS)}`;
  }

  /**
   * @param last the newest position that was published
   * @throws Problem invalid_parameter, if it was never handed out
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
