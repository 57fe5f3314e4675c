import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { hasCitus, listCells } from '../src/cells.ts';
import { lombard } from './world/command.ts';
import {
  createDatabase,
  createEmptyDatabase,
  givenServer,
  NO_GIVEN_SERVER,
  type TestDatabase,
} from './world/database.ts';

/** `lombard cells` and LOMBARD_CELLS; on Citus too, where LOMBARD_TEST_DATABASE_URL names a database with workers. */
let database: TestDatabase;
let pool: pg.Pool;
before(async () => {
  database = await createDatabase();
  pool = new pg.Pool({ connectionString: database.url });
  // Dropping the database ends connections that are still closing.
  pool.on('error', () => {});
  await pool.query(
    `insert into clients (client_id, client_name, status, fx_enabled, mass_payments_customer, authorisation_workflow,
       payment_approvals_enabled, payment_creator_approval_enabled, created_at)
     select 'CLI' || n, 'Client', 'enabled', true, false, 'simple', false, false, now() from generate_series(1, 3) n`,
  );
});
after(async () => {
  await pool.end();
  await database.drop();
});

const cells = (words: string[], environment: Record<string, string> = {}) =>
  lombard(['cells', ...words], { DATABASE_URL: database.url, ...environment }).ended;

test('list: the one cell with its server, clients and size, partitions included', async () => {
  const listed = await cells(['list', '--json']);
  assert.equal(listed.code, 0, listed.stderr);
  const [cell, ...others] = JSON.parse(listed.stdout);
  const { hostname, port } = new URL(database.url);
  assert.deepEqual([cell.cell, cell.clients, others], ['public', 3, []]);
  assert.match(cell.node, new RegExp(`^(${hostname.replaceAll('.', '\\.')}|127\\.0\\.0\\.1):${port}$`));

  await pool.query(
    "insert into webhook_events (client_id, type, body, created_at) select 'CLI1', 'PING', md5(n::text), now() from generate_series(1, 20000) n",
  );
  const again = JSON.parse((await cells(['list', '--json'])).stdout);
  assert.ok(again[0].bytes > cell.bytes + 1_000_000, `${cell.bytes}, then ${again[0].bytes}`);
  const shown = await cells(['list']);
  assert.match(shown.stdout, /^CELL +NODE +CLIENTS +MIB\npublic +\S+:\d+ +3 +\d+\n$/);
});

test('what needs several cells is refused, and says why', async () => {
  const cases: [words: string[], must: RegExp][] = [
    [['rebalance'], /there is one cell, so nothing can be spread: .*Citus.*docs\/scale\.md/],
    [['move', 'public', 'db2.internal:5432'], /the cell public stays on \S+:\d+: .*Citus.*docs\/scale\.md/],
    [['move', 'other', 'db2.internal:5432'], /the cell other does not exist: lombard cells list shows the cells/],
    [['move-client', 'CLI1', 'other'], /the cell other does not exist/],
    [['move-client', 'CLI9', 'public'], /the client CLI9 does not exist/],
  ];
  const refusals = await Promise.all(cases.map(([words]) => cells(words)));
  for (const [index, { code, stdout, stderr }] of refusals.entries()) {
    const [words, must] = cases[index] as (typeof cases)[number];
    assert.deepEqual([code, stdout], [1, ''], words.join(' '));
    assert.match(stderr, must);
  }
  const there = await cells(['move-client', 'CLI1', 'public', '--json']);
  assert.deepEqual([there.code, JSON.parse(there.stdout)], [0, { client_id: 'CLI1', cell: 'public' }]);
});

test('LOMBARD_CELLS: a wrong value is refused, and without Citus there is one cell', async () => {
  const refused = await cells(['list'], { LOMBARD_CELLS: '1025' });
  assert.deepEqual(
    [refused.code, refused.stderr],
    [1, 'lombard: LOMBARD_CELLS: must be a whole number from 1 to 1024, not "1025"\n'],
  );
  if (await hasCitus(pool)) return;
  const migrated = await lombard(['migrate'], { DATABASE_URL: database.url, LOMBARD_CELLS: '32' }).ended;
  assert.equal(migrated.code, 0, migrated.stderr);
  assert.equal((await listCells(pool)).length, 1);
});

test('a Citus cluster: migrating leaves its workers alone, and several cells are refused', async (t) => {
  const given = givenServer();
  if (given === undefined) return t.skip(NO_GIVEN_SERVER);
  const nodes = await nodesOf(given);
  if (nodes.length === 0) return t.skip('the database of LOMBARD_TEST_DATABASE_URL has no Citus workers');
  const empty = await createEmptyDatabase();
  const name = new URL(empty.url).pathname.slice(1);
  const workers = nodes.map(({ host, port }) =>
    Object.assign(new URL(given as string), { hostname: host, port: String(port) }),
  );
  try {
    for (const worker of workers) await run(worker, `create database ${name}`);
    for (const node of [empty.url, ...workers.map((worker) => at(worker, name))])
      await run(node, 'create extension citus');
    const { hostname, port } = new URL(given);
    await run(empty.url, `select citus_set_coordinator_host('${hostname}', ${port || 5432})`);
    for (const { host, port } of nodes) await run(empty.url, `select citus_add_node('${host}', ${port})`);

    const refused = await lombard(['migrate'], { DATABASE_URL: empty.url, LOMBARD_CELLS: '32' }).ended;
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /LOMBARD_CELLS: must be 1, not "32": .*docs\/scale\.md/);
    const migrated = await lombard(['migrate'], { DATABASE_URL: empty.url }).ended;
    assert.equal(migrated.code, 0, migrated.stderr + migrated.stdout);
    for (const worker of workers) {
      const { rows } = await run(
        at(worker, name),
        "select proname from pg_proc where pronamespace = 'public'::regnamespace",
      );
      assert.deepEqual(rows, []);
    }
  } finally {
    await empty.drop();
    for (const worker of workers) await run(worker, `drop database if exists ${name} with (force)`);
  }
});

/** The workers that the database of a server knows; none without Citus. */
async function nodesOf(url: string): Promise<{ host: string; port: number }[]> {
  const known = await run(url, "select to_regclass('pg_dist_node') is not null as known");
  if (!known.rows[0].known) return [];
  return (await run(url, 'select nodename as host, nodeport as port from pg_dist_node where groupid <> 0')).rows;
}

async function run(url: string | URL, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url.toString() });
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}

function at(server: URL, name: string): string {
  return new URL(`/${name}`, server).toString();
}
