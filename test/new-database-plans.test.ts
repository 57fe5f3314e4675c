import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { joinTrades } from '../src/exchange/trade-beneficiaries.ts';
import { rowsOf } from '../src/orders/mass/file-step.ts';
import { CLEAR } from '../src/sandbox/requests/request-log.ts';
import { createDatabaseOfOneCell, type TestDatabase } from './world/database.ts';
import { prepare, readByPrepared, type Statement, statementsOf } from './world/plans.ts';

/**
 * What the steps of a long file read, and what a request of a sandbox reads, in a new database. Their statements were planned while there
 * was little, and without statistics. Then PostgreSQL may take any index that begins with the client, and read all its rows in every step.
 */
const CLIENT = 'CLI';
const FORMER_FILE = '11111111-3b2a-4f3c-9a44-0d2c5a7f1e11';
const FILE = '7d8b0d7e-3b2a-4f3c-9a44-0d2c5a7f1e11';
const FEW = 300;
const MANY = 3_000;
const STEP = 10;
/** Requests that are kept, and those that are too many. */
const KEPT = 1_000;
const MORE = 50;
const TABLES = ['mass_payments', 'mass_payment_rows', 'trades', 'trade_beneficiaries', 'sandbox_requests'];

const JOINING = Array.from({ length: STEP }, (_, n) => ({
  ...{ client_id: CLIENT, trade_id: `T${n + 1}`, beneficiary_id: 'B' },
}));

let database: TestDatabase;
let db: pg.Client;
let rowsOfStep: Statement;
let joining: Statement;

before(async () => {
  database = await createDatabaseOfOneCell();
  db = new pg.Client({ connectionString: database.url });
  await db.connect();
  for (const table of TABLES) await db.query(`alter table ${table} set (autovacuum_enabled = off)`);
  await db.query(
    `insert into clients (client_id, client_name, status, fx_enabled, mass_payments_customer, authorisation_workflow,
       payment_approvals_enabled, payment_creator_approval_enabled, created_at)
     values ($1, $1, 'enabled', true, false, 'simple', false, false, now())`,
    [CLIENT],
  );
  await addFile(FORMER_FILE, 'created', FEW);
  await addTrades(1, FEW);
  await addRequests(FEW);
  [rowsOfStep, joining] = [await statement((tx) => takeRows(tx)), await statement((tx) => joinTrades(tx, JOINING))];
  await prepare(db, 'rows_of_step', rowsOfStep.text);
  await prepare(db, 'joining', joining.text);
  await prepare(db, 'clearing', CLEAR);
  // The first execution plans it.
  await readByPrepared(db, 'mass_payment_rows', { name: 'rows_of_step', values: rowsOfStep.values });
  await readByPrepared(db, 'trades', { name: 'joining', values: joining.values });
  await readByPrepared(db, 'sandbox_requests', { name: 'clearing', values: [[CLIENT], KEPT] });
  await addFile(FILE, 'valid', MANY);
  await addTrades(FEW + 1, MANY);
  await addRequests(KEPT - FEW + MORE);
});
after(async () => {
  await db.end();
  await database.drop();
});

const takeRows = (tx: never) =>
  rowsOf({ tx, file: { client_id: CLIENT, mass_payment_id: FILE } } as never, {
    ...{ where: "status = 'valid'", most: STEP, done: MANY / 3 },
  });

async function statement(work: (tx: never) => Promise<unknown>): Promise<Statement> {
  const [sent, ...others] = await statementsOf(db, work);
  assert.ok(sent && others.length === 0);
  return sent;
}

async function addFile(id: string, status: string, rows: number): Promise<void> {
  await db.query(
    `insert into mass_payments (mass_payment_id, client_id, external_reference_id, status, auto_commit, reason, created_by, created_at,
       received) values ($1::text::uuid, $2, $1::text, 'Creating', false, 'other', 'C', now(), $3)`,
    [id, CLIENT, rows],
  );
  await db.query(
    `insert into mass_payment_rows (client_id, mass_payment_id, request_index, sent, duplicate, status)
     select $1, $2, n, '{}', false, $3 from generate_series(0, $4::int - 1) n`,
    [CLIENT, id, status, rows],
  );
}

async function addTrades(first: number, count: number): Promise<void> {
  await db.query(
    `insert into trades (trade_id, client_id, contact_id, status, trade_type, rate_symbol, rate, buy_currency, sell_currency, buy_amount,
       sell_amount, order_date, synthetic, created_at)
     select 'T' || n, $1, 'C', 'Created', 'spot', 'EURGBP', 1, 'GBP', 'EUR', 1, 1, now(), false, now()
     from generate_series($2::int, $2::int + $3::int - 1) n`,
    [CLIENT, first, count],
  );
}

async function addRequests(count: number): Promise<void> {
  await db.query(
    `insert into sandbox_requests (client_id, at, method, path, status, ms, request_id, application)
     select $1, now(), 'GET', '/payments', 200, 1, 'r', 'a' from generate_series(1, $2::int)`,
    [CLIENT, count],
  );
}

test('a step of a file reads the rows that it takes', async () => {
  const { read } = await readByPrepared(db, 'mass_payment_rows', { name: 'rows_of_step', values: rowsOfStep.values });
  assert.ok(read <= STEP + 1, `${read} rows`);
});

test('payees join the trades that they are paid from, and no other trade is read', async () => {
  await db.query('delete from trade_beneficiaries where client_id = $1', [CLIENT]);
  const { read } = await readByPrepared(db, 'trades', { name: 'joining', values: joining.values });
  assert.ok(read <= STEP, `${read} rows`);
});

test('old requests of a sandbox are found without a look-up for each request', async () => {
  const { read } = await readByPrepared(db, 'sandbox_requests', { name: 'clearing', values: [[CLIENT], KEPT] });
  assert.ok(read <= 3 * KEPT, `${read} rows`);
  const { rows } = await db.query('select count(*)::int as n from sandbox_requests where client_id = $1', [CLIENT]);
  assert.equal(rows[0].n, KEPT);
});
