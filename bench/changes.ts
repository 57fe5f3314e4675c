/**
 * The change feed from the readers' side, through the whole service. It measures a page of 1,000 changes at the beginning, middle and end
 * of a long feed. On the longest feed, a consumer follows 5,000 new changes a second. `npm run bench -- changes [millions ...]`;
 * docs/performance-feed.md has the numbers.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { migrate } from '../src/database/migrate.ts';
import { createPool } from '../src/database/pools.ts';
import { startEmbedded } from '../src/embedded/postgres.ts';
import { readCursors } from '../src/feed/cursor.ts';
import { FILLED_INTERVAL_MS, fillFeed } from '../test/world/change-feed.ts';
import { memory, processorSeconds } from './feed/processor-time.ts';
import { type FedService, startFedService, TOKEN } from './feed/service.ts';
import { log } from './payments-data.ts';

const PAGE_ROWS = 1_000;
const PAGES = 100;
const RATE = 5_000;
const FOLLOW_SECONDS = 10;
/** The interval between the writer's transactions. */
const WRITE_INTERVAL_MS = 50;
/** The feed grows by this many rows at a time, within a time limit; the length reached is measured. */
const FILLED_ROWS = 1_000_000;
const MAX_FILL_MS = 900_000;

export async function run(args: string[]): Promise<void> {
  const sizes = (args.length > 0 ? args : ['1', '10']).map((millions) => Number(millions) * 1_000_000);
  const longest = Math.max(...sizes);
  let kept = 0;
  const folder = mkdtempSync(join(tmpdir(), 'lombard-bench-changes-'));
  const database = await startEmbedded({ dataDir: join(folder, 'data'), log });
  let service: FedService | undefined;
  const db = new pg.Client({ connectionString: database.socketUrl });
  try {
    await migrate(database.socketUrl, log);
    await db.connect();
    service = await startFedService(database.socketUrl, join(folder, 'service'));
    print('| kept changes | where | p50 ms | p99 ms | service CPU ms a page | memory MB |');
    print('|---|---|---|---|---|---|');
    await db.query('truncate changes, changes_unpublished, change_order, change_versions');
    for (const size of sizes) {
      kept = await grow(db, { from: kept, size, longest });
      for (const [where, after] of [
        ['beginning', 0],
        ['middle', kept / 2],
        ['end', kept - PAGES * PAGE_ROWS],
      ] as const)
        await measurePages(service, database.socketUrl, { size: kept, where, after: Math.max(0, after) });
    }
    await follow(service, db, kept);
  } finally {
    await service?.stop();
    await db.end().catch(() => {});
    await database.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes the feed longer. @returns the number of changes kept then; fewer than wanted if the time ran out */
async function grow(
  db: pg.Client,
  { from, size, longest }: { from: number; size: number; longest: number },
): Promise<number> {
  const began = performance.now();
  let kept = from;
  while (kept < size && performance.now() - began < MAX_FILL_MS) {
    const part = Math.min(FILLED_ROWS, size - kept);
    kept += part;
    const at = new Date(Date.now() - (longest - kept) * FILLED_INTERVAL_MS);
    await fillFeed(db, { from: kept - part, changes: part, at });
  }
  await db.query('vacuum (analyze) changes, change_order');
  await db.query('checkpoint');
  return kept;
}

interface Page {
  changes: { cursor: string }[];
  cursor: string;
  more: boolean;
}

async function read(service: FedService, query: string): Promise<Page> {
  const answer = await fetch(`${service.operator}/changes?${query}`, { headers: { authorization: `Bearer ${TOKEN}` } });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as Page;
}

async function measurePages(
  service: FedService,
  url: string,
  { size, where, after }: { size: number; where: string; after: number },
): Promise<void> {
  const pool = createPool(url, log, { max: 1 });
  let cursor = (await readCursors(pool)).write(after);
  await pool.end();
  const times: number[] = [];
  const cpu = processorSeconds(service.pid);
  for (let page = 0; page < PAGES; page += 1) {
    const start = performance.now();
    const { changes, cursor: next } = await read(service, `limit=${PAGE_ROWS}&after=${cursor}`);
    times.push(performance.now() - start);
    if (changes.length !== PAGE_ROWS) throw new Error(`${changes.length} changes on a page`);
    cursor = next;
  }
  const spent = ((processorSeconds(service.pid) - cpu) * 1_000) / PAGES;
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.floor(times.length * share)] as number).toFixed(1);
  print(`| ${size} | ${where} | ${at(0.5)} | ${at(0.99)} | ${spent.toFixed(1)} | ${memory(service.pid).now} |`);
}

/** A writer of 5,000 changes a second in transactions, the service's publisher, and a consumer that acknowledges each page. */
async function follow(service: FedService, db: pg.Client, kept: number): Promise<void> {
  let { cursor } = await read(service, 'after=now');
  let writing = true;
  let written = 0;
  /** When each of the writer's statements was committed. */
  const committed: number[] = [];
  const each = (RATE * WRITE_INTERVAL_MS) / 1_000;
  const writer = (async () => {
    const began = performance.now();
    while (performance.now() - began < FOLLOW_SECONDS * 1_000) {
      await db.query(
        `with taken as (insert into changes_unpublished (changes, at) select 1, now() from generate_series(1, $1::int) returning batch)
         insert into changes (batch, place, changes, client_ids, entities, body)
         select batch, 0, 1, array['CLI1'], array['payment'],
           'payment CLI1' || E'\\t' || '{"at":"","entity":"payment","data":{"n":' || batch || '}}' from taken`,
        [each],
      );
      written += each;
      committed.push(performance.now());
      await pause(Math.max(0, began + (written / RATE) * 1_000 - performance.now()));
    }
    writing = false;
  })();
  let taken = 0;
  let furthest = 0;
  const delays: number[] = [];
  while (writing || taken < written) {
    const page = await read(service, `limit=${PAGE_ROWS}&wait=1&after=${cursor}`);
    const arrived = performance.now();
    const first = Math.ceil(taken / each);
    taken += page.changes.length;
    for (let n = first; n * each < taken; n += 1) delays.push(arrived - (committed[n] ?? arrived));
    furthest = Math.max(furthest, written - taken);
    cursor = page.cursor;
    const acknowledged = await fetch(`${service.operator}/change-consumers/bench`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ cursor }),
    });
    if (!acknowledged.ok) throw new Error(await acknowledged.text());
  }
  await writer;
  delays.sort((a, b) => a - b);
  const at = (share: number) => (delays[Math.floor(delays.length * share)] as number).toFixed(0);
  print(
    `a consumer of ${RATE} changes a second behind ${kept} kept ones: took ${taken} of ${written}, at most ${furthest} behind; ` +
      `from commit to consumer p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`,
  );
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
