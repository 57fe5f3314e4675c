import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import type { Pool } from '../../src/database/database.ts';
import { searchTrades, type TradeFilters, tradesStatement } from '../../src/exchange/client-trades.ts';
import { rollUpTotals } from '../../src/payments/search/totals.ts';
import { connectTo, isOnWorkers, ON_WORKERS, poolOfClient } from '../world/cells.ts';
import { createWorld } from '../world/client.ts';
import { nodesOf, rowsRead } from '../world/plans.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** How many trades a list has in all is kept, and a page reads as much of a large client as of a small one. */

const TRADES = 40_000;
const STATUSES = ['Created', 'Funds In Full', 'Closed'];
let service: TestService;
let db: pg.Client;
let pool: Pool;
let world: Awaited<ReturnType<typeof createWorld>>;

before(async () => {
  service = await startTestService({ LOMBARD_ROLES: 'api,operator' });
  world = await createWorld(service);
  db = await connectTo(service, world.clientId);
  pool = await poolOfClient(service.service.context.pool, world.clientId);
  // As the service's connections do, unless Citus plans each call.
  if (!(await isOnWorkers(service))) await db.query('set plan_cache_mode = force_generic_plan');
  await createWorld(service, 'Other Ltd');
});
after(async () => {
  await db?.end();
  await service?.stop();
});

/** Copies the client's first trade: every 20,000th is a forward in dollars. */
const add = (from: number, count: number) =>
  db.query(
    `insert into trades (trade_id, client_id, contact_id, status, trade_type, rate_symbol, rate, buy_currency, sell_currency, buy_amount,
       sell_amount, order_date, synthetic, created_at)
     select 'COPY' || n, client_id, contact_id, ($3::text[])[1 + n % 3], case when n % 20000 = 0 then 'forward' else 'spot' end, rate_symbol, rate,
       case when n % 20000 = 0 then 'USD' else 'EUR' end, sell_currency, buy_amount, sell_amount, order_date, false, created_at
     from trades, generate_series($1::int, $2::int) n where trade_id = $4`,
    [from, from + count - 1, STATUSES, world.tradeId],
  );

const FILTERS: TradeFilters[] = [
  {},
  { statuses: ['Closed'] },
  { statuses: ['Created', 'Funds In Full'] },
  { types: ['forward'] },
  { types: ['spot', 'forward'], statuses: ['Created'] },
  { buyCurrency: 'USD' },
  { buyCurrency: 'EUR', types: ['spot'], statuses: ['Closed', 'Cancelled'] },
  { buyCurrency: 'GBP' },
  { parentId: 'none' },
  { externalReferenceId: 'none' },
];
const page = {
  page: 1,
  pageSize: 10,
  get clientId() {
    return world.clientId;
  },
};

async function exact(moment: string): Promise<void> {
  for (const wanted of FILTERS) {
    const { types = null, statuses = null, buyCurrency = null, parentId = null, externalReferenceId = null } = wanted;
    const { rows } = await db.query(
      `select count(*)::int as n from trades where client_id = $1 and trade_type = any(coalesce($2, array[trade_type]))
         and status = any(coalesce($3, array[status])) and buy_currency = coalesce($4, buy_currency)
         and ($5::text is null or parent_trade_id = $5) and ($6::text is null or external_reference_id = $6)`,
      [world.clientId, types, statuses, buyCurrency, parentId, externalReferenceId],
    );
    const found = await searchTrades(pool, 'http://api', wanted, page);
    assert.equal(found.total, rows[0].n, `${moment}: ${JSON.stringify(wanted)}`);
    assert.equal(found.rows.length, Math.min(rows[0].n, page.pageSize), moment);
  }
}

test('a total is exact after every way of writing, before and after the roll-up', async () => {
  const write = (text: string) => db.query(text, [world.clientId]);
  for (const [what, work] of [
    ['inserted', () => add(1, 300)],
    ['a status changed', () => write("update trades set status = 'Closed' where client_id = $1 and id % 5 = 0")],
    ['what is not counted changed', () => write("update trades set reference = 'x' where client_id = $1")],
    ['removed', () => write("delete from trades where client_id = $1 and trade_id like 'COPY%' and id % 7 = 0")],
    ['all removed', () => write("delete from trades where client_id = $1 and trade_id like 'COPY%'")],
  ] as const) {
    await work();
    await exact(what);
    await rollUpTotals(pool);
    await exact(`${what}, rolled up`);
    assert.equal((await db.query('select from trade_total_deltas')).rowCount, 0);
  }
});

test('a page of any filter reads no more of many trades than of few', async (t) => {
  if (await isOnWorkers(service)) return t.skip(ON_WORKERS);
  await add(1, TRADES);
  await rollUpTotals(pool);
  await db.query('vacuum (analyze) trades');
  for (const wanted of FILTERS) {
    const { text, values } = tradesStatement({ select: 't.trade_id', wanted, request: page });
    await db.query('deallocate all');
    await db.query(`prepare page as ${text}`);
    const literals = values.map((value) => db.escapeLiteral(String(value))).join(', ');
    const { rows } = await db.query(`explain (analyze, costs off, timing off, format json) execute page (${literals})`);
    const read = rowsRead(nodesOf(rows));
    assert.ok(read < 200, `${JSON.stringify(wanted)}: ${read} rows\n${JSON.stringify(rows[0]['QUERY PLAN'], null, 1)}`);
  }
});
