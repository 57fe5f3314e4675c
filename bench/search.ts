/**
 * The search's shapes for the client with a third of all payments and the one with a thousand of them: p50 and p99 of a page
 * with its exact total, over one connection, and the ratio of the two clients' medians. `npm run bench -- search [--plans]`.
 */
import pg from 'pg';
import { addDays } from '../src/calendar.ts';
import { createPool, FORCE_GENERIC_PLAN, type Pool } from '../src/database.ts';
import { searchPayments, searchStatement } from '../src/payments/search.ts';
import { readSearch, type SearchQuery } from '../src/payments/search-parameters.ts';
import { BIG, benchDatabase, FIRST_DAY, log, PAYMENTS, SMALL, VIEWER } from './payments-data.ts';

const WARM_UP = 30;
/** Milliseconds. */
const MAX_SHAPE = 6_000;
const RUNS = Number(process.env.LOMBARD_BENCH_RUNS ?? 300);

interface Shape {
  name: string;
  /** The query of a client; the number of its payments makes deep pages comparable. */
  query: (client: string, payments: number) => Promise<SearchQuery> | SearchQuery;
  most: number;
}

const NOW = new Date('2026-11-01T00:00:00Z');
const day = (n: number) => addDays(FIRST_DAY, n);

export async function run(args: string[]): Promise<void> {
  const plans = args.includes('--plans');
  const database = await benchDatabase();
  const pool = createPool(database.url, log, { max: 1, setUp: FORCE_GENERIC_PLAN });
  try {
    const one = async (client: string, column: string, skip: number) => {
      const { rows } = await pool.query(
        `select ${column} as value from payments where client_id = $1 order by created offset $2 limit 1`,
        [client, skip],
      );
      return rows[0].value as string;
    };
    const ids = async (client: string) =>
      (
        await pool.query(
          "select string_agg(payment_id, ',') as ids from (select payment_id from payments where client_id = $1 limit 50) p",
          [client],
        )
      ).rows[0].ids;
    const shapes: Shape[] = [
      { name: 'default page', query: () => ({}), most: 1.5 },
      { name: 'default page, descending', query: () => ({ order: 'desc' }), most: 1.5 },
      { name: 'by payment date', query: () => ({ order_by: 'value_date' }), most: 1.5 },
      ...(
        [
          'pending',
          'pending_to_authorise',
          'authorised',
          'cancelled',
          'rejected',
          'complete',
          'pending_your_approval',
          'pending_others_approval',
        ] as const
      ).map((status): Shape => ({ name: `status ${status}`, query: () => ({ status }), most: 1.5 })),
      {
        name: 'status complete by payment date',
        query: () => ({ status: 'complete', order_by: 'value_date' }),
        most: 1.5,
      },
      {
        name: 'created in a month',
        query: () => ({ from_created_date: day(600), to_created_date: day(630) }),
        most: 1.5,
      },
      {
        name: 'created in a quarter',
        query: () => ({ from_created_date: day(600), to_created_date: day(690) }),
        most: 1.5,
      },
      {
        name: 'payment date in a quarter, by creation',
        query: () => ({ from_payment_date: day(600), to_payment_date: day(690) }),
        most: 1.5,
      },
      {
        name: 'created in a quarter, by payment date',
        query: () => ({ from_created_date: day(600), to_created_date: day(690), order_by: 'value_date' }),
        most: 1.5,
      },
      {
        name: 'created in a year and a half',
        query: () => ({ from_created_date: day(200), to_created_date: day(750) }),
        most: 1.5,
      },
      {
        name: 'payment date in a month, by payment date',
        query: () => ({ from_payment_date: day(600), to_payment_date: day(630), order_by: 'value_date' }),
        most: 1.5,
      },
      {
        name: 'payment date in a month, by creation',
        query: () => ({ from_payment_date: day(600), to_payment_date: day(630) }),
        most: 1.5,
      },
      {
        name: 'payment date in a year and a half, by creation',
        query: () => ({ from_payment_date: day(200), to_payment_date: day(750) }),
        most: 1.5,
      },
      {
        name: 'one payment date, by creation',
        query: () => ({ from_payment_date: day(600), to_payment_date: day(600) }),
        most: 1.5,
      },
      {
        name: 'created in a month, by payment date',
        query: () => ({ from_created_date: day(600), to_created_date: day(630), order_by: 'value_date' }),
        most: 1.5,
      },
      { name: 'currency', query: () => ({ payment_currency: 'EUR' }), most: 1.5 },
      { name: 'three currencies', query: () => ({ payment_currency: 'EUR,SEK,JPY' }), most: 1.5 },
      { name: 'status + currency', query: () => ({ status: 'complete', payment_currency: 'EUR' }), most: 1.5 },
      { name: 'pending + rare currency', query: () => ({ status: 'pending', payment_currency: 'SEK' }), most: 1.5 },
      {
        name: 'status + created in a month',
        query: () => ({ status: 'complete', from_created_date: day(600), to_created_date: day(630) }),
        most: 10,
      },
      {
        name: 'status + currency + created in a year',
        query: () => ({
          status: 'complete',
          payment_currency: 'EUR',
          from_created_date: day(200),
          to_created_date: day(565),
        }),
        most: 10,
      },
      { name: '50 payment_ids', query: async (client) => ({ payment_ids: await ids(client) }), most: 1.5 },
      {
        name: 'trade',
        query: async (client, n) => ({ trade_id: await one(client, 'trade_id', Math.floor(n / 2)) }),
        most: 1.5,
      },
      {
        name: 'beneficiary',
        query: async (client, n) => ({ beneficiary_id: await one(client, 'beneficiary_id', Math.floor(n / 2)) }),
        most: 1.5,
      },
      {
        name: 'reference',
        query: async (client, n) => ({ reference: await one(client, 'reference', Math.floor(n / 2)) }),
        most: 1.5,
      },
      {
        name: 'page 5,000 (the small client: its last)',
        query: (_, n) => ({ page: Math.min(5_000, n / 50) }),
        most: 1.5,
      },
      {
        name: 'page 5,000, descending',
        query: (_, n) => ({ page: Math.min(5_000, n / 50), order: 'desc' }),
        most: 1.5,
      },
      {
        name: 'page 5,000 by payment date',
        query: (_, n) => ({ page: Math.min(5_000, n / 50), order_by: 'value_date' }),
        most: 1.5,
      },
      {
        name: 'page 5,000 by payment date, descending',
        query: (_, n) => ({ page: Math.min(5_000, n / 50), order_by: 'value_date', order: 'desc' }),
        most: 1.5,
      },
      { name: 'page 15,000', query: (_, n) => ({ page: Math.min(15_000, n / 50) }), most: 1.5 },
      { name: 'behind the end', query: () => ({ page: 1_000_000 }), most: 1.5 },
      { name: 'amount over 1,000', query: () => ({ amount: 1_000, amount_range: 'over' }), most: 10 },
      { name: 'amount over 20,000 (few)', query: () => ({ amount: 20_000, amount_range: 'over' }), most: 10 },
      { name: 'amount over 22,000 (very few)', query: () => ({ amount: 22_000, amount_range: 'over' }), most: 10 },
      { name: 'amount below 100', query: () => ({ amount: 100, amount_range: 'below' }), most: 10 },
      { name: 'amount equal to 1,000', query: () => ({ amount: 1_000, amount_range: 'equal' }), most: 10 },
      {
        name: 'amount over 1,000 + currency',
        query: () => ({ amount: 1_000, amount_range: 'over', payment_currency: 'SEK' }),
        most: 1_000,
      },
      { name: 'page of 1,000', query: () => ({ page_size: 1_000 }), most: 1.5 },
    ];
    print('| shape | matches | p50 ms | p99 ms | small: matches | p50 ms | p99 ms | ratio | at most |');
    print('|---|---|---|---|---|---|---|---|---|');
    const wanted = process.env.LOMBARD_BENCH_SHAPE;
    for (const shape of shapes) {
      if (wanted && !shape.name.includes(wanted)) continue;
      const [big, small] = await measure(pool, [
        [BIG, await shape.query(BIG, PAYMENTS / 3)],
        [SMALL, await shape.query(SMALL, PAYMENTS / 3_000)],
      ]);
      const ratio = big.p50 / small.p50;
      const times = ({ total, p50, p99 }: typeof big) => `${total} | ${p50.toFixed(2)} | ${p99.toFixed(2)}`;
      const judged = `${ratio.toFixed(2)}${verdict(ratio, shape.most, small.total)}`;
      print(`| ${shape.name} | ${times(big)} | ${times(small)} | ${judged} | ${shape.most} |`);
      if (plans) print(`\n${await plan(database.url, await shape.query(BIG, PAYMENTS / 3))}\n`);
    }
  } finally {
    await pool.end();
    await database.stop();
  }
}

const view = (clientId: string) => ({
  clientId,
  viewer: VIEWER,
  now: NOW,
  apiUrl: 'https://api.example.com',
  trackingCutoff: '2020-01-01',
});

/** A page that the small client cannot fill has less to write: no comparison of the same page. */
function verdict(ratio: number, most: number, matches: number): string {
  if (ratio <= most) return '';
  return matches < 50 ? ' (the small page is not full)' : ' !';
}

interface Measured {
  total: number;
  p50: number;
  p99: number;
}

/** The two clients in turn, so that whatever else the machine does at the moment slows both. */
async function measure(pool: Pool, cases: [client: string, query: SearchQuery][]): Promise<[Measured, Measured]> {
  const results = cases.map(([client, query]) => ({
    client,
    search: readSearch(query),
    total: 0,
    times: [] as number[],
  }));
  const began = performance.now();
  for (let run = 0; run < WARM_UP + RUNS; run += 1) {
    for (const each of results) {
      const start = performance.now();
      each.total = (await searchPayments(pool, view(each.client), each.search)).total;
      if (run >= WARM_UP) each.times.push(performance.now() - start);
    }
    // A shape that is slow anyway need not be shown slow three hundred times.
    if (run > WARM_UP + 20 && performance.now() - began > MAX_SHAPE) break;
  }
  return results.map(({ total, times }) => {
    times.sort((a, b) => a - b);
    const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] as number;
    return { total, p50: at(0.5), p99: at(0.99) };
  }) as [Measured, Measured];
}

async function plan(url: string, query: SearchQuery): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { text, values } = searchStatement(view(BIG), readSearch(query));
  const { rows } = await client.query(`explain (analyze, buffers, costs off, timing off, summary on) ${text}`, values);
  await client.end();
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
