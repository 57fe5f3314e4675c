import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { type Pool, transaction } from '../src/database/database.ts';
import { createPool } from '../src/database/pools.ts';
import { requestStatement, STATEMENT_FORMATS } from '../src/statements/request.ts';
import { createDatabase, log } from '../test/world/database.ts';
import { MailServer } from '../test/world/mail-server/mail-server.ts';
import { kill, startProcess } from '../test/world/worker-process.ts';

/**
 * Whole statements, from the request until the mail server accepts them. The worker runs in its own process, whose peak memory is read from
 * the kernel (Linux). `npm run bench -- statements [lines] [format]` prints one JSON object.
 */

/** Small statements requested at once. */
const MANY = 500;

export async function run([given, only]: string[]): Promise<void> {
  const lines = Number(given ?? 100_000);
  const database = await createDatabase();
  const pool = createPool(database.url, log, { max: 2, background: true });
  const mails = await MailServer.start();
  const workers: ChildProcess[] = [];
  const dataDir = mkdtempSync(join(tmpdir(), 'lombard-bench-statements-'));
  const begin = async () => {
    const worker = await startProcess('mail-server/statement-worker.ts', [
      database.url,
      dataDir,
      `smtp://127.0.0.1:${mails.port}`,
    ]);
    workers.push(worker);
    return worker;
  };
  const result: Record<string, unknown> = { lines };
  try {
    await prepare(pool, lines);
    for (const format of STATEMENT_FORMATS.filter((each) => only === undefined || each === only)) {
      const worker = await begin();
      const seconds = await timed(pool, () => ask(pool, 'LONG', format));
      result[format] = {
        seconds: Number(seconds.toFixed(2)),
        lines_per_second: Math.round(lines / seconds),
        mail_megabytes: Math.round(Math.max(...mails.mails().map(({ text }) => text.length)) / 1e5) / 10,
        worker_peak_mb: peak(worker),
      };
      await kill(worker);
    }
    const worker = await begin();
    const seconds = await timed(pool, async () => {
      for (let index = 0; index < MANY; index += 1) await ask(pool, `C${index % 50}`, 'pdf');
    });
    result.small = { statements: MANY, per_second: Math.round(MANY / seconds), worker_peak_mb: peak(worker) };
    await kill(worker);
  } finally {
    for (const worker of workers) await kill(worker);
    await mails.stop();
    await pool.end();
    await database.drop();
    rmSync(dataDir, { recursive: true, force: true });
  }
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
}

async function prepare(pool: Pool, lines: number): Promise<void> {
  await pool.query(
    `insert into clients (client_id, client_name, status, fx_enabled, mass_payments_customer, authorisation_workflow, payment_approvals_enabled,
       payment_creator_approval_enabled, created_at)
     select id, id, 'enabled', true, false, 'simple', false, false, now() from (select 'LONG' as id union all select 'C' || n from generate_series(0, 49) n) c`,
  );
  await pool.query(
    `insert into contacts (contact_id, name, email, second_factor, trusted_access, created_at)
     values ('CON', 'Bench', 'bench@example.com', 'none', false, now())`,
  );
  await pool.query(
    `insert into currency_accounts (client_id, currency, created_at) select client_id, 'EUR', now() from clients`,
  );
  await pool.query(
    `insert into transactions (client_id, currency_account_id, transaction_id, kind, amount, currency, balance_after, booking_datetime, value_datetime,
       transaction_reference, transaction_information, debtor_name, debtor_account, created_at)
     select a.client_id, a.account_id, a.client_id || '-' || n, 'CREDIT_INCOMING_TRANSACTION', 12.34, 'EUR', 12.34 * n,
       '2026-01-01'::timestamptz + n * interval '1 minute', '2026-01-01'::timestamptz + n * interval '1 minute', 'INV-2026-' || n,
       'Invoice ' || n || ' of the spring delivery', 'Müller & Söhne Großhandel GmbH',
       '{"account_name":null,"account_number":null,"bank_identifier":null,"bank_identifier_code":null,
         "iban":"DE89370400440532013000","swift":"COBADEFFXXX"}', now()
     from currency_accounts a, lateral generate_series(1, case when a.client_id = 'LONG' then $1::int else 20 end) n`,
    [lines],
  );
  await pool.query('analyze');
}

function ask(pool: Pool, clientId: string, format: 'pdf' | 'csv' | 'camt.053'): Promise<unknown> {
  const act = { now: new Date(), actor: 'bench', requestId: 'bench' };
  const input = { date_from: '2026-01-01', date_to: '2026-12-31', format };
  return transaction(pool, (tx) => requestStatement(tx, act, { clientId, contactId: 'CON' }, input, { maxDays: 366 }));
}

/** Seconds from the first request to the last delivery. */
async function timed(pool: Pool, request: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await request();
  for (;;) {
    const { rows } = await pool.query(
      `select count(*) filter (where status in ('failed', 'retrying')) as bad, count(*) filter (where status <> 'sent') as left,
         max(last_error) as reason from statement_deliveries`,
    );
    if (rows[0].bad > 0) throw new Error(rows[0].reason);
    if (rows[0].left === 0) return (performance.now() - start) / 1_000;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The peak memory of the process, in megabytes. */
function peak(child: ChildProcess): number | null {
  if (process.platform !== 'linux') return null;
  return Math.round(Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1_024);
}
