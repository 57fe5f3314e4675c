/**
 * The search's shapes for the client with a third of all payments and the one with a thousand of them: p50 and p99 of a page
 * with its exact total, over one connection, and the ratio of the two clients' medians. `npm run bench -- search [--plans]`.
 */
import pg from 'pg';
import { createPool, type Pool } from '../src/database.ts';
import { searchPayments, searchStatement } from '../src/payments/search.ts';
import { readSearch, type SearchQuery } from '../src/payments/search-parameters.ts';
import { BIG, benchDatabase, log, PAYMENTS, SMALL, VIEWER } from './payments-data.ts';
import { SHAPES } from './search-data.ts';

const WARM_UP = 30;
const MAX_SHAPE_MS = 6_000;
const RUNS = Number(process.env.LOMBARD_BENCH_RUNS ?? 300);

const NOW = new Date('2026-11-01T00:00:00Z');
export async function run(args: string[]): Promise<void> {
  const plans = args.includes('--plans');
  const database = await benchDatabase();
  const pool = createPool(database.url, log, { max: 1 });
  try {
    print('| shape | matches | p50 ms | p99 ms | small: matches | p50 ms | p99 ms | ratio | at most |');
    print('|---|---|---|---|---|---|---|---|---|');
    const wanted = process.env.LOMBARD_BENCH_SHAPE;
    for (const shape of SHAPES) {
      if (wanted && !shape.name.includes(wanted)) continue;
      const [big, small] = await measure(pool, [
        [BIG, await shape.query(BIG, PAYMENTS / 3, pool)],
        [SMALL, await shape.query(SMALL, PAYMENTS / 3_000, pool)],
      ]);
      const ratio = big.p50 / small.p50;
      const times = ({ total, p50, p99 }: typeof big) => `${total} | ${p50.toFixed(2)} | ${p99.toFixed(2)}`;
      const judged = `${ratio.toFixed(2)}${verdict(ratio, shape.most, small.total)}`;
      print(`| ${shape.name} | ${times(big)} | ${times(small)} | ${judged} | ${shape.most} |`);
      if (plans) print(`\n${await plan(database.url, await shape.query(BIG, PAYMENTS / 3, pool))}\n`);
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
    if (run > WARM_UP + 20 && performance.now() - began > MAX_SHAPE_MS) break;
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
