import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import type { Db } from '../../src/database/database.ts';
import { createPool } from '../../src/database/pools.ts';
import { listConsumers } from '../../src/feed/consumer.ts';
import { readCursors } from '../../src/feed/cursor.ts';
import { readPage } from '../../src/feed/page.ts';
import { clearBatches, clearChanges, feedEnds } from '../../src/feed/retention.ts';
import { fillFeed } from '../world/change-feed.ts';
import { createDatabase, log, type TestDatabase } from '../world/database.ts';
import { nodesOf, pagesOf } from '../world/plans.ts';

/**
 * What the statements of the change feed walk, on tables with statistics: no more of a long feed than of a short one. The time they take
 * is in docs/performance.md.
 */
const CHANGES = 60_000;
const DAY_MS = 86_400_000;

let database: TestDatabase;
let db: pg.Client;
const now = new Date();
before(async () => {
  database = await createDatabase();
  db = new pg.Client({ connectionString: database.url });
  await db.connect();
  await fillFeed(db, { changes: CHANGES, at: now });
  await db.query(
    `insert into change_consumers (name, position, acknowledged_at) values ('near', $1, now()), ('far', 10, now())`,
    [CHANGES - 5],
  );
  await db.query('vacuum (analyze)');
});
after(async () => {
  await db.end();
  await database.drop();
});

/** The statements that some work runs, each with its plan. The tables whole are read by none. */
async function pagesOfWork(work: (db: Db) => Promise<unknown>): Promise<number> {
  let pages = 0;
  const explained = {
    query: async (given: string | { text: string; values?: unknown[] }, list?: unknown[]) => {
      const { text, values = [] } = typeof given === 'string' ? { text: given, values: list ?? [] } : given;
      await db.query('begin');
      const { rows } = await db.query(`explain (analyze, buffers, timing off, format json) ${text}`, values);
      await db.query('rollback');
      const nodes = nodesOf(rows);
      const whole = nodes.filter(({ 'Node Type': type }) => type === 'Seq Scan').map((node) => node['Relation Name']);
      const ofFeed = whole.filter((table = '') => /^change(s|_order|s_unpublished)$/.test(table));
      assert.deepEqual(ofFeed, [], 'read whole');
      pages += pagesOf(nodes);
      return pool.query(text, values);
    },
  };
  const pool = createPool(database.url, log, { max: 1 });
  try {
    await work(explained as unknown as Db);
  } finally {
    await pool.end();
  }
  return pages;
}

test('a page reads its changes and nothing else, at the beginning, in the middle and at the end', async () => {
  const cursors = await readCursors(db);
  for (const after of [0, CHANGES / 2, CHANGES - 1_000]) {
    const pages = await pagesOfWork(async (each) => {
      const page = await readPage(each, cursors, { after, last: CHANGES, limit: 1_000 });
      assert.deepEqual([page.changes.length, page.position], [1_000, after + 1_000]);
    });
    assert.ok(pages < 6_000, `${pages} pages of the database for 1,000 changes`);
  }
});

test('a filter looks through a bounded part', async () => {
  const cursors = await readCursors(db);
  const request = { after: 0, last: CHANGES, limit: 1_000, clientId: 'CLI-NONE' };
  const pages = await pagesOfWork(async (each) => {
    const page = await readPage(each, cursors, request);
    assert.deepEqual([page.changes.length, page.position, page.more], [0, 20_000, true]);
  });
  assert.ok(pages < 120_000, `${pages} pages`);
});

test('the ends of the feed and the lag of its consumers are look-ups', async () => {
  const cursors = await readCursors(db);
  const ends = await pagesOfWork((each) => feedEnds(each, now, 30));
  assert.ok(ends < 40, `${ends} pages`);
  const consumers = await pagesOfWork(async (each) => {
    const list = await listConsumers(each, cursors, now);
    assert.deepEqual(
      list.map(({ lag_changes }) => lag_changes),
      [CHANGES - 10, 5],
    );
  });
  assert.ok(consumers < 60, `${consumers} pages`);
});

test('clearing reads what it deletes', async () => {
  const long = new Date(now.getTime() + 200 * DAY_MS);
  const pool = createPool(database.url, log, { max: 1, background: true });
  let pages = 0;
  try {
    pages = await pagesOfWork(async (each) => {
      const { floor } = await feedEnds(each, long, 30);
      await clearBatches(each as never, floor);
    });
    await clearChanges(pool, long, 30);
  } finally {
    await pool.end();
  }
  assert.ok(pages < 8_000, `${pages} pages for 200 transactions`);
  const { rows } = await db.query(
    'select (select count(*) from changes) as changes, (select count(*) from change_order) as places',
  );
  assert.deepEqual([Number(rows[0].changes), Number(rows[0].places)], [1, 1]);
});
