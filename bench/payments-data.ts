import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { sha256 } from '../src/crypto.ts';
import { startEmbedded } from '../src/embedded/postgres.ts';
import { createLog } from '../src/log.ts';
import { migrate } from '../src/migrate.ts';

/**
 * The database of the payment benches: 500 clients over three years, one with a third of all payments, one with exactly a
 * three-thousandth, the rest alike. Made by SQL from the row number alone, so that it is the same everywhere; kept in the
 * temporary directory (or LOMBARD_BENCH_DIR) between runs.
 */

export const BIG = 'CLI-BIG';
export const SMALL = 'CLI-SMALL';
export const VIEWER = 'CON-BENCH';
/** Payments in all; LOMBARD_BENCH_PAYMENTS for a quicker look. A multiple of 3,000. */
export const PAYMENTS = Number(process.env.LOMBARD_BENCH_PAYMENTS ?? 3_000_000);
export const FIRST_DAY = '2023-11-01';
const DAYS = 1_096;
const BATCH = 250_000;

export const log = createLog('warn', false);

export interface BenchDatabase {
  url: string;
  stop(): Promise<void>;
}

/** Starts the database of the benches, filled. */
export async function benchDatabase(): Promise<BenchDatabase> {
  const folder = process.env.LOMBARD_BENCH_DIR ?? join(tmpdir(), `lombard-bench-${PAYMENTS}`);
  const dataDir = join(folder, 'database');
  const marker = join(folder, 'filled');
  const wanted = await schema();
  const filled = (await readFile(marker, 'utf8').catch(() => '')) === wanted;
  if (!filled) await rm(dataDir, { recursive: true, force: true });
  // 0711: the server runs as another user when this one is root.
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const database = await startEmbedded({ dataDir, log });
  try {
    if (!filled) {
      await migrate(database.url, log);
      await fill(database.url);
      await writeFile(marker, wanted);
    }
    return database;
  } catch (error) {
    await database.stop();
    throw error;
  }
}

/** What the database was made from: another schema is another database. */
async function schema(): Promise<string> {
  const folder = new URL('../migrations/', import.meta.url);
  const files = (await readdir(folder)).sort();
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, folder), 'utf8')));
  return sha256(`${PAYMENTS} ${texts.join('')}`).toString('hex');
}

async function fill(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const run = (text: string, values: unknown[] = []) => client.query(text, values);
  // Foreign keys hold by construction; indexes are built once, afterwards; the totals are made in one go.
  await run('set session_replication_role = replica');
  await run("set maintenance_work_mem = '512MB'");
  await run('set synchronous_commit = off');
  await run(
    `insert into clients (client_id, client_name, status, fx_enabled, mass_payments_customer, authorisation_workflow,
      payment_approvals_enabled, payment_creator_approval_enabled, created_at)
    select id, id, 'enabled', true, false, 'simple', false, false, now()
    from (select $1 as id union all select $2 union all select 'CLI' || n from generate_series(0, 497) n) c`,
    [BIG, SMALL],
  );
  await run(
    `insert into contacts (contact_id, name, email, second_factor, trusted_access, created_at)
    values ($1, 'Bench', 'bench@example.com', 'none', false, now())`,
    [VIEWER],
  );
  await run('insert into contact_clients select client_id, $1, true, true, true, true, true from clients', [VIEWER]);
  const { rows: indexes } = await run(`select indexdef from pg_indexes where tablename = 'payments' and indexname not in
    (select conname from pg_constraint where conrelid = 'payments'::regclass)`);
  for (const { name } of (
    await run(`select indexname as name from pg_indexes where tablename = 'payments' and indexname not in
    (select conname from pg_constraint where conrelid = 'payments'::regclass)`)
  ).rows)
    await run(`drop index ${name}`);
  for (let from = 1; from <= PAYMENTS; from += BATCH) {
    await run(PAYMENTS_SQL, [
      BIG,
      SMALL,
      VIEWER,
      `${FIRST_DAY}T00:00:00Z`,
      (DAYS * 86_400) / PAYMENTS,
      from,
      Math.min(PAYMENTS, from + BATCH - 1),
    ]);
    process.stderr.write(`\r${Math.min(PAYMENTS, from + BATCH - 1)} payments`);
  }
  await run(`insert into beneficiaries (beneficiary_id, client_id, beneficiary_name, iban, swift_code, active, authorised, blocked, completed,
      verified, created_at)
    select distinct on (beneficiary_id) beneficiary_id, client_id, 'Beneficiary ' || beneficiary_id, 'DE89370400440532013000', 'COBADEFFXXX',
      true, true, false, true, true, now() from payments`);
  await run(`insert into trades (trade_id, client_id, contact_id, status, trade_type, rate_symbol, rate, buy_currency, sell_currency, buy_amount,
      sell_amount, order_date, synthetic, created_at)
    select distinct on (trade_id) trade_id, client_id, contact_id, 'Created', 'spot', 'GBPEUR', 1.17, 'EUR', 'GBP', 117, 100, payment_date, false,
      created from payments`);
  for (const { indexdef } of indexes) await run(indexdef);
  await run(`insert into payment_total_deltas
    select client_id, phase, payment_currency, (created at time zone 'Europe/London')::date, payment_date, payment_amount_bucket(amount),
      beneficiary_id, contact_id, count(*), sum(amount)
    from payments group by 1, 2, 3, 4, 5, 6, 7, 8`);
  await run('select roll_up_payment_totals(2000000000)');
  await run(`insert into payment_approvers (client_id, contact_id, payment_id, created, payment_date, may_authorise, may_reject)
    select client_id, contact_id, id, created, payment_date, id / 3 % 2 = 0, true from payments where phase = 1`);
  await run(`insert into payment_approvals (payment_id, client_id, requirement, authorisations, remaining, status)
    select id, client_id, '{}', '[]', 1, 'Pending approval' from payments where phase = 1`);
  await run(`insert into payment_approver_deltas
    select a.client_id, a.contact_id, a.payment_date, p.payment_currency, count(*), sum(p.amount)
    from payment_approvers a join payments p on p.id = a.payment_id where a.may_authorise group by 1, 2, 3, 4`);
  await run('select roll_up_payment_approver_totals(2000000000)');
  await run('vacuum (analyze)');
  await client.end();
  process.stderr.write('\n');
}

/** Clients in turn, so that each client's payments lie scattered over the table, as they do where all of them work at once. */
const PAYMENTS_SQL = `insert into payments (client_id, payment_id, contact_id, trade_id, beneficiary_id, uuid, scheme, amount, payment_currency,
    reference, status, invoice_required, ordered_by_name, beneficiary_name, created, payment_date, authorisation_workflow, sent_date)
  select client, 'PAY' || i, $3, 'TRD-' || client || '-' || nth / 4, 'BEN-' || client || '-' || abs(hashint4(i)) % greatest(1, total / 40),
    gen_random_uuid(), case when i % 2 = 0 then 'SWIFT' else 'SEPA' end,
    round((exp(2 + 8 * (abs(hashint4(i + 1)) % 1000000) / 1000000.0))::numeric, 2),
    (array['EUR','EUR','EUR','EUR','EUR','EUR','USD','USD','USD','USD','GBP','GBP','GBP','CHF','CHF','SEK','NOK','PLN','CZK','JPY','CAD','AUD'])
      [1 + abs(hashint4(i + 2)) % 22],
    'Invoice ' || nth / 3,
    (array['Payment complete','Payment complete','Payment complete','Payment complete','Payment complete','Payment pending of authorization',
      'Validating beneficiary information','Waiting for payment date','Payment rejected','Payment cancelled']::payment_status[])
      [1 + abs(hashint4(i + 3)) % 10],
    false, 'Bench Contact', 'Bench Payee', created, (created + (abs(hashint4(i + 4)) % 30) * interval '1 day')::date, 'simple', created
  from (select i, $4::timestamptz + i * $5::float8 * interval '1 second' as created,
      case when i % 3 = 0 then $1 when i % 3000 = 1 then $2 else 'CLI' || (i / 3) % 498 end as client,
      case when i % 3 = 0 then i / 3 when i % 3000 = 1 then i / 3000 else i / 747 end as nth,
      case when i % 3 = 0 then ${PAYMENTS / 3} when i % 3000 = 1 then ${PAYMENTS / 3000} else ${Math.floor(PAYMENTS / 747)} end as total
    from generate_series($6::int, $7::int) i) as numbered`;
