import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { readSetbacks } from '../../src/orders/setbacks.ts';
import { connectTo, isOnWorkers, ON_WORKERS } from '../world/cells.ts';
import { createWorld } from '../world/client.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** What went wrong beside payments, of a client with many trades that went well. */

const ENDED = 20_000;
const NOW = new Date('2026-11-28T10:00:00Z');
/** A day without a time, as a core gives it: it is not over. */
const DUE_TODAY = new Date('2026-11-28T00:00:00Z');

let service: TestService;
let db: pg.Client;
let clientId: string;

before(async () => {
  service = await startTestService({ LOMBARD_ROLES: 'api,operator' });
  const world = await createWorld(service, 'Setbacks');
  ({ clientId } = world);
  db = await connectTo(service, clientId);
  await db.query(
    `insert into trades (trade_id, client_id, contact_id, trade_type, status, buy_currency, sell_currency, buy_amount, sell_amount, rate,
       rate_symbol, order_date, maturity_date, synthetic, created_at)
     select 'S' || n, $1, $2, 'spot', case n when 1 then 'Created' when 2 then 'Rejected' when 3 then 'Created' when 4 then 'Created' else 'Closed' end, 'EUR', 'GBP',
       100, 86.50, 1.17, 'GBPEUR', '2026-11-20', case n when 3 then $4::timestamptz + interval '1 day' when 4 then $5 else $4 - interval '1 day' end, false, $4
     from generate_series(1, $3::int) n`,
    [clientId, world.contactId, ENDED, NOW, DUE_TODAY],
  );
  await db.query('vacuum (analyze) trades');
});
after(async () => {
  await db.end();
  await service.stop();
});

test('trades that were not paid for in time or were rejected, without a look at those that ended well', async (t) => {
  const read = async () => {
    const { rows } = await db.query(
      `select seq_tup_read + idx_tup_fetch as rows from pg_stat_xact_user_tables where relid = 'trades'::regclass`,
    );
    return Number(rows[0].rows);
  };
  // As connections that answer requests have it: the plan knows no values.
  await db.query('set plan_cache_mode = force_generic_plan');
  await db.query('begin');
  const before = await read();
  const found = await readSetbacks(db as never, {
    ...{ clientId, now: NOW, today: '2026-11-28', mayReadFiles: true, mayReadWebhooks: true },
  });
  const rows = (await read()) - before;
  await db.query('commit');
  assert.deepEqual(
    found.map(({ kind, id, what, amount, currency }) => [kind, id, what, amount, currency]),
    [
      ['trade', 'S1', 'unpaid', '86.5', 'GBP'],
      ['trade', 'S2', 'rejected', '86.5', 'GBP'],
    ],
  );
  if (await isOnWorkers(service)) return t.skip(ON_WORKERS);
  assert.ok(rows < 10, `${rows} rows`);
});
