/**
 * What operations cost with large amounts of data: `npm run bench -- scale [search] [beside] [operations] [cells] [moved] [disk]`.
 *
 * - `search`: the shapes of `npm run bench -- search` for a client with many million payments and for one with a tenth of them. Each is
 *   beside 10,000 small clients, in two databases in turn.
 * - `beside`: the same for a client with a million payments, beside few payments of other clients, then beside 29 million of them.
 * - `operations`: processor time of one search page, creation, approval, delivery and imported line, separately for the service and
 *   PostgreSQL. It is measured with 10, 1,000 and 20,000 clients, then for a client with many million payments and a small one beside it.
 * - `cells`: the same for 100 clients in 2, 8 and 32 cells of a Citus cluster, and for 10, 1,000 and 20,000 clients in 8 cells.
 *   LOMBARD_TEST_DATABASE_URL names the coordinator, and all servers of the cluster count together. 100 clients of one PostgreSQL come
 *   first. LOMBARD_BENCH_PER_CELL limits the calls per second in each cell, so that runs with different numbers of cells are comparable.
 * - `moved`: the client with many million payments and a small one on the coordinator of that cluster, and again after each has been
 *   moved to its own cell on a worker.
 * - `disk`: the disk space of a payment with five steps.
 *
 * LOMBARD_BENCH_MILLIONS: the payments of the large client in millions, 10 by default; 0.1 for a quick run. Its database takes 1.3 KB per
 * payment, and half an hour of one core to fill; the one of `beside` takes three times as much. They stay in the temporary directory, or in
 * LOMBARD_BENCH_DIR. docs/scale.md has the numbers.
 */
import type { Pool } from '../src/database/database.ts';
import { createPool } from '../src/database/pools.ts';
import { NO_CLUSTER } from '../test/world/database.ts';
import { preciseMilliseconds } from './feed/processor-time.ts';
import { BIG, benchDatabase, log, type Population } from './payments-data.ts';
import { measureDisk } from './scale/disk.ts';
import { HEADING, measureClients, measureCluster, measureLarge, measureMoved } from './scale/operations.ts';
import { measure } from './search/measure.ts';
import { SHAPES } from './search-data.ts';

const MILLIONS = Number(process.env.LOMBARD_BENCH_MILLIONS ?? 10);
/** The client for comparison. */
const FEWER = MILLIONS / 10;
/** A quick run leaves out the sizes that take minutes to create. */
const CLIENTS = MILLIONS < 1 ? [10, 1_000] : [10, 1_000, 20_000];

const CLIENTS_OF_CELLS = 100;
/** Numbers of clients, and of the cells that they are divided among. */
const CLUSTERS = [
  [CLIENTS_OF_CELLS, 2],
  [CLIENTS_OF_CELLS, 8],
  [CLIENTS_OF_CELLS, 32],
  [10, 8],
  [1_000, 8],
  [20_000, 8],
] as const;

/** A client with this many million payments, and 10,000 clients with a tenth of that in total. */
const population = (millions: number): Population => ({
  payments: Math.round(millions * 100) * 11_000,
  big: [10, 11],
  others: 10_000,
});

/** A client with a tenth of this many million payments, and 10,000 clients with 29 times as many in total. */
const crowd = (millions: number): Population => ({
  payments: Math.round(millions * 100) * 30_000,
  big: [1, 30],
  others: 10_000,
});

export async function run(args: string[]): Promise<void> {
  const wanted = (part: string) => args.length === 0 || args.includes(part);
  // First, because the operations change who may approve the pending payments.
  if (wanted('search'))
    await compareSearches(
      { population: population(FEWER), millions: FEWER, name: `of ${FEWER} million` },
      { population: population(MILLIONS), millions: MILLIONS, name: `of ${MILLIONS} million` },
    );
  if (args.includes('beside'))
    await compareSearches(
      { population: population(FEWER), millions: FEWER, name: `of ${FEWER} million` },
      { population: crowd(MILLIONS), millions: FEWER, name: `among ${3 * MILLIONS} million` },
    );
  if (wanted('operations')) {
    print(HEADING);
    for (const clients of CLIENTS) print(await measureClients(clients));
    for (const line of await measureLarge(population(MILLIONS), `${MILLIONS} million`)) print(line);
  }
  if (args.includes('cells')) {
    print(HEADING);
    print(await measureClients(CLIENTS_OF_CELLS));
    for (const [clients, cells] of CLUSTERS) print((await measureCluster(clients, cells)) ?? NO_CLUSTER);
  }
  if (args.includes('moved')) {
    print(HEADING);
    for (const line of (await measureMoved(population(MILLIONS), `${MILLIONS} million`)) ?? [NO_CLUSTER]) print(line);
  }
  if (!wanted('disk')) return;
  print('\n| for | bytes a payment |\n|---|---|');
  for (const line of await measureDisk()) print(line);
}

interface Searched {
  population: Population;
  /** Millions of payments of its client. */
  millions: number;
  name: string;
}

/** Queries two databases in turn for each shape, for the client with the most payments. */
async function compareSearches(...[fewer, more]: [Searched, Searched]): Promise<void> {
  const small = await benchDatabase(fewer.population);
  const large = await benchDatabase(more.population);
  const one = await connect(small.url);
  const many = await connect(large.url);
  try {
    print(`\n| shape | ${fewer.name}: matches | CPU ms | p50 ms | ${more.name} | CPU ms | p50 ms | ratio of CPU |`);
    print('|---|---|---|---|---|---|---|---|');
    for (const shape of SHAPES) {
      // Some shapes first look for a suitable value, at an extra cost.
      const queries = [
        await shape.query(BIG, fewer.millions * 1_000_000, one.pool),
        await shape.query(BIG, more.millions * 1_000_000, many.pool),
      ] as const;
      const before = [one, many].map(({ pid }) => preciseMilliseconds(pid));
      const measured = await measure([
        { pool: one.pool, client: BIG, query: queries[0] },
        { pool: many.pool, client: BIG, query: queries[1] },
      ]);
      const costs = [one, many].map(
        ({ pid }, n) => (preciseMilliseconds(pid) - (before[n] as number)) / (measured[n]?.runs ?? 1),
      );
      const columns = measured.map(({ total, p50 }, n) => `${total} | ${costs[n]?.toFixed(2)} | ${p50.toFixed(2)}`);
      const ratio = (costs[1] ?? 0) / (costs[0] ?? 1);
      print(`| ${shape.name} | ${columns.join(' | ')} | ${ratio.toFixed(2)}${ratio > shape.most ? ' !' : ''} |`);
    }
  } finally {
    await Promise.all([one.pool.end(), many.pool.end()]);
    await Promise.all([small.stop(), large.stop()]);
  }
}

/** A pool of one connection, and the server process behind it. */
async function connect(url: string): Promise<{ pool: Pool; pid: number }> {
  const pool = createPool(url, log, { max: 1, background: true });
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  return { pool, pid: rows[0]?.pid as number };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
