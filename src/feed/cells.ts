import { NUMBERS_OF_CELL } from '../database/cells/numbers.ts';
import { poolOf } from '../database/cells/pool.ts';
import type { Db, Pool } from '../database/database.ts';

/** Where the changes of a part of the feed are. */
export interface FeedCell {
  pool: Pool;
  /** Of its first transaction in the part. */
  position: number;
}

/** The cells that have changes after one position and up to another: the number of a transaction shows its cell. */
export async function cellsBetween(pool: Pool, after: number, until: number): Promise<FeedCell[]> {
  const { rows } = await (pool as Db).query<{ cell: number; position: number }>({
    name: 'change-cells',
    text: `select batch / ${NUMBERS_OF_CELL} as cell, min(position) as position from change_order
      where position >= coalesce((select position from change_order where position <= $1::bigint + 1 order by position desc limit 1), 0)
        and position <= $2
      group by 1 order by 2`,
    values: [after, until],
  });
  return rows.map(({ cell, position }) => ({ pool: poolOf(pool, cell), position }));
}
