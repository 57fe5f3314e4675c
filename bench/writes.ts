/**
 * Writes while the totals are maintained, compared with the same writes without totals. Payments are inserted singly and in batches, and
 * moved to another status, by several connections, while the roll-up runs once a second. `npm run bench -- writes`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from '../src/database/database.ts';
import { migrate } from '../src/database/migrate.ts';
import { createPool } from '../src/database/pools.ts';
import { startEmbedded } from '../src/embedded/postgres.ts';
import { rollUpTotals } from '../src/payments/search/totals.ts';
import { log } from './payments-data.ts';

const CONNECTIONS = 4;
/** Milliseconds of a measurement. */
const RUN = Number(process.env.LOMBARD_BENCH_MS ?? 4_000);
const ROUNDS = 5;
/** As in the service (src/service.ts). */
const ROLL_UP_INTERVAL_MS = 1_000;
const CLIENTS = 200;
/** Payments before the first measurement. */
const PAYMENTS = 200_000;

const TRIGGERS = ['payments_count_inserted', 'payments_count_updated', 'payments_count_deleted'];

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lombard-bench-writes-'));
  // 0711: the server runs as another user when this one is root.
  const database = await startEmbedded({ dataDir: join(folder, 'data'), log });
  try {
    await migrate(database.socketUrl, log);
    const pool = createPool(database.socketUrl, log, { max: CONNECTIONS, background: true });
    const background = createPool(database.socketUrl, log, { max: 1, background: true });
    await prepare(pool);
    await rollUpTotals(background);
    print('| writes | without totals /s | with totals /s | ratio (median of the rounds) |');
    print('|---|---|---|---|');
    for (const [name, rows, text] of WRITES) {
      const rates: Record<string, number[]> = { enable: [], disable: [] };
      await measure(pool, name, text, RUN / 4);
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const kept of round % 2 ? ['enable', 'disable'] : ['disable', 'enable']) {
          for (const trigger of TRIGGERS) await pool.query(`alter table payments ${kept} trigger ${trigger}`);
          const timer =
            kept === 'enable' ? setInterval(() => void rollUpTotals(background), ROLL_UP_INTERVAL_MS) : undefined;
          rates[kept]?.push(rows * (await measure(pool, name, text, RUN)));
          clearInterval(timer);
          await rollUpTotals(background);
        }
      }
      const [without, kept] = [rates.disable as number[], rates.enable as number[]];
      const ratio = median(kept.map((rate, n) => rate / (without[n] as number)));
      print(
        `| ${name} | ${median(without).toFixed(0)} | ${median(kept).toFixed(0)} | ${ratio.toFixed(2)} (at least 0.8) |`,
      );
    }
    await pool.end();
    await background.end();
  } finally {
    await database.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const insert = (
  rows: number,
) => `insert into payments (client_id, payment_id, contact_id, trade_id, beneficiary_id, uuid, scheme, amount,
    payment_currency, reference, status, invoice_required, ordered_by_name, beneficiary_name, created, payment_date, authorisation_workflow)
  select 'CLI' || c, 'PAY' || nextval('payment_numbers'), 'CON', 'TRD' || c, 'BEN' || c, gen_random_uuid(), 'SWIFT',
    round((random() * 100000)::numeric, 2), (array['EUR','USD','GBP','SEK'])[1 + floor(random() * 4)::int], 'Invoice ' || floor(random() * 1e6),
    'Validating beneficiary information', false, 'Bench Contact', 'Bench Payee', now(), current_date + floor(random() * 5)::int, 'simple'
  from (select floor(random() * ${CLIENTS})::int as c from generate_series(1, ${rows})) as given`;

const WRITES: [name: string, rows: number, text: string][] = [
  ['payments inserted one by one', 1, insert(1)],
  ['payments inserted, 500 in a statement', 500, insert(500)],
  [
    'payments moved to another status',
    1,
    `update payments set status = case when phase = 2 then 'Payment complete' else 'Executing Payment' end::payment_status
     where id = (select floor(random() * ${PAYMENTS})::bigint + 1)`,
  ],
];

async function prepare(pool: Pool): Promise<void> {
  await pool.query(`insert into clients (client_id, client_name, status, fx_enabled, mass_payments_customer, authorisation_workflow,
      payment_approvals_enabled, payment_creator_approval_enabled, created_at)
    select 'CLI' || c, 'x', 'enabled', true, false, 'simple', false, false, now() from generate_series(0, ${CLIENTS - 1}) c`);
  await pool.query(`insert into contacts (contact_id, name, email, second_factor, trusted_access, created_at)
    values ('CON', 'x', 'x@example.com', 'none', false, now())`);
  await pool.query(`insert into beneficiaries (beneficiary_id, client_id, beneficiary_name, active, authorised, blocked, completed, verified, created_at)
    select 'BEN' || c, 'CLI' || c, 'x', true, true, false, true, true, now() from generate_series(0, ${CLIENTS - 1}) c`);
  await pool.query(`insert into trades (trade_id, client_id, contact_id, status, trade_type, rate_symbol, rate, buy_currency, sell_currency, buy_amount,
      sell_amount, order_date, synthetic, created_at)
    select 'TRD' || c, 'CLI' || c, 'CON', 'Created', 'spot', 'GBPEUR', 1.17, 'EUR', 'GBP', 117, 100, current_date, false, now()
    from generate_series(0, ${CLIENTS - 1}) c`);
  await pool.query(insert(PAYMENTS));
  await pool.query('vacuum (analyze) payments');
}

/** Statements per second, each in its own transaction. */
async function measure(pool: Pool, name: string, text: string, duration: number): Promise<number> {
  const began = performance.now();
  let count = 0;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (performance.now() - began < duration) {
        await pool.query({ name, text });
        count += 1;
      }
    }),
  );
  return count / ((performance.now() - began) / 1_000);
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
