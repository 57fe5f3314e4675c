import type { Context } from '../context.ts';
import { Periodic } from '../process/periodic.ts';
import { oldestQuote } from './quote.ts';

const CLEAR_INTERVAL_MS = 3_600_000;
/** The number of quotes that one statement deletes. */
const MAX_BATCH_ROWS = 5_000;

/** Deletes quotes that are too old to be read. */
export function createQuoteClearing({ backgroundPool, clock, log }: Context): Periodic {
  return new Periodic({
    name: 'quotes',
    intervalMs: CLEAR_INTERVAL_MS,
    log,
    run: async () => {
      let deleted: number | null = MAX_BATCH_ROWS;
      while (deleted === MAX_BATCH_ROWS) {
        const { rowCount }: { rowCount: number | null } = await backgroundPool.query(
          `delete from quotes where (client_id, quote_id) in (
             select client_id, quote_id from quotes where created_at <= $1 order by created_at limit ${MAX_BATCH_ROWS})`,
          [oldestQuote(clock.now())],
        );
        deleted = rowCount;
      }
    },
  });
}
