/**
 * The search's shapes for the client with a third of all payments and the one with a thousand of them: p50 and p99 of a page
 * with its exact total, over one connection, and the ratio of the two clients' medians. `npm run bench -- search [--plans]`.
 */
import pg from 'pg';
import { createPool } from '../src/database/pools.ts';
import { searchStatement } from '../src/payments/search/search.ts';
import { readSearch, type SearchQuery } from '../src/payments/search/search-parameters.ts';
import { BIG, benchDatabase, log, PAYMENTS, SMALL } from './payments-data.ts';
import { measure, view } from './search/measure.ts';
import { SHAPES } from './search-data.ts';

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
      const [big, small] = await measure([
        { pool, client: BIG, query: await shape.query(BIG, PAYMENTS / 3, pool) },
        { pool, client: SMALL, query: await shape.query(SMALL, PAYMENTS / 3_000, pool) },
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

/** If the small client cannot fill a page, it has less to write, and the pages are not comparable. */
function verdict(ratio: number, most: number, matches: number): string {
  if (ratio <= most) return '';
  return matches < 50 ? ' (the small page is not full)' : ' !';
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
