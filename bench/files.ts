/**
 * Files of payments: the time from POST to Created, and the time of a read meanwhile and before. The cost per payment is compared with that
 * of a payment created by the institution. `npm run bench -- files [rows] [rounds] [apart]`, where `apart` runs background work in a
 * separate process; docs/performance-orders.md has the numbers.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { memory } from './feed/processor-time.ts';
import { measure } from './load/lanes.ts';
import { CLIENT, type Ordering, startOrdering } from './load/ordering.ts';

const ROWS = 5_000;
const ROUNDS = 3;
/** The number of lanes on which the institution creates payments, and for how long. */
const LANES = 16;
const SECONDS = 5;
/** Rows of the warm-up file. */
const FEW = 300;
/** Milliseconds between two reads of a file. */
const LOOK_MS = 20;
const PAYMENT_DATE = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10);
const INSTRUCTION = { direction: 'buy', trade_type: 'spot', payment_currency: 'EUR' };
const BANK = '370400440';

/** The source of funds of a file, and the payee of its rows. */
interface Kind {
  name: string;
  source: object;
  payee: (n: number) => object;
}

/** The measurements of a file. */
interface Made {
  id: string;
  /** Seconds from its POST until it was answered, judged and executed. */
  moments: number[];
  /** Milliseconds of each read in the meantime. */
  reads: number[];
  /** Milliseconds of processor time. */
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
    let id = '';
    for (const kind of kinds) ({ id } = await make(ordering, FEW, kind));
    await create(1);
    print(
      `| ${count} payments | answered, judged, created s | read p50, p99 ms | program ms each | PostgreSQL ms each | ratio | MB at most |`,
    );
    print('|---|---|---|---|---|---|---|');
    for (let round = 0; round < Number(rounds); round += 1) {
      const alone = await create(SECONDS);
      const cost = alone.program + alone.server;
      row('by the institution, one by one', ['', '', ...numbers(alone, cost), peak(ordering)]);
      row('reads without a file', ['', shares(await readAlone(ordering, id)), '', '', '', peak(ordering)]);
      for (const kind of kinds) {
        const { moments, reads, program, server } = await make(ordering, count, kind);
        const each = { program: program / count, server: server / count };
        row(kind.name, [
          moments.map((at) => at.toFixed(1)).join(', '),
          shares(reads),
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

/** Milliseconds of each read of an idle file. */
async function readAlone({ client }: Ordering, id: string): Promise<number[]> {
  const reads: number[] = [];
  for (const began = performance.now(); performance.now() - began < SECONDS * 1_000; ) {
    await sleep(LOOK_MS);
    const start = performance.now();
    await client('GET', `/mass-payments/${id}`);
    reads.push(performance.now() - start);
  }
  return reads;
}

/** Sends a file, and reads it until its payments are created. @throws Error if a row is refused */
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
  const reads: number[] = [];
  for (let status = ''; status !== 'Created'; ) {
    await sleep(LOOK_MS);
    const start = performance.now();
    const { mass_payment_status, payments_summary: counts } = await client('GET', `/mass-payments/${id}`);
    reads.push(performance.now() - start);
    status = mass_payment_status;
    if (counts.payments_errored > 0 || status === 'Failed') {
      const [row] = await client('GET', `/mass-payments/${id}/errors?page_size=1`);
      throw new Error(`the file is ${status}: ${JSON.stringify(row)}`);
    }
    if (moments.length === 1 && counts.payments_processed === count) moments.push(passed());
  }
  return {
    ...{ id, moments: [...moments, passed()], reads },
    program: (clocks.program() - programBefore) * 1_000,
    server: (clocks.server() - serverBefore) * 1_000,
  };
}

const numbers = ({ program, server }: { program: number; server: number }, cost: number) =>
  [program, server, (program + server) / cost].map((each) => each.toFixed(2));

const peak = ({ pid }: Ordering) => `${memory(pid).peak}`;

function shares(times: readonly number[]): string {
  const sorted = times.toSorted((one, other) => one - other);
  return [0.5, 0.99].map((share) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1)).join(', ');
}

function row(name: string, cells: readonly string[]): void {
  print(`| ${[name, ...cells].join(' | ')} |`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
