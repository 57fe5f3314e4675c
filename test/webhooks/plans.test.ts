import assert from 'node:assert/strict';
import { hash, randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import pg from 'pg';
import type { Db } from '../../src/database/database.ts';
import { windowAround } from '../../src/webhooks/day-window.ts';
import { writeResults } from '../../src/webhooks/delivery/attempt.ts';
import { claim } from '../../src/webhooks/delivery/claim.ts';
import { CONNECTION_SETTINGS, type Delivery } from '../../src/webhooks/delivery/delivery.ts';
import { discover } from '../../src/webhooks/delivery/discovery.ts';
import { fanOut } from '../../src/webhooks/delivery/fan-out.ts';
import { makeWaitingDue } from '../../src/webhooks/recovery.ts';
import { createDatabase, type TestDatabase } from '../world/database.ts';
import { nodesOf, type PlanNode, pagesOf } from '../world/plans.ts';

/**
 * What the statements of the delivery engine walk, on tables with statistics: many subscriptions, and an endpoint that is dead with a long
 * backlog. The time they take is in docs/performance-webhooks.md.
 */
const SUBSCRIPTIONS = 3_000;
const BACKLOG = 50_000;
const EVENTS = 200;
const CLIENTS = 20;
/** Pages that a statement may touch for each delivery, all its tables and indexes together. */
const PAGES_EACH = 40;

let database: TestDatabase;
let db: pg.Client;
const now = new Date();
const window = windowAround(now);

before(async () => {
  database = await createDatabase();
  db = new pg.Client({ connectionString: database.url });
  await db.connect();
  await db.query(`
    insert into contacts (contact_id, name, email, second_factor, trusted_access, created_at)
      values ('CON', 'c', 'c@example.com', 'none', false, now());
    insert into clients (client_id, client_name, status, fx_enabled, mass_payments_customer, authorisation_workflow, payment_approvals_enabled,
        payment_creator_approval_enabled, created_at)
      select 'CLI' || n, 'c', 'enabled', true, false, 'simple', false, false, now() from generate_series(1, ${SUBSCRIPTIONS}) n;
    insert into subscriptions (client_id, contact_id, url, active, types, created_at, updated_at)
      select 'CLI' || n, 'CON', 'http://127.0.0.1:9/', true, '{PAYMENT_STATUS_CHANGE}', now(), now() from generate_series(1, ${SUBSCRIPTIONS}) n;
    insert into webhook_queue (notification_id, client_id, subscription_id, event_id, created_at, due_at, attempts, round_attempts, ping)
      select gen_random_uuid(), s.client_id, s.id, n, now(), now(), 1, 1, false
      from subscriptions s, generate_series(1, ${BACKLOG}) n where s.client_id = 'CLI${SUBSCRIPTIONS}';
    with event as (
      insert into webhook_events (client_id, type, body, created_at)
        select 'CLI' || 1 + n % ${CLIENTS}, 'PAYMENT_STATUS_CHANGE', '{}', now() from generate_series(1, ${EVENTS}) n
        returning id, client_id, created_at)
    insert into webhook_outbox (event_id, client_id, type, created_at) select id, client_id, 'PAYMENT_STATUS_CHANGE', created_at from event;
  `);
  await db.query('vacuum (analyze)');
  await db.query(CONNECTION_SETTINGS);
});
after(async () => {
  await db.end();
  await database.drop();
});

/** Every node of the plan that a statement of the engine ran with, the outermost first; what it changed is undone. */
async function planOf(run: (db: Db) => Promise<unknown>): Promise<PlanNode[]> {
  let nodes: PlanNode[] = [];
  const explaining = {
    query: async ({ text, values }: pg.QueryConfig) => {
      const { rows } = await db.query(`explain (analyze, buffers, format json) ${text}`, values);
      nodes = nodesOf(rows);
      return { rows: [], rowCount: 0 };
    },
  };
  await db.query('begin');
  await run(explaining as unknown as Db);
  await db.query('rollback');
  assert.deepEqual(
    nodes.filter((node) => /Seq Scan|Bitmap/.test(node['Node Type'])),
    [],
  );
  return nodes;
}

const limits = { maxEvents: 500, maxNotifications: 5_000, defaultRoom: 500, rooms: new Map() };
const taking = { worker: 1, window, now, ...limits };

test('events find the subscriptions of their client, not all there are', async () => {
  const nodes = await planOf((each) => fanOut(each, taking));
  const scans = nodes.filter((node) => node['Relation Name'] === 'subscriptions');
  assert.deepEqual(
    scans.map((node) => /client_id = /.test(node['Index Cond'] ?? '')),
    [true, true],
  );
  for (const scan of scans) assert.ok((scan['Actual Rows'] ?? 0) * (scan['Actual Loops'] ?? 0) <= EVENTS);
  assert.ok(pagesOf(nodes) < EVENTS * PAGES_EACH, `${pagesOf(nodes)} pages`);
});

test('the id of a notification is made without a call of a function', async () => {
  const { rows } = await db.query(
    'explain (verbose, format json) select notification_id(event_id, subscription_id, created_at) as id from webhook_queue',
  );
  const [id = ''] = rows[0]['QUERY PLAN'][0].Plan.Output;
  assert.match(id, /date_part/);
  assert.doesNotMatch(id, /notification_id/);
});

test('the id of a notification begins with the moment, whatever the time zone of the session is', async () => {
  await db.query("set time zone 'Asia/Kathmandu'");
  const { rows } = await db.query(
    `select event_id::text as event, subscription_id as subscription, (extract(epoch from created_at) * 1000)::bigint::text as ms,
       notification_id(event_id, subscription_id, created_at) as id
     from (values (1::bigint, timestamptz '1970-01-01 00:00:00Z'), (4095, '2026-03-29 01:30:00.123Z'), (1048577, '2026-10-25 00:30:00.999Z'),
       (9223372036854775807, '2100-02-28 23:59:59.500Z')) as e(event_id, created_at), (select gen_random_uuid() as subscription_id) s`,
  );
  await db.query('reset time zone');
  for (const { event, subscription, ms, id } of rows) {
    const number = BigInt(event);
    const hex = (value: bigint, length: number) => value.toString(16).padStart(length, '0');
    const digest = hash('md5', event + subscription).slice(19);
    const text = `${hex(BigInt(ms), 12)}7${hex((number >> 8n) & 4095n, 3)}8${hex(number & 255n, 2)}${digest}`;
    assert.equal(id.replaceAll('-', ''), text, event);
  }
});

test('what is due of one subscription is claimed without a look at the backlog of another', async () => {
  const { rows } = await db.query("select id from subscriptions where client_id = 'CLI1'");
  const nodes = await planOf((each) => claim(each, { worker: 1, window, now, wanted: new Map([[rows[0].id, 50]]) }));
  assert.ok(pagesOf(nodes) < PAGES_EACH, `${pagesOf(nodes)} pages`);
});

test('what waits is discovered in steps from subscription to subscription', async () => {
  const nodes = await planOf((each) => discover(each));
  assert.ok(pagesOf(nodes) < PAGES_EACH, `${pagesOf(nodes)} pages`);
});

test('what waits for one endpoint is made due without a look at the backlog of another', async () => {
  const { rows } = await db.query("select id from subscriptions where client_id = 'CLI1'");
  const nodes = await planOf((each) => makeWaitingDue(each, { clientId: 'CLI1', subscriptionId: rows[0].id }, now));
  assert.ok(pagesOf(nodes) < PAGES_EACH, `${pagesOf(nodes)} pages`);
});

test('results are written by key, and change the page that their notification stands on', async () => {
  const { deliveries } = await fanOut(db as unknown as Db, taking);
  assert.equal(deliveries.length, EVENTS);
  const result = (delivery: Delivery) => ({
    worker: 1,
    delivery,
    deliveryId: randomUUID(),
    startedAt: now,
    outcome: { statusCode: 200, headers: {}, body: 'ok', reason: null, durationMs: 3 },
    status: 'delivered' as const,
    dueAt: null,
    asked: false,
    now,
  });
  const nodes = await planOf((each) => writeResults(each, { worker: 1, window, results: deliveries.map(result) }));
  assert.ok(pagesOf(nodes) < EVENTS * PAGES_EACH, `${pagesOf(nodes)} pages`);
  await db.query('select pg_stat_force_next_flush()');
  const { rows } = await db.query(
    "select sum(n_tup_upd)::int as changed, sum(n_tup_hot_upd)::int as in_place from pg_stat_user_tables where relname like 'notifications_%'",
  );
  assert.deepEqual(rows[0], { changed: EVENTS, in_place: EVENTS });
});
