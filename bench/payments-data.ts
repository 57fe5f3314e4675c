import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '../src/database/migrate.ts';
import { startEmbedded } from '../src/embedded/postgres.ts';
import { createLog } from '../src/process/log.ts';
import { sha256 } from '../src/values/crypto.ts';

/**
 * The database of the payment benches: clients over three years. One has a large part of all payments, one a thousandth of that part, and
 * the others have equal shares. It is made by SQL from the row number alone, so that it is the same everywhere. Between runs it is kept in
 * the temporary directory (or LOMBARD_BENCH_DIR).
 */

export const BIG = 'CLI-BIG';
export const SMALL = 'CLI-SMALL';
export const VIEWER = 'CON-BENCH';
/** The total of payments, a multiple of 3,000. LOMBARD_BENCH_PAYMENTS reduces it for a quicker run. */
export const PAYMENTS = Number(process.env.LOMBARD_BENCH_PAYMENTS ?? 3_000_000);
export const FIRST_DAY = '2023-11-01';
const DAYS = 1_096;
const BATCH_ROWS = 500_000;
/** Connections that fill the database at the same time. */
const FILLERS = 2;
/** Memory of each connection for sorting and grouping. */
const FILL_MEMORY = '512MB';
/** Deltas that one statement rolls up; it sorts them in memory. */
const ROLL_UP_ROWS = 2_000_000;
/** What the trigger would count. */
const COUNTED = `insert into payment_total_deltas
  select client_id, phase, payment_currency, (created at time zone 'Europe/London')::date, payment_date, payment_amount_bucket(amount),
    beneficiary_id, contact_id, count(*), sum(amount)
  from made group by 1, 2, 3, 4, 5, 6, 7, 8`;

/** Who has the payments of a database. */
export interface Population {
  /** The total, a multiple of 1,000 times the second number of `big`. */
  payments: number;
  /** The share of the big client, as a fraction. */
  big: [numerator: number, denominator: number];
  /** The number of clients besides the big and the small one. */
  others: number;
}

/** What the search and service benches use. */
const THIRD: Population = { payments: PAYMENTS, big: [1, 3], others: 498 };

export const log = createLog('warn', false);

export interface BenchDatabase {
  url: string;
  stop(): Promise<void>;
}

/** Starts the database of the benches, filled. */
export async function benchDatabase(population = THIRD): Promise<BenchDatabase> {
  const { payments, others } = population;
  const name = population === THIRD ? `lombard-bench-${payments}` : `lombard-bench-${payments}-${others}`;
  const folder = join(process.env.LOMBARD_BENCH_DIR ?? tmpdir(), name);
  const dataDir = join(folder, 'database');
  const marker = join(folder, 'filled');
  const wanted = await schema(population);
  const filled = (await readFile(marker, 'utf8').catch(() => '')) === wanted;
  if (!filled) await rm(dataDir, { recursive: true, force: true });
  // 0711: the server runs as another user when this one is root.
  await mkdir(folder, { recursive: true, mode: 0o711 });
  if (!filled) {
    // Anything that a crash would lose is made again.
    const database = await startEmbedded({ dataDir, log, durable: false });
    try {
      await migrate(database.url, log);
      await fill(database.url, population);
    } finally {
      await database.stop();
    }
    await writeFile(marker, wanted);
  }
  return startEmbedded({ dataDir, log });
}

/** Identifies what the database was made from: a different schema needs a different database. */
async function schema(population: Population): Promise<string> {
  const folder = new URL('../migrations/', import.meta.url);
  const files = (await readdir(folder)).sort();
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, folder), 'utf8')));
  return sha256(`${JSON.stringify(population)} ${texts.join('')}`).toString('hex');
}

/** Fills a migrated database of one cell. */
export async function fill(url: string, population: Population): Promise<void> {
  const { payments } = population;
  const clients = await Promise.all(Array.from({ length: FILLERS }, () => connect(url)));
  const [client] = clients as [pg.Client];
  await people(client, population);
  const { rows: indexes } = await client.query<{ name: string; indexdef: string }>(
    `select indexname as name, indexdef from pg_indexes where tablename = 'payments' and indexname not in
    (select conname from pg_constraint where conrelid = 'payments'::regclass)`,
  );
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  // Random values would be scattered over the index.
  await client.query('alter table payments drop constraint payments_uuid_key');
  const batches = Array.from({ length: Math.ceil(payments / BATCH_ROWS) }, (_, n) => n * BATCH_ROWS + 1);
  await inTurn(clients, batches, async (each, from) => {
    const to = Math.min(payments, from + BATCH_ROWS - 1);
    const secondsEach = (DAYS * 86_400) / payments;
    const values = [BIG, SMALL, VIEWER, `${FIRST_DAY}T00:00:00Z`, secondsEach, from, to];
    await each.query(`with made as (${paymentsStatement(population)} returning *) ${COUNTED}`, values);
    // Only one connection at a time may roll up.
    if (each === client) await rollUp(client);
    progress(`${to} payments`);
  });
  await rollUp(client);
  await inTurn(clients, [...DEPENDENTS, ...indexes.map(({ indexdef }) => indexdef)], async (each, statement) => {
    await each.query(statement);
    progress(statement.slice(0, 60));
  });
  await client.query('select roll_up_payment_approver_totals(2000000000)');
  await client.query('alter table payments add constraint payments_uuid_key unique using index payments_uuid_key');
  await client.query('vacuum (analyze)');
  await Promise.all(clients.map((each) => each.end()));
  progress('filled\n');
}

async function rollUp(client: pg.Client): Promise<void> {
  for (let rows = ROLL_UP_ROWS; rows >= ROLL_UP_ROWS; ) {
    const result = await client.query<{ rows: number }>('select roll_up_payment_totals($1) as rows', [ROLL_UP_ROWS]);
    rows = result.rows[0]?.rows ?? 0;
  }
}

/** A connection for filling. Foreign keys hold by construction, and indexes are built once at the end. */
async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  // If one connection fails, the server ends, and so do the others. Only the first failure must be reported.
  client.on('error', () => {});
  await client.connect();
  await client.query(
    `set session_replication_role = replica; set work_mem = '${FILL_MEMORY}'; set maintenance_work_mem = '${FILL_MEMORY}'`,
  );
  return client;
}

/** Each connection takes the next piece of work when it has finished one. */
async function inTurn<T>(
  clients: pg.Client[],
  work: T[],
  run: (client: pg.Client, piece: T) => Promise<void>,
): Promise<void> {
  const left = work.values();
  await Promise.all(
    clients.map(async (client) => {
      for (const piece of left) await run(client, piece);
    }),
  );
}

async function people(client: pg.Client, { others }: Population): Promise<void> {
  await client.query(
    `insert into clients (client_id, client_name, status, fx_enabled, mass_payments_customer, authorisation_workflow,
      payment_approvals_enabled, payment_creator_approval_enabled, created_at)
    select id, id, 'enabled', true, false, 'simple', false, false, now()
    from (select $1 as id union all select $2 union all select 'CLI' || n from generate_series(0, $3::int - 1) n) c`,
    [BIG, SMALL, others],
  );
  await client.query(
    `insert into contacts (contact_id, name, email, second_factor, trusted_access, created_at)
    values ($1, 'Bench', 'bench@example.com', 'none', false, now())`,
    [VIEWER],
  );
  await client.query('insert into contact_clients select client_id, $1, true, true, true, true, true from clients', [
    VIEWER,
  ]);
}

function progress(what: string): void {
  process.stderr.write(`\r${what}        `);
}

/** What payments refer to, what depends on them, and the index that is not made first. */
const DEPENDENTS = [
  `insert into beneficiaries (beneficiary_id, client_id, beneficiary_name, iban, swift_code, active, authorised, blocked, completed,
      verified, created_at)
    select beneficiary_id, min(client_id), 'Beneficiary ' || beneficiary_id, 'DE89370400440532013000', 'COBADEFFXXX', true, true, false, true,
      true, now() from payments group by beneficiary_id`,
  `insert into trades (trade_id, client_id, contact_id, status, trade_type, rate_symbol, rate, buy_currency, sell_currency, buy_amount,
      sell_amount, order_date, synthetic, created_at)
    select trade_id, min(client_id), min(contact_id), 'Created', 'spot', 'GBPEUR', 1.17, 'EUR', 'GBP', 117, 100, min(payment_date), false,
      min(created) from payments group by trade_id`,
  'insert into trade_beneficiaries select distinct client_id, trade_id, beneficiary_id from payments',
  `insert into payment_approvers (client_id, contact_id, payment_id, created, payment_date, may_authorise, may_reject)
    select client_id, contact_id, id, created, payment_date, id / 3 % 2 = 0, true from payments where phase = 1`,
  `insert into payment_approvals (payment_id, client_id, requirement, authorisations, remaining, status)
    select id, client_id, '{}', '[]', 1, 'Pending approval' from payments where phase = 1`,
  `insert into payment_approver_deltas
    select client_id, contact_id, payment_date, payment_currency, count(*), sum(amount) from payments
    where phase = 1 and id / 3 % 2 = 0 group by 1, 2, 3, 4`,
  'create unique index payments_uuid_key on payments (uuid)',
];

/** Takes the clients in turn, so that each client's payments are scattered over the table, as if all worked at once. */
function paymentsStatement({ payments, big: [numerator, denominator], others }: Population): string {
  const small = denominator * 1_000;
  const ofOthers = denominator - numerator;
  return `insert into payments (client_id, payment_id, contact_id, trade_id, beneficiary_id, uuid, scheme, amount, payment_currency,
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
      case when i % ${denominator} < ${numerator} then $1 when i % ${small} = ${numerator} then $2
        else 'CLI' || (i / ${denominator}) % ${others} end as client,
      case when i % ${denominator} < ${numerator} then i / ${denominator} * ${numerator} + i % ${denominator}
        when i % ${small} = ${numerator} then i / ${small}
        else i / ${denominator} * ${ofOthers} / ${others} end as nth,
      case when i % ${denominator} < ${numerator} then ${(payments / denominator) * numerator}
        when i % ${small} = ${numerator} then ${payments / small}
        else ${Math.floor(((payments / denominator) * ofOthers) / others)} end as total
    from generate_series($6::int, $7::int) i) as numbered`;
}
