/**
 * Files of payments: the time from POST to Created, and the time of a read meanwhile and before. The cost per payment is compared with that
 * of a payment created by the institution. `npm run bench -- files [rows] [rounds] [apart]`, where `apart` runs background work in a
 * separate process; docs/performance-orders.md has the numbers.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { memory } from './feed/processor-time.ts';
import { type Clocks, measure } from './load/lanes.ts';
import { CLIENT, type Ordering, startOrdering } from './load/ordering.ts';

const ROWS = 5_000;
const ROUNDS = 3;
/** The number of lanes on which the institution creates payments, and for how long. */
const LANES = 16;
const SECONDS = 5;
/** Rows of the warm-up file. */
const FEW = 300;
/** Milliseconds between two looks at how far a file is. */
const LOOK_MS = 100;
/** Another client, which reads a page of its payments all the time: its name, its payments, and the milliseconds between two reads. */
const READER = 'READER';
const READER_PAYMENTS = 200;
const READ_MS = 10;
/** Files of each kind in a round, so that a p99 has some thousand reads. */
const FILES = 3;
/** Seconds of reads without a file. */
const ALONE_SECONDS = 15;
const PAYMENT_DATE = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10);
const INSTRUCTION = { direction: 'buy', trade_type: 'spot', payment_currency: 'EUR' };
const BANK = '370400440';

/** The source of funds of a file, and the payee of its rows. */
interface Kind {
  name: string;
  source: object;
  payee: (n: number) => object;
}

/** The measurements of one or more files. */
interface Made {
  /** Seconds from the POST of the first file until it was answered, judged and executed. */
  moments: number[];
  /** Milliseconds of processor time. */
  program: number;
  server: number;
}

/** What another client's reads took. */
interface Reads {
  /** Milliseconds of each. */
  times: number[];
  program: number;
  server: number;
}

export async function run([rows = `${ROWS}`, rounds = `${ROUNDS}`, apart]: string[]): Promise<void> {
  const ordering = await startOrdering({}, apart === 'apart');
  try {
    const { operator, clocks, contactId: contact_id, tradeId: trade_id, beneficiaryId: beneficiary_id, eur } = ordering;
    const payment = { ...{ contact_id, trade_id, beneficiary_id }, payment_currency: 'EUR', amount: 1 };
    const created = { client_id: CLIENT, ...payment, payment_date: PAYMENT_DATE, reference: 'Invoice 42' };
    const create = (seconds: number) =>
      measure({ seconds, lanes: LANES }, clocks, () => operator('POST', '/payments', created) as Promise<void>);
    const account = { sell_currency: 'EUR', funding_account_id: eur, reason: 'other' };
    const known = () => ({ beneficiary_id });
    const kinds: Kind[] = [
      { name: 'from an account', source: account, payee: known },
      { name: 'from an account, to new payees', source: account, payee: newPayee },
      { name: 'with an exchange', source: { sell_currency: 'GBP' }, payee: known },
    ];
    const count = Number(rows);
    const read = await reader(ordering);
    for (const kind of kinds) await make(ordering, FEW, kind);
    await create(1);
    await reads(clocks, read, sleep(SECONDS * 1_000));
    print(
      `| ${count} payments | answered, judged, created s | reads, p50, p99 ms | program ms each | PostgreSQL ms each | ratio | MB at most |`,
    );
    print('|---|---|---|---|---|---|---|');
    for (let round = 0; round < Number(rounds); round += 1) {
      const alone = await create(SECONDS);
      const cost = alone.program + alone.server;
      row('by the institution, one by one', ['', '', ...numbers(alone, cost), peak(ordering)]);
      const idle = await reads(clocks, read, sleep(ALONE_SECONDS * 1_000));
      row('reads without a file', ['', shares(idle.times), '', '', '', peak(ordering)]);
      for (const kind of kinds) {
        const files = makeAll(ordering, count, kind);
        const beside = await reads(clocks, read, files);
        const { moments, program, server } = await files;
        const share = beside.times.length / idle.times.length;
        const each = {
          program: (program - idle.program * share) / (FILES * count),
          server: (server - idle.server * share) / (FILES * count),
        };
        row(kind.name, [
          moments.map((at) => at.toFixed(1)).join(', '),
          shares(beside.times),
          ...numbers(each, cost),
          peak(ordering),
        ]);
      }
    }
  } finally {
    await ordering.stop();
  }
}

let payees = 0;

/** A payee that the client does not have yet. */
function newPayee(): object {
  payees += 1;
  const account = `${BANK}${String(payees).padStart(9, '0')}`;
  // In the check digits, the letters D and E are 13 and 14.
  const check = 98n - (BigInt(`${account}131400`) % 97n);
  return {
    ...{ beneficiary_name: `Payee ${payees}`, beneficiary_country: 'DE', bank_country: 'DE' },
    iban: `DE${String(check).padStart(2, '0')}${account}`,
  };
}

/** Another client with payments. @returns reads a page of them */
async function reader({ operator, as }: Ordering): Promise<() => Promise<unknown>> {
  await operator('POST', '/clients', { client_id: READER, client_name: 'Reader' });
  const { contact_id } = await operator('POST', '/contacts', {
    ...{ name: 'Grace', email: 'grace@example.com', clients: [{ client_id: READER }] },
  });
  const { beneficiary_id } = await operator('POST', '/beneficiaries', {
    ...{ client_id: READER, beneficiary_name: 'Meier GmbH', iban: 'DE89370400440532013000', currency: 'EUR' },
  });
  const deal = { buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: 100_000, rate: 1.17 };
  const { trade_id } = await operator('POST', '/trades', { client_id: READER, contact_id, ...deal });
  const payment = { client_id: READER, contact_id, trade_id, beneficiary_id, payment_currency: 'EUR', amount: 1 };
  for (let n = 0; n < READER_PAYMENTS; n += 1)
    await operator('POST', '/payments', { ...payment, payment_date: PAYMENT_DATE, reference: `Invoice ${n}` });
  const client = await as(READER, contact_id);
  return () => client('GET', '/payments');
}

/** Reads at a steady rate, however long an answer takes, until something has ended. */
async function reads(clocks: Clocks, read: () => Promise<unknown>, end: Promise<unknown>): Promise<Reads> {
  const times: number[] = [];
  const open = new Set<Promise<void>>();
  const [program, server] = [clocks.program(), clocks.server()];
  let failed: unknown;
  const timer = setInterval(() => {
    const start = performance.now();
    const each = read()
      .then(() => void times.push(performance.now() - start))
      .catch((error: unknown) => void (failed ??= error))
      .finally(() => open.delete(each));
    open.add(each);
  }, READ_MS);
  try {
    await end;
  } finally {
    clearInterval(timer);
    await Promise.all(open);
  }
  if (failed !== undefined) throw failed;
  return { times, program: (clocks.program() - program) * 1_000, server: (clocks.server() - server) * 1_000 };
}

/** Makes some files of a kind, one after another. */
async function makeAll(ordering: Ordering, count: number, kind: Kind): Promise<Made> {
  const all: Made[] = [];
  for (let n = 0; n < FILES; n += 1) all.push(await make(ordering, count, kind));
  const sum = (of: (made: Made) => number) => all.reduce((total, made) => total + of(made), 0);
  return { moments: all[0]?.moments ?? [], program: sum((made) => made.program), server: sum((made) => made.server) };
}

/** Sends a file, and looks at it until its payments are created. @throws Error if a row is refused */
async function make({ client, clocks }: Ordering, count: number, { source, payee }: Kind): Promise<Made> {
  const payment_instructions = Array.from({ length: count }, (_, n) => ({
    ...{ ...INSTRUCTION, payment_amount: (100 + n) / 100, payment_reference: `Invoice ${n}` },
    ...payee(n),
  }));
  const file = { external_reference_id: crypto.randomUUID(), auto_commit: true, ...source, payment_instructions };
  const [programBefore, serverBefore] = [clocks.program(), clocks.server()];
  const began = performance.now();
  const passed = () => (performance.now() - began) / 1_000;
  const { mass_payment_id: id } = await client('POST', '/mass-payments', file);
  const moments = [passed()];
  for (let status = ''; status !== 'Created'; ) {
    await sleep(LOOK_MS);
    const { mass_payment_status, payments_summary: counts } = await client('GET', `/mass-payments/${id}`);
    status = mass_payment_status;
    if (counts.payments_errored > 0 || status === 'Failed') {
      const [row] = await client('GET', `/mass-payments/${id}/errors?page_size=1`);
      throw new Error(`the file is ${status}: ${JSON.stringify(row)}`);
    }
    if (moments.length === 1 && counts.payments_processed === count) moments.push(passed());
  }
  return {
    moments: [...moments, passed()],
    program: (clocks.program() - programBefore) * 1_000,
    server: (clocks.server() - serverBefore) * 1_000,
  };
}

const numbers = ({ program, server }: { program: number; server: number }, cost: number) =>
  [program, server, (program + server) / cost].map((each) => each.toFixed(2));

const peak = ({ pid }: Ordering) => `${memory(pid).peak}`;

function shares(times: readonly number[]): string {
  const sorted = times.toSorted((one, other) => one - other);
  const at = [0.5, 0.99].map((share) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1));
  return [times.length, ...at].join(', ');
}

function row(name: string, cells: readonly string[]): void {
  print(`| ${[name, ...cells].join(' | ')} |`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
