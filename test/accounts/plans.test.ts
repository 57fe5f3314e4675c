import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { listClientTransactions } from '../../src/accounts/client-transactions.ts';
import type { Db } from '../../src/database/database.ts';
import { readBalances } from '../../src/exchange/balances.ts';
import { createDatabaseOfOneCell, type TestDatabase } from '../world/database.ts';

/**
 * What a client's balances and transactions walk, on tables with statistics and with the plans of prepared statements: no more of a long
 * history than of a short one. Once with the settings of the service, once with PostgreSQL's defaults.
 */
const LONG = 60_000;
const SHORT = 600;
/** Pages that both read, and what an index that is one level deeper adds. */
const DEEPER = 40;
const NOW = new Date('2026-07-01T12:00:00Z');

let database: TestDatabase;
let db: pg.Client;
before(async () => {
  database = await createDatabaseOfOneCell();
  db = new pg.Client({ connectionString: database.url });
  await db.connect();
  for (const [client, count] of [
    ['LONG', LONG],
    ['SHORT', SHORT],
  ] as const) {
    await db.query(
      `insert into clients (client_id, client_name, status, fx_enabled, mass_payments_customer, authorisation_workflow,
         payment_approvals_enabled, payment_creator_approval_enabled, created_at)
       values ($1, $1, 'enabled', true, false, 'simple', false, false, now())`,
      [client],
    );
    await db.query(
      `with account as (insert into currency_accounts (client_id, currency, balance, created_at, booked_credit, booked_debit)
         values ($1, 'EUR', 0, now(), $2::int - $2::int / 10, $2::int / 10), ($1, 'GBP', 0, now(), 0, 0) returning account_id, currency)
       insert into transactions (client_id, currency_account_id, transaction_id, kind, amount, currency, balance_after, booking_datetime,
         value_datetime, trade_id, created_at)
       select $1, a.account_id, $1 || n, case when n % 10 = 0 then 'DEBIT_TRANSACTION' else 'CREDIT_TRANSACTION' end,
         case when n % 10 = 0 then -1 else 1 end, 'EUR', 0, $3::timestamptz - n * interval '1 minute', $3::timestamptz - n * interval '1 minute',
         case when n % 10 = 0 then $1 || '-' || n end, now()
       from account a, generate_series(1, $2::int) n where a.currency = 'EUR'`,
      [client, count, NOW],
    );
    await db.query(
      `insert into trades (trade_id, client_id, contact_id, status, trade_type, rate_symbol, rate, buy_currency, sell_currency, buy_amount,
         sell_amount, order_date, synthetic, created_at)
       select $1 || '-' || n, $1, 'C', case when n <= 40 then 'Created' else 'Closed' end, 'spot', 'EURGBP', 1, 'GBP', 'EUR', 1, 1, $3, false, now()
       from generate_series(10, $2::int, 10) n`,
      [client, count, NOW],
    );
  }
  await db.query('vacuum (analyze)');
});
after(async () => {
  await db.end();
  await database.drop();
});

/** Pages of the database that the statements of some work read. */
async function pagesOf(work: (db: Db) => Promise<unknown>): Promise<number> {
  let pages = 0;
  let prepared = 0;
  const explained = {
    query: async (given: string | { text: string; values?: unknown[] }, list?: unknown[]) => {
      const { text, values = [] } = typeof given === 'string' ? { text: given, values: list ?? [] } : given;
      prepared += 1;
      await db.query(`prepare looked_${prepared} as ${text}`);
      const call = values.length > 0 ? `(${values.map(literal).join(', ')})` : '';
      const { rows } = await db.query(
        `explain (analyze, buffers, timing off, format json) execute looked_${prepared}${call}`,
      );
      await db.query(`deallocate looked_${prepared}`);
      const { Plan: plan } = rows[0]['QUERY PLAN'][0];
      pages += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
      return db.query(text, values);
    },
  };
  await work(explained as unknown as Db);
  return pages;
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  const text = Array.isArray(value)
    ? `{${value.join(',')}}`
    : value instanceof Date
      ? value.toISOString()
      : String(value);
  return db.escapeLiteral(text);
}

const all = { order: 'desc' as const };
const transactions =
  (filter: object, chosen: readonly string[] = ['EUR', 'GBP']) =>
  (clientId: string) =>
  (each: Db) =>
    listClientTransactions(each, { clientId, chosen, filter: { ...all, ...filter } }, { page: 1, pageSize: 50 });
const WORKS: [name: string, of: (clientId: string) => (each: Db) => Promise<unknown>][] = [
  ['the newest transactions', transactions({})],
  ['the oldest transactions', transactions({ order: 'asc' })],
  ['debits', transactions({ indicator: 'Debit' })],
  ['a kind that it has none of', transactions({ type: 'margin' })],
  ['a period', transactions({ from: new Date('2026-07-01T10:00:00Z'), to: NOW })],
  ['balances', (clientId) => (each) => readBalances(each, clientId, { now: NOW })],
];

for (const [settings, set] of [
  ['of the service', "set plan_cache_mode = 'force_generic_plan'; set random_page_cost = 1.1; set jit = off"],
  ['by default', "set plan_cache_mode = 'force_generic_plan'; set random_page_cost = 4; set jit = on"],
] as const)
  test(`a long history costs what a short one does, with the settings ${settings}`, async (t) => {
    await db.query(set);
    for (const [name, of] of WORKS) {
      const [long, short] = [await pagesOf(of('LONG')), await pagesOf(of('SHORT'))];
      t.diagnostic(`${name}: ${long} pages, ${short} of a short history`);
      assert.ok(long <= short + DEEPER, `${name}: ${long} pages, ${short} of a short history`);
    }
  });

test('the totals and what trades require are right', async () => {
  const found = await listClientTransactions(
    db as unknown as Db,
    { clientId: 'LONG', chosen: ['EUR'], filter: { ...all, indicator: 'Debit' } },
    { page: 1, pageSize: 2 },
  );
  assert.deepEqual([found.rows.length, Number(found.total)], [2, LONG / 10]);
  const [, , required] = await readBalances(db as unknown as Db, 'LONG', { now: NOW });
  // Each of the four was debited in full.
  assert.equal(required?.amount.amount.text, '0.00');
});
