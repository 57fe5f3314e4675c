import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { hasCitus, listCells } from '../../src/database/cells/cell.ts';
import { onServer, workersOf } from '../world/cluster.ts';
import { lombard } from '../world/command.ts';
import { createClusterDatabase, createDatabaseOfOneCell, NO_CLUSTER, type TestDatabase } from '../world/database.ts';

/** `lombard cells` and LOMBARD_CELLS; on Citus too, where LOMBARD_TEST_DATABASE_URL names a database with workers. */
let database: TestDatabase;
let pool: pg.Pool;
before(async () => {
  database = await createDatabaseOfOneCell();
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

test('a database that lets nobody in, or is not there, is one line', async () => {
  const as = (changes: Partial<URL>) => ({ DATABASE_URL: Object.assign(new URL(database.url), changes).toString() });
  const cases: [changes: Partial<URL>, must: RegExp][] = [
    [
      { username: 'nobody_here' },
      /^lombard: DATABASE_URL: the database refuses the user or the password \(.*nobody_here.*\)\n$/,
    ],
    [{ pathname: '/not_there' }, /^lombard: DATABASE_URL: the server does not have the database \(.*not_there.*\)\n$/],
    [{ port: '9' }, /^lombard: DATABASE_URL: the database cannot be reached \(.*ECONNREFUSED.*\)\n$/],
  ];
  for (const [changes, must] of cases) {
    const refused = await cells(['list'], as(changes));
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, must);
  }
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

test('a Citus cluster: as many cells as are asked for, more later, and never fewer', async (t) => {
  const cluster = await createClusterDatabase();
  if (!cluster) return t.skip(NO_CLUSTER);
  const { url } = cluster;
  try {
    const checked = await lombard(['migrate', '--check', '--json'], { DATABASE_URL: url }).ended;
    assert.ok(JSON.parse(checked.stdout).missing.some((name: string) => name.startsWith('public_cell_32: ')));
    for (const [asked, count] of [
      ['1', 1],
      ['2', 3],
      [undefined, 3],
      ['3', 4],
      ['2', 4],
    ] as const) {
      const environment = { DATABASE_URL: url, ...(asked === undefined ? {} : { LOMBARD_CELLS: asked }) };
      const migrated = await lombard(['migrate'], environment).ended;
      assert.equal(migrated.code, 0, migrated.stderr + migrated.stdout);
      const listed = await cells(['list', '--json'], environment);
      assert.equal(JSON.parse(listed.stdout).length, count, asked);
    }
    // What exists once is on the coordinator only.
    for (const worker of await workersOf(url)) {
      const { rows } = await onServer(worker, (client) =>
        client.query("select proname from pg_proc where pronamespace = 'public'::regnamespace"),
      );
      assert.deepEqual(rows, []);
    }
  } finally {
    await cluster.drop();
  }
});
