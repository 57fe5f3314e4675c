/**
 * Clients' orders compared with payments that the institution creates: one payment, one of fifty, and the reads before an order, with
 * little history and with much. `npm run bench -- orders [seconds] [payments of the history]`; docs/performance.md has the numbers.
 */
import type pg from 'pg';
import { type Measured, measure } from './load/lanes.ts';
import { CLIENT, type Ordering, startOrdering } from './load/ordering.ts';

const LANES = 16;
const SECONDS = 5;
const ROUNDS = 3;
const TOGETHER = 50;
const HISTORY = 200_000;
/** Rows of the little history: enough to fill a page of each list. */
const LITTLE = 1_000;
const PAYMENT_DATE = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10);
const READS = ['/beneficiaries', '/transactions?currencies=EUR', '/balances'];

export async function run([seconds = `${SECONDS}`, history = `${HISTORY}`]: string[]): Promise<void> {
  const ordering = await startOrdering();
  try {
    const {
      operator,
      client,
      clocks,
      beneficiaryId: beneficiary_id,
      contactId: contact_id,
      tradeId: trade_id,
      eur,
    } = ordering;
    const lanes = { seconds: Number(seconds), lanes: LANES };
    const payment = { beneficiary_id, amount: 10, payment_date: PAYMENT_DATE, reference: 'Invoice 42' };
    const created = { client_id: CLIENT, contact_id, trade_id, payment_currency: 'EUR', ...payment };
    const source = { funding_account_id: eur, reason: 'other' };
    const works: [name: string, payments: number, work: () => Promise<unknown>][] = [
      ['created by the institution', 1, () => operator('POST', '/payments', created)],
      ['ordered alone, of a trade', 1, () => client('POST', '/payments', { trade_id, payments: [payment] })],
      ['ordered alone, from an account', 1, () => client('POST', '/payments', { ...source, payments: [payment] })],
      [
        `one of ${TOGETHER}, of a trade`,
        TOGETHER,
        () => client('POST', '/payments', { trade_id, payments: Array(TOGETHER).fill(payment) }),
      ],
      [
        `one of ${TOGETHER}, from an account`,
        TOGETHER,
        () => client('POST', '/payments', { ...source, payments: Array(TOGETHER).fill(payment) }),
      ],
    ];
    for (const [, , work] of works) await measure({ seconds: 1, lanes: 2 }, clocks, work as () => Promise<void>);
    print('| a payment | a second | program ms each | PostgreSQL ms each | both, against the institution’s |');
    print('|---|---|---|---|---|');
    for (let round = 0; round < ROUNDS; round += 1) {
      let first: Measured | undefined;
      for (const [name, payments, work] of works) {
        const measured = perPayment(await measure(lanes, clocks, work as () => Promise<void>), payments);
        first ??= measured;
        row(name, measured, first);
      }
    }
    print('');
    print('| read, or ordered | p50, p99 ms with little | p50, p99 ms with much |');
    print('|---|---|---|');
    await fill(ordering, 0, LITTLE);
    const before = await readsOf(ordering, payment, source);
    await fill(ordering, LITTLE, Number(history));
    const after = await readsOf(ordering, payment, source);
    for (const [name, little] of before) {
      const much = after.get(name) as Measured;
      print(`| ${name} | ${times(little)} | ${times(much)} |`);
    }
  } finally {
    await ordering.stop();
  }
}

/** One read at a time: how long each takes. */
async function readsOf({ client, clocks }: Ordering, payment: object, source: object): Promise<Map<string, Measured>> {
  const measured = new Map<string, Measured>();
  const alone = { seconds: 2, lanes: 1 };
  const take = async (name: string, work: () => Promise<unknown>) =>
    measured.set(name, await measure(alone, clocks, work as () => Promise<void>));
  for (const path of READS) await take(`GET ${path}`, () => client('GET', path));
  await take('POST /payments, from an account', () => client('POST', '/payments', { ...source, payments: [payment] }));
  return measured;
}

/** Copies existing rows until the client has a history: payments with their closed holds, transactions, payees. */
async function fill({ db }: Ordering, from: number, to: number): Promise<void> {
  await db.query("set session_replication_role = 'replica'");
  await copies(db, 'payments', { payment_id: "'H' || n", id: 'n + 10000000', uuid: 'gen_random_uuid()' }, from, to);
  await copies(
    db,
    'holds',
    { hold_id: 'gen_random_uuid()', payment_id: "'H' || n", closed_at: 'r.opened_at' },
    from,
    to,
  );
  await copies(db, 'transactions', { transaction_id: 'gen_random_uuid()', id: 'n + 10000000' }, from, to);
  const payee = { beneficiary_id: "'H' || n", beneficiary_name: "'Payee ' || n" };
  await copies(db, 'beneficiaries', payee, from / 10, to / 10);
  await db.query("set session_replication_role = 'origin'");
  await db.query('vacuum analyze');
}

/** Copies a row of the client, with other values in some columns. `n` counts from `from` to `to`, and `r` is the row. */
async function copies(
  db: pg.Client,
  table: string,
  others: Record<string, string>,
  from: number,
  to: number,
): Promise<void> {
  const { rows } = await db.query<{ name: string; made: string }>(
    `select column_name as name, is_identity || is_generated as made from information_schema.columns
     where table_name = $1 and table_schema = current_schema() order by ordinal_position`,
    [table],
  );
  const columns = rows.filter(({ name, made }) => name in others || made === 'NONEVER').map(({ name }) => name);
  const values = columns.map((name) => others[name] ?? `r.${name}`);
  await db.query(
    `insert into ${table} (${columns.join(', ')}) overriding system value
     select ${values.join(', ')} from generate_series(${Math.round(from) + 1}, ${Math.round(to)}) n,
       (select * from ${table} where client_id = $1 order by 1 limit 1) r`,
    [CLIENT],
  );
}

function perPayment({ rate, program, server, ...rest }: Measured, payments: number): Measured {
  return { ...rest, rate: rate * payments, program: program / payments, server: server / payments };
}

function row(name: string, { rate, program, server }: Measured, first: Measured): void {
  const ratio = (program + server) / (first.program + first.server);
  print(`| ${name} | ${rate.toFixed(0)} | ${program.toFixed(2)} | ${server.toFixed(2)} | ${ratio.toFixed(2)} |`);
}

const times = ({ p50, p99 }: Measured) => `${p50.toFixed(1)}, ${p99.toFixed(1)}`;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
