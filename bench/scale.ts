/**
 * What operations cost where there is much of everything: `npm run bench -- scale [operations] [search] [disk]`.
 *
 * `operations`: processor time of one search page, creation, approval, delivery and imported line, of the service and of PostgreSQL apart,
 * with 10, 1,000 and 20,000 clients, then for a client with many million payments and for a small one beside it.
 * `search`: the shapes of `npm run bench -- search` for a client with a million payments and for one with many, each beside 10,000 small
 * clients, in two databases in turn.
 *
 * `disk`: what a payment of four steps takes.
 *
 * LOMBARD_BENCH_MILLIONS: the payments of the large client, 10 by default. Its database takes 1.3 KB for each, and half an hour of one
 * core to fill; it stays in the temporary directory, or in LOMBARD_BENCH_DIR. docs/scale.md has the numbers.
 */
import { createPool } from '../src/database.ts';
import { BIG, benchDatabase, log, type Population } from './payments-data.ts';
import { measureDisk } from './scale/disk.ts';
import { HEADING, measureClients, measureLarge } from './scale/operations.ts';
import { measure } from './search/measure.ts';
import { SHAPES } from './search-data.ts';

const MILLIONS = Number(process.env.LOMBARD_BENCH_MILLIONS ?? 10);
const CLIENTS = [10, 1_000, 20_000];

/** A client with so many million payments, and 10,000 with a tenth of that among them. */
const population = (millions: number): Population => ({
  payments: millions * 1_100_000,
  big: [10, 11],
  others: 10_000,
});

export async function run(args: string[]): Promise<void> {
  const wanted = (part: string) => args.length === 0 || args.includes(part);
  if (wanted('operations')) {
    print(HEADING);
    for (const clients of CLIENTS) print(await measureClients(clients));
    for (const line of await measureLarge(population(MILLIONS), `${MILLIONS} million`)) print(line);
  }
  if (wanted('search')) await compareSearches();
  if (!wanted('disk')) return;
  print('\n| for | bytes a payment |\n|---|---|');
  for (const line of await measureDisk()) print(line);
}

async function compareSearches(): Promise<void> {
  const small = await benchDatabase(population(1));
  const large = await benchDatabase(population(MILLIONS));
  const [one, many] = [small, large].map(({ url }) => createPool(url, log, { max: 1 })) as [
    ReturnType<typeof createPool>,
    ReturnType<typeof createPool>,
  ];
  try {
    print(`\n| shape | of 1 million: matches | p50 ms | p99 ms | of ${MILLIONS} million | p50 ms | p99 ms | ratio |`);
    print('|---|---|---|---|---|---|---|---|');
    for (const shape of SHAPES) {
      const [ofOne, ofMany] = await measure([
        { pool: one, client: BIG, query: await shape.query(BIG, 1_000_000, one) },
        { pool: many, client: BIG, query: await shape.query(BIG, MILLIONS * 1_000_000, many) },
      ]);
      const times = ({ total, p50, p99 }: typeof ofOne) => `${total} | ${p50.toFixed(2)} | ${p99.toFixed(2)}`;
      const ratio = ofMany.p50 / ofOne.p50;
      print(
        `| ${shape.name} | ${times(ofOne)} | ${times(ofMany)} | ${ratio.toFixed(2)}${ratio > shape.most ? ' !' : ''} |`,
      );
    }
  } finally {
    await Promise.all([one.end(), many.end()]);
    await Promise.all([small.stop(), large.stop()]);
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
