/**
 * POST /imports/payments, compared with its floor and with itself without the change feed. The floor is a bare COPY of the same rows into
 * the same table, with all indexes, foreign keys and totals. Each run starts with an empty table. `npm run bench -- imports [rows]`;
 * docs/performance-imports.md has the numbers.
 */
import { once } from 'node:events';
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { callOperator } from '../src/cli/operator-call.ts';
import { LOCKS } from '../src/database/locks.ts';
import { migrate } from '../src/database/migrate.ts';
import { startEmbedded } from '../src/embedded/postgres.ts';
import type { ImportAnswer } from '../src/imports/import.ts';
import { createLog } from '../src/process/log.ts';
import { Seeded } from '../src/sandbox/demonstration/seeded.ts';
import { memory, processorSeconds } from './feed/processor-time.ts';
import { type FedService, median, serverClock, startFedService, TOKEN } from './feed/service.ts';

const ROUNDS = 3;
const CLIENTS = 100;
const TRADES_OF_CLIENT = 20;
const BENEFICIARIES_OF_CLIENT = 100;
const CURRENCIES = ['EUR', 'USD', 'GBP', 'JPY', 'CHF', 'AUD', 'SEK', 'PLN'];
const STATUSES = [
  'Payment complete',
  'Payment complete',
  'Payment complete',
  'Payment complete',
  'Executing Payment',
  'Waiting for payment date',
  'Payment rejected',
  'Validating beneficiary information',
];
const COLUMNS = `client_id, payment_id, contact_id, trade_id, beneficiary_id, uuid, scheme, amount, payment_currency, reference, status, charges,
  invoice_required, ordered_by_name, beneficiary_name, created, payment_date, sent_date, authorisation_workflow`;

export async function run(args: string[]): Promise<void> {
  const rows = Number(args[0] ?? 1_000_000);
  const folder = await mkdtemp(join(tmpdir(), 'lombard-bench-imports-'));
  const database = await startEmbedded({ dataDir: folder, log: createLog('warn', false) });
  const client = new pg.Client({ connectionString: database.url });
  let service: FedService | undefined;
  try {
    await migrate(database.url, createLog('silent', false));
    await client.connect();
    await fillParties(client);
    const [lines, copy] = [join(folder, 'payments.ndjson'), join(folder, 'payments.copy')];
    await writeFiles(rows, lines, copy);
    print(
      `${rows} payments, ${Math.round(statSync(lines).size / 1e6)} MB of NDJSON, ${Math.round(statSync(copy).size / 1e6)} MB as COPY`,
    );
    service = await startFedService(database.url, join(folder, 'data'));
    const idle = memory(service.pid);
    const clock = await serverClock(client);
    const measured: Round[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      await empty(client);
      const database = clock();
      const bare = await timed(async () => {
        await pipeline(
          createReadStream(copy, { highWaterMark: 262_144 }),
          client.query(copyFrom(`copy payments (${COLUMNS}) from stdin`)),
        );
      });
      await expectRows(client, rows);
      print(
        `round ${round}: bare COPY ${bare.toFixed(1)} s (${perSecond(rows, bare)}), database CPU ${us(clock() - database, rows)}`,
      );
      for (const fed of round % 2 ? [true, false] : [false, true]) {
        await empty(client);
        await service.feed(fed);
        const before = { service: processorSeconds(service.pid), database: clock() };
        const seconds = await timed(() => importOnce(service as FedService, lines, rows));
        await expectRows(client, rows);
        measured.push({ fed, ratio: bare / seconds, seconds });
        print(
          `  import ${fed ? 'with the feed' : 'without it'}: ${seconds.toFixed(1)} s (${perSecond(rows, seconds)}), ratio ${(bare / seconds).toFixed(2)}, ` +
            `CPU a payment: service ${us(processorSeconds(service.pid) - before.service, rows)}, database ${us(clock() - before.database, rows)}, ` +
            `peak memory ${memory(service.pid).peak} MB (idle ${idle.now} MB)`,
        );
      }
    }
    const of = (fed: boolean, value: (round: Round) => number) =>
      median(measured.filter((each) => each.fed === fed).map(value));
    print(
      `median ratio to COPY ${of(true, ({ ratio }) => ratio).toFixed(2)} (at least 0.40), without the feed ${of(false, ({ ratio }) => ratio).toFixed(2)}`,
    );
    print(
      `with the feed, of the rate without it: ${(of(false, ({ seconds }) => seconds) / of(true, ({ seconds }) => seconds)).toFixed(2)} (at least 0.80)`,
    );
  } finally {
    await service?.stop();
    await client.end().catch(() => {});
    await database.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Round {
  fed: boolean;
  ratio: number;
  seconds: number;
}

async function importOnce(service: FedService, lines: string, rows: number): Promise<void> {
  const answer = (await callOperator(
    { url: service.operator, token: TOKEN },
    {
      method: 'POST',
      path: '/imports/payments',
      body: createReadStream(lines, { highWaterMark: 262_144 }),
      headers: { 'content-type': 'application/x-ndjson' },
    },
  )) as ImportAnswer;
  if (answer.accepted !== rows)
    throw new Error(`accepted ${answer.accepted}: ${JSON.stringify(answer.errors.slice(0, 3))}`);
}

/** Processor time per item. */
function us(seconds: number, count: number): string {
  return `${((seconds / count) * 1e6).toFixed(0)} us`;
}

async function fillParties(client: pg.Client): Promise<void> {
  await client.query(
    `insert into clients (client_id, client_name, status, fx_enabled, mass_payments_customer, authorisation_workflow, payment_approvals_enabled,
       payment_creator_approval_enabled, created_at)
     select 'CLI' || n, 'Client ' || n, 'enabled', true, false, 'simple', false, false, now() from generate_series(1, $1) n`,
    [CLIENTS],
  );
  await client.query(
    `insert into contacts (contact_id, name, email, second_factor, trusted_access, created_at)
    select 'CON' || n, 'Contact ' || n, 'c' || n || '@example.com', 'none', false, now() from generate_series(1, $1) n`,
    [CLIENTS],
  );
  await client.query(
    `insert into contact_clients select 'CLI' || n, 'CON' || n, true, true, true, true, true from generate_series(1, $1) n`,
    [CLIENTS],
  );
  await client.query(
    `insert into trades (trade_id, client_id, contact_id, status, trade_type, rate_symbol, rate,
       buy_currency, sell_currency, buy_amount, sell_amount, order_date, synthetic, created_at)
     select 'TRD' || c || '-' || n, 'CLI' || c, 'CON' || c, 'Created', 'spot', 'GBPEUR', 1.17,
       'EUR', 'GBP', 117, 100, now(), false, now()
     from generate_series(1, $1) c, generate_series(1, $2) n`,
    [CLIENTS, TRADES_OF_CLIENT],
  );
  await client.query(
    `insert into beneficiaries (beneficiary_id, client_id, beneficiary_name, active, authorised, blocked, completed, verified, created_at)
     select 'BEN' || c || '-' || n, 'CLI' || c, 'Beneficiary ' || n, true, true, false, true, true, now()
     from generate_series(1, $1) c, generate_series(1, $2) n`,
    [CLIENTS, BENEFICIARIES_OF_CLIENT],
  );
  await client.query('analyze');
}

/** The same payments twice: in the form that a core sends, and in the format of COPY. */
async function writeFiles(rows: number, linesPath: string, copyPath: string): Promise<void> {
  const random = new Seeded(1);
  const [lines, copy] = [createWriteStream(linesPath), createWriteStream(copyPath)];
  const start = Date.parse('2024-01-01T00:00:00Z');
  for (let n = 1; n <= rows; n += 1) {
    const c = random.whole(1, CLIENTS);
    const created = new Date(start + Math.floor((n / rows) * 900 * 86_400_000));
    const status = random.pick(STATUSES);
    const sent =
      status === 'Payment complete' || status === 'Executing Payment'
        ? new Date(created.getTime() + 86_400_000).toISOString()
        : null;
    const payment = {
      client_id: `CLI${c}`,
      payment_id: `P${n}`,
      contact_id: `CON${c}`,
      trade_id: `TRD${c}-${random.whole(1, TRADES_OF_CLIENT)}`,
      beneficiary_id: `BEN${c}-${random.whole(1, BENEFICIARIES_OF_CLIENT)}`,
      uuid: random.uuid(),
      scheme: 'SWIFT',
      amount: `${random.whole(1, 99_999)}.${random.whole(10, 99)}`,
      payment_currency: random.pick(CURRENCIES),
      reference: `Invoice ${random.whole(1, 500_000)}`,
      status,
      charges: 'SHA',
      created_date: created.toISOString(),
      payment_date: new Date(created.getTime() + 2 * 86_400_000).toISOString().slice(0, 10),
      ...(sent ? { sent_date: sent } : {}),
    };
    // The amount as a number with all its digits, as cores write it.
    lines.write(`${JSON.stringify(payment).replace(`"amount":"${payment.amount}"`, `"amount":${payment.amount}`)}\n`);
    const p = payment;
    const ids = [p.client_id, p.payment_id, p.contact_id, p.trade_id, p.beneficiary_id, p.uuid];
    const facts = [
      p.scheme,
      p.amount,
      p.payment_currency,
      p.reference,
      p.status,
      p.charges,
      'f',
      `Contact ${c}`,
      'Payee',
    ];
    const dates = [p.created_date, p.payment_date, sent ?? '\\N'];
    const ready = copy.write(`${[...ids, ...facts, ...dates, 'simple'].join('\t')}\n`);
    if (!ready) await once(copy, 'drain');
    if (lines.writableNeedDrain) await once(lines, 'drain');
  }
  for (const file of [lines, copy]) {
    file.end();
    await once(file, 'close');
  }
}

async function empty(client: pg.Client): Promise<void> {
  // The roll-up takes the tables in another order, so this holds the roll-up's lock meanwhile.
  await client.query('begin');
  await client.query('select pg_advisory_xact_lock($1)', [LOCKS.paymentTotals]);
  await client.query(
    `truncate payments, trade_beneficiaries, payment_approvals, payment_approvers, changes, changes_unpublished, change_tallies,
      change_order, change_versions`,
  );
  await client.query('commit');
  await client.query('checkpoint');
}

async function expectRows(client: pg.Client, rows: number): Promise<void> {
  const { rows: found } = await client.query('select count(*)::int as n from payments');
  if (found[0].n !== rows) throw new Error(`${found[0].n} payments are there, not ${rows}`);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1_000;
}

function perSecond(rows: number, seconds: number): string {
  return `${Math.round(rows / seconds)}/s`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
