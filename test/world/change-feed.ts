import type pg from 'pg';
import type { TestService } from './service.ts';
import { until } from './until.ts';

/** Waits until everything that has been committed is published. */
export async function published(service: TestService): Promise<void> {
  await until(async () => (await service.query('select from changes_unpublished limit 1')).rowCount === 0);
}

/** The time between two changes of a filled feed. */
export const FILLED_INTERVAL_MS = 10;

/**
 * Fills the feed with transactions of one small change each, in the form that the publisher leaves.
 * @param filled `from`: the number of existing changes; `at`: the time of the last one
 */
export async function fillFeed(
  db: pg.Client | pg.Pool,
  { from = 0, changes, at }: { from?: number; changes: number; at: Date },
): Promise<void> {
  await db.query(
    `insert into changes (batch, place, changes, client_ids, entities, body)
     select n, 0, 1, array['CLI' || n % 100], array['payment'],
       'payment CLI' || n % 100 || E'\\t' || '{"at":"2026-11-21T10:00:00.000Z","entity":"payment","entity_id":"P' || n % 1000000
         || '","client_id":"CLI' || n % 100 || '","version":' || 1 + n / 1000000 || ',"action":"import","actor":"token:core","request_id":"r","data":{"n":'
         || n || '}}'
     from generate_series($1::bigint + 1, $2::bigint) n`,
    [from, from + changes],
  );
  await db.query(
    `insert into change_order (position, batch, changes, at)
     select n, n, 1, $3::timestamptz - ($2 - n) * interval '${FILLED_INTERVAL_MS} milliseconds' from generate_series($1::bigint + 1, $2::bigint) n`,
    [from, from + changes, at],
  );
  await db.query("select setval(pg_get_serial_sequence('changes_unpublished', 'batch'), $1)", [from + changes]);
}
