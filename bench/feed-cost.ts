/**
 * The cost of the change feed for single writes. Callers create payments, validate them and book transactions over HTTP, with the feed on
 * and off in turn. `npm run bench -- feed-cost [pairs]`; docs/performance.md has the numbers.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '../src/database/migrate.ts';
import { startEmbedded } from '../src/embedded/postgres.ts';
import { createLog } from '../src/process/log.ts';
import { processorSeconds } from './feed/processor-time.ts';
import { type FedService, median, serverClock, startFedService, TOKEN } from './feed/service.ts';

const CALLERS = 4;
const PAIRS = 8;
const SLICE_MS = 4_000;
const LEAST_RATIO = 0.85;

type Body = Record<string, unknown>;

/** A period with or without the feed. */
interface Slice {
  fed: boolean;
  perSecond: number;
  /** Microseconds per write. */
  service: number;
  database: number;
}

export async function run(args: string[]): Promise<void> {
  const pairs = Number(args[0] ?? PAIRS);
  const folder = await mkdtemp(join(tmpdir(), 'lombard-bench-feed-cost-'));
  const log = createLog('warn', false);
  const database = await startEmbedded({ dataDir: folder, log });
  const client = new pg.Client({ connectionString: database.url });
  let service: FedService | undefined;
  try {
    await migrate(database.url, log);
    await client.connect();
    service = await startFedService(database.url, join(folder, 'data'));
    const clock = await serverClock(client);
    const write = await prepare(service);
    await slice(service, write, { fed: true, clock });
    const slices: Slice[] = [];
    for (let pair = 0; pair < pairs; pair += 1) {
      for (const fed of pair % 2 ? [false, true] : [true, false]) {
        slices.push(await slice(service, write, { fed, clock }));
      }
    }
    report(slices);
  } finally {
    await service?.stop();
    await client.end().catch(() => {});
    await database.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** @returns a function that creates, moves and books once: three writes */
async function prepare(service: FedService): Promise<() => Promise<void>> {
  const post = async (path: string, body: Body): Promise<Body> => {
    const answer = await fetch(`${service.operator}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()) as Body;
  };
  const { client_id } = await post('/clients', { client_name: 'Bench' });
  const person = { name: 'Bench', email: 'bench@example.com', clients: [{ client_id }] };
  const { contact_id } = await post('/contacts', person);
  const payee = { client_id, beneficiary_name: 'B', iban: 'DE89370400440532013000' };
  const { beneficiary_id } = await post('/beneficiaries', payee);
  const deal = { buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: 1_000, rate: 1.17 };
  const { trade_id } = await post('/trades', { client_id, contact_id, ...deal });
  const accounts: unknown[] = [];
  // One account per caller, because bookings of one account wait for each other.
  for (const currency of ['EUR', 'GBP', 'USD', 'CHF'])
    accounts.push({ currency, ...(await post('/currency-accounts', { client_id, currency })) });
  const payment = { client_id, contact_id, beneficiary_id, trade_id, amount: 10, payment_currency: 'EUR' };
  let count = 0;
  return async () => {
    const { account_id, currency } = accounts[count++ % accounts.length] as Body;
    const { payment_id } = await post('/payments', { ...payment, payment_date: '2030-01-02' });
    await post(`/payments/${payment_id}/actions`, { action: 'validate' });
    const amount = { amount: '1.00', currency };
    await post('/transactions', { client_id, currency_account_id: account_id, kind: 'CREDIT_TRANSACTION', amount });
  };
}

async function slice(
  service: FedService,
  write: () => Promise<void>,
  { fed, clock }: { fed: boolean; clock: () => number },
): Promise<Slice> {
  await service.feed(fed);
  const before = { service: processorSeconds(service.pid), database: clock() };
  const began = performance.now();
  let writes = 0;
  const caller = async () => {
    while (performance.now() - began < SLICE_MS) {
      await write();
      writes += 3;
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  const us = (seconds: number) => (seconds * 1e6) / writes;
  return {
    fed,
    perSecond: writes / ((performance.now() - began) / 1_000),
    service: us(processorSeconds(service.pid) - before.service),
    database: us(clock() - before.database),
  };
}

function report(slices: readonly Slice[]): void {
  print('| | writes a second | service CPU a write, us | PostgreSQL CPU a write, us |');
  print('|---|---|---|---|');
  const of = (fed: boolean, value: (slice: Slice) => number) =>
    median(slices.filter((each) => each.fed === fed).map(value));
  for (const fed of [false, true]) {
    const [rate, service, database] = [
      of(fed, ({ perSecond }) => perSecond),
      of(fed, (each) => each.service),
      of(fed, (each) => each.database),
    ].map(Math.round);
    print(`| ${fed ? 'with the feed' : 'without it'} | ${rate} | ${service} | ${database} |`);
  }
  const rates = of(true, ({ perSecond }) => perSecond) / of(false, ({ perSecond }) => perSecond);
  const cost = (each: Slice) => each.service + each.database;
  print(`rate with the feed, of the rate without it: ${rates.toFixed(2)} (at least ${LEAST_RATIO})`);
  print(`the same by CPU time: ${(of(false, cost) / of(true, cost)).toFixed(2)}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
