import type pg from 'pg';

/** Fills the feed with transactions of one small change each, as they stand after the publisher. */
export async function fillFeed(db: pg.Client | pg.Pool, changes: number, at: Date): Promise<void> {
  await db.query(
    `insert into changes (batch, place, changes, client_ids, entities, body)
     select n, 0, 1, array['CLI' || n % 100], array['payment'],
       'payment CLI' || n % 100 || E'\\t' || '{"at":"2026-11-21T10:00:00.000Z","entity":"payment","entity_id":"P' || n % 1000000
         || '","client_id":"CLI' || n % 100 || '","version":' || 1 + n / 1000000 || ',"action":"import","actor":"token:core","request_id":"r","data":{"n":'
         || n || '}}'
     from generate_series(1, $1::bigint) n`,
    [changes],
  );
  await db.query(
    `insert into change_order (position, batch, changes, at)
     select n, n, 1, $2::timestamptz - ($1 - n) * interval '10 milliseconds' from generate_series(1, $1::bigint) n`,
    [changes, at],
  );
  await db.query("select setval(pg_get_serial_sequence('changes_unpublished', 'batch'), $1)", [changes]);
}
