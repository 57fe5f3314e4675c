import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type pg from 'pg';
import { splitStatements } from '../../src/database/cells/migrations.ts';
import { inCell } from '../../src/database/cells/scope.ts';
import type { DatabaseClient } from '../../src/database/client.ts';
import { migrate } from '../../src/database/migrate.ts';
import { Link } from '../faults/link.ts';
import { createWorld } from '../world/client.ts';
import { onServer, workersOf } from '../world/cluster.ts';
import { lombard } from '../world/command.ts';
import { createClusterDatabase, givenServer, log, NO_CLUSTER, type TestDatabase } from '../world/database.ts';
import { createSubscriber } from '../world/graphql.ts';
import { freePort } from '../world/ports.ts';
import { startTestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** Cells on the workers of a Citus cluster: `lombard cells move` and `rebalance` (docs/scale.md, Cells). */
test('a cell moves to another server while its client pays: nothing is lost, and what was set up works there', async (t) => {
  const database = await createClusterDatabase();
  if (!database) return t.skip(NO_CLUSTER);
  await migrate(database.url, log, { cells: 2, trialCells: true });
  const service = await startTestService({}, database);
  t.after(() => service.stop());
  const cells = (...words: string[]) => lombard(['cells', ...words], { DATABASE_URL: database.url }).ended;
  const listed = async (): Promise<{ cell: string; node: string; clients: number; bytes: number }[]> =>
    JSON.parse((await cells('list', '--json')).stdout);

  const world = await createWorld(service, 'Moved');
  const [first, ...others] = await listed();
  const from = others.find(({ clients }) => clients === 1);
  const to = others.find(({ node }) => node !== from?.node);
  assert.ok(first && from && to, JSON.stringify([first, ...others]));
  assert.ok(from.bytes > 500_000 && from.node !== first.node, JSON.stringify(from));

  let moved: Awaited<ReturnType<typeof cells>> | undefined;
  const moving = cells('move', from.cell, to.node).then((ended) => {
    moved = ended;
  });
  const paid: string[] = [];
  let longestMs = 0;
  while (!moved) {
    const began = Date.now();
    const answer = await world.pay({ amount: paid.length + 1 });
    longestMs = Math.max(longestMs, Date.now() - began);
    // While its writers wait, a request may give up.
    if (answer.status === 201) paid.push(answer.body.payment_id);
    else assert.equal(answer.status, 502, answer.text);
  }
  await moving;
  assert.deepEqual([moved.code, moved.stderr], [0, ''], moved.stderr);
  t.diagnostic(`${paid.length} payments during the move; the longest took ${longestMs} ms`);

  const after = (await listed()).find(({ cell }) => cell === from.cell);
  assert.deepEqual([after?.node, after?.clients], [to.node, 1]);
  const later = await world.pay({ amount: 1 });
  assert.equal(later.status, 201, later.text);
  const kept = await onServer(database.url, (client) =>
    client.query(
      `select p.payment_id, (select count(*)::int from ${from.cell}.audit a where a.entity = 'payment' and a.entity_id = p.payment_id) as rows
       from ${from.cell}.payments p where p.payment_id = any($1)`,
      [[...paid, later.body.payment_id]],
    ),
  );
  assert.deepEqual(
    kept.rows.filter(({ rows }) => rows !== 1),
    [],
  );
  assert.equal(kept.rowCount, paid.length + 1);

  const refusals: [words: string[], must: RegExp][] = [
    [['move', from.cell, 'nowhere:5432'], /the server nowhere:5432 is none that can have cells: they are /],
    [['move', first.cell, to.node], /the cell public stays on \S+: it also has what exists once/],
  ];
  for (const [words, must] of refusals) {
    const { code, stderr } = await cells(...words);
    assert.equal(code, 1);
    assert.match(stderr, must);
  }
  const spread = await cells('rebalance', '--json');
  assert.equal(spread.code, 0, spread.stderr);
  assert.equal(new Set((JSON.parse(spread.stdout) as typeof others).map(({ node }) => node)).size, 3);
});

test('a worker that is activated again answers as before', async (t) => {
  const database = await createClusterDatabase();
  if (!database) return t.skip(NO_CLUSTER);
  await migrate(database.url, log, { cells: 2, trialCells: true });
  const service = await startTestService({}, database);
  t.after(() => service.stop());
  const clients = [await createSubscriber(service, 'Activated'), await createSubscriber(service, 'Beside')];
  await onServer(database.url, (client) =>
    client.query('select citus_activate_node(nodename, nodeport) from pg_dist_node where groupid <> 0'),
  );
  // The coordinator connects anew.
  for (const server of await workersOf(database.url))
    await onServer(server, (client) =>
      client.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      ),
    );
  for (const client of clients) {
    const read = await client.graphql('{ subscriptions { nodes { id } } }');
    assert.deepEqual([read.status, read.body], [200, { data: { subscriptions: { nodes: [] } } }], read.text);
    assert.equal((await client.pay({ amount: 1 })).status, 201);
  }
});

/** The database of a cluster whose service runs as a role of its own, and the variables of its commands. */
async function withTwoRoles(
  database: TestDatabase,
): Promise<{ own: TestDatabase; environment: Record<string, string> }> {
  const user = `service_${randomBytes(4).toString('hex')}`;
  const url = Object.assign(new URL(database.url), { username: user }).toString();
  const drop = async () => {
    await database.drop();
    for (const server of [givenServer() as string, ...(await workersOf(givenServer() as string))])
      await onServer(server, (client) =>
        client.query(`set citus.enable_ddl_propagation = off; drop role if exists ${user}`),
      );
  };
  return { own: { url, drop }, environment: { DATABASE_URL: url, LOMBARD_MIGRATE_DATABASE_URL: database.url } };
}

test('a service with a role of its own sends again, writes after a worker was activated, and keeps clients apart', async (t) => {
  const database = await createClusterDatabase();
  if (!database) return t.skip(NO_CLUSTER);
  const { own, environment } = await withTwoRoles(database);
  const commands = { ...environment, LOMBARD_CELLS: '2' };
  const migrated = await lombard(['migrate'], commands).ended;
  assert.equal(migrated.code, 0, migrated.stderr);
  const checked = await lombard(['migrate', '--check'], commands).ended;
  assert.deepEqual([checked.code, checked.stdout], [0, '']);
  const service = await startTestService({ LOMBARD_MIGRATE: 'no', LOMBARD_ROLES: 'api,auth,operator' }, own);
  t.after(() => service.stop());
  const [one, other] = [await createSubscriber(service, 'One'), await createSubscriber(service, 'Other')];
  const ids = [await one.subscribe(), await other.subscribe()];
  await one.history(ids[0] ?? '', 3);

  const { rows } = await service.query(`select id from ${await one.schemaOf()}.notifications order by id limit 1`);
  const again = await service.operator('POST', `/notifications/${rows[0].id}/redeliver`);
  assert.deepEqual([again.status, again.body], [202, { count: 1 }], again.text);
  const since = '2026-01-01T00:00:00Z';
  const failed = await service.operator('POST', `/subscriptions/${ids[0]}/replay`, { since, only_failed: true });
  assert.equal(failed.status, 202, failed.text);
  const all = await service.operator('POST', `/subscriptions/${ids[0]}/replay`, { since });
  assert.equal(all.status, 202, all.text);
  assert.ok(all.body.count >= 2, all.text);
  for (const [index, world] of [one, other].entries()) {
    const read = await world.graphql('{ subscriptions { nodes { id notifications { nodes { id } } } } }');
    assert.deepEqual(
      read.data.subscriptions.nodes.map(({ id }: { id: string }) => id),
      [ids[index]],
      read.text,
    );
    assert.equal(read.data.subscriptions.nodes[0].notifications.nodes.length, index === 0 ? 3 : 0, read.text);
  }

  // It gives a worker what the roles are on the coordinator.
  await onServer(database.url, (client) =>
    client.query('select citus_activate_node(nodename, nodeport) from pg_dist_node where groupid <> 0'),
  );
  for (const world of [one, other]) {
    const imported = await service.operator('POST', '/imports/payments', undefined, {
      raw: ['A', 'B'].map((id) => JSON.stringify({ ...world.base, payment_id: `${world.clientId}-${id}` })).join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    assert.equal(imported.status, 200, imported.text);
    assert.equal(imported.body.accepted, 2, imported.text);
  }
});

test('an owner who is no superuser is told so, and where, before anything is made on a worker', async (t) => {
  const database = await createClusterDatabase();
  if (!database) return t.skip(NO_CLUSTER);
  const owner = `owner_${randomBytes(4).toString('hex')}`;
  const servers = [database.url, ...(await workersOf(database.url))];
  const everywhere = async (sql: string) => {
    for (const server of servers)
      await onServer(server, (client) => client.query(`set citus.enable_ddl_propagation = off; ${sql}`));
  };
  await everywhere(`create role ${owner} login createrole`);
  t.after(async () => {
    await onServer(givenServer() as string, (client) => client.query(`drop role if exists ${owner}`));
  });
  await onServer(database.url, (client) =>
    client.query(`alter database ${new URL(database.url).pathname.slice(1)} owner to ${owner}; alter schema public owner to ${owner};
      do $$ begin if to_regrole('lombard_client') is not null then grant lombard_client to ${owner} with admin option; end if; end $$`),
  );
  const url = Object.assign(new URL(database.url), { username: owner }).toString();
  const refused = await lombard(['migrate'], { DATABASE_URL: url, LOMBARD_CELLS: '2' }).ended;
  await database.drop();
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    new RegExp(`${owner} is not on the coordinator: run there .*alter role ${owner} superuser`),
  );
  assert.doesNotMatch(refused.stderr, /\n {4}at /);
});

test('a worker that was added later gets the roles of the service before it gets a cell', async (t) => {
  const database = await createClusterDatabase({ leaveOut: true });
  if (!database) return t.skip(NO_CLUSTER);
  const { own, environment } = await withTwoRoles(database);
  const migrated = await lombard(['migrate'], { ...environment, LOMBARD_CELLS: '1' }).ended;
  assert.equal(migrated.code, 0, migrated.stderr);
  await migrate(database.url, log, {
    cells: 2,
    trialCells: true,
    service: { user: new URL(own.url).username, password: undefined },
  });
  const service = await startTestService({ LOMBARD_MIGRATE: 'no' }, own);
  t.after(() => service.stop());
  const world = await createSubscriber(service, 'Moved');
  const { rows } = await service.query('select cell from clients where client_id = $1', [world.clientId]);
  await database.addWorker();
  const added = (await workersOf(database.url)).at(-1) as string;
  const { host } = new URL(added);
  const moved = await lombard(['cells', 'move', `public_cell_${rows[0].cell}`, host], environment).ended;
  assert.equal(moved.code, 0, moved.stderr);
  const paid = await world.pay({ amount: 1 });
  assert.equal(paid.status, 201, paid.text);
  const read = await world.graphql('{ subscriptions { nodes { id } } }');
  assert.deepEqual(read.body, { data: { subscriptions: { nodes: [] } } }, read.text);
  const settings = await onServer(added, (client) =>
    client.query('select from pg_db_role_setting s join pg_roles r on r.oid = s.setrole where r.rolname = $1', [
      new URL(own.url).username,
    ]),
  );
  assert.equal(settings.rowCount, 1);
  const spread = await lombard(['cells', 'rebalance'], environment).ended;
  assert.equal(spread.code, 0, spread.stderr);
});

test('what migrate prints for an empty cluster makes a database that takes changes', async (t) => {
  const database = await createClusterDatabase();
  if (!database) return t.skip(NO_CLUSTER);
  const environment = { DATABASE_URL: database.url, LOMBARD_CELLS: '2' };
  const printed = await lombard(['migrate', '--print'], environment).ended;
  assert.equal(printed.code, 0, printed.stderr);
  await onServer(database.url, async (client) => {
    for (const statement of splitStatements(printed.stdout)) await client.query(statement);
  });
  const checked = await lombard(['migrate', '--check'], environment).ended;
  assert.deepEqual([checked.code, checked.stdout], [0, ''], checked.stdout);
  const service = await startTestService({ LOMBARD_MIGRATE: 'no' }, database);
  t.after(() => service.stop());
  const world = await createWorld(service, 'Printed');
  const paid = await world.pay({ amount: 1 });
  assert.equal(paid.status, 201, paid.text);
});

test('a process is killed between claim and record: its client may give the identifier again, nobody else', async (t) => {
  const database = await createClusterDatabase();
  if (!database) return t.skip(NO_CLUSTER);
  await migrate(database.url, log, { cells: 2, trialCells: true });
  // Without a worker nothing else commits meanwhile.
  const service = await startTestService({ LOMBARD_ROLES: 'api,auth,operator' }, database);
  t.after(() => service.stop());
  const [world, other] = [await createWorld(service, 'Killed'), await createWorld(service, 'Other')];
  const { rows } = await service.query('select cell from clients where client_id = $1', [world.clientId]);
  const dataDir = mkdtempSync(join(tmpdir(), 'lombard-killed-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const port = await freePort();
  const killed = lombard(['serve'], {
    ...{ DATABASE_URL: database.url, LOMBARD_DATA_DIR: dataDir, LOMBARD_ROLES: 'operator' },
    ...{ LOMBARD_OPERATOR_PORT: String(port), LOMBARD_OPERATOR_TOKEN: 'k'.repeat(40), LOMBARD_HEALTH_PORT: '0' },
  });
  t.after(() => killed.child.kill('SIGKILL'));
  await until(async () => (await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined))?.ok === true);

  const payment = { ...world.base, payment_id: 'BETWEEN' };
  await onServer(database.url, async (holder) => {
    await holder.query(`begin; lock table public_cell_${rows[0].cell}.payments in exclusive mode`);
    const asked = fetch(`http://127.0.0.1:${port}/payments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${'k'.repeat(40)}`, 'content-type': 'application/json' },
      body: JSON.stringify(payment),
    }).catch(() => undefined);
    await until(async () => (await service.query(`select from claims where id = 'BETWEEN'`)).rowCount === 1);
    killed.child.kill('SIGKILL');
    await asked;
    await killed.ended;
    await holder.query('rollback');
  });
  assert.equal((await service.operator('GET', '/payments/BETWEEN')).status, 404);
  const refused = await service.operator('POST', '/payments', { ...other.base, payment_id: 'BETWEEN' });
  assert.deepEqual([refused.status, refused.body.details], [409, 'body.payment_id: is already in use']);
  const again = await service.operator('POST', '/payments', payment);
  assert.equal(again.status, 201, again.text);

  // What is changed once and in a cell is committed by two phases. Citus keeps a row for each server of such a commit.
  const { pool } = service.service.context;
  const phases = async () => (await service.query('select count(*)::int as n from pg_dist_transaction')).rows[0].n;
  const change = async (...texts: string[]) => {
    const before = await phases();
    for (const last of [false, true]) {
      const tx = (await inCell(rows[0].cell, () => pool.connect())) as pg.PoolClient & DatabaseClient;
      await tx.query('begin');
      for (const text of last ? texts.slice(0, -1) : texts) await tx.query(text);
      await (last ? tx.commitAfter({ text: texts.at(-1) ?? '' }) : tx.query('commit'));
      tx.release();
    }
    return (await phases()) - before;
  };
  const inItsCell = `update payments set reference = 'two' where payment_id = 'BETWEEN'`;
  assert.equal(await change(inItsCell), 0);
  assert.equal(await change(inItsCell, `delete from idempotency_keys where key = 'two phases'`), 2);
});

/** Lets the servers of a cluster reach its last worker by a path that can swallow what it carries, or lead nowhere. */
async function linkToWorker(coordinator: string): Promise<{ link: Link; port: number }> {
  const port = Number(new URL((await workersOf(coordinator)).at(-1) as string).port);
  const link = await Link.start(port);
  await onServer(coordinator, (client) =>
    client.query('select citus_update_node(nodeid, $1, $2) from pg_dist_node where nodeport = $3', [
      ...['127.0.0.1', link.port],
      port,
    ]),
  );
  return { link, port };
}

test('a server dies while it gives a cell away: the move says so in one line, nothing is lost, and it can be repeated', async (t) => {
  const database = await createClusterDatabase();
  if (!database) return t.skip(NO_CLUSTER);
  const { link, port } = await linkToWorker(database.url);
  t.after(() => link.stop());
  await migrate(database.url, log, { cells: 2, trialCells: true });
  const service = await startTestService({}, database);
  t.after(() => service.stop());
  const worlds = [await createWorld(service, 'One'), await createWorld(service, 'Other')];
  const cells = (...words: string[]) => lombard(['cells', ...words], { DATABASE_URL: database.url }).ended;
  const list = async (): Promise<{ cell: string; node: string; clients: number }[]> =>
    JSON.parse((await cells('list', '--json')).stdout);
  const [, ...further] = await list();
  const from = further.find(({ node }) => node === `127.0.0.1:${link.port}`);
  const to = further.find(({ node }) => node !== from?.node);
  assert.ok(from && to, JSON.stringify(further));
  const target = (await workersOf(database.url)).find((url) => new URL(url).host === to.node) as string;

  const moving = cells('move', from.cell, to.node);
  await until(
    async () => (await onServer(target, (client) => client.query('select from pg_subscription'))).rowCount !== 0,
  );
  link.leadTo(9);
  const broken = await moving;
  assert.equal(broken.code, 1);
  assert.match(
    broken.stderr,
    /^lombard: the cell public_cell_\d did not get to \S+ \(.+\): see that every server .+\n$/,
  );
  // So does one that begins while the server is down.
  for (const words of [['move', from.cell, to.node], ['rebalance']]) {
    const refused = await cells(...words);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /^lombard: .+ run the command again.+\n$/);
  }
  link.leadTo(port);
  const again = await cells('move', from.cell, to.node);
  assert.deepEqual([again.code, again.stderr], [0, '']);
  assert.deepEqual((await list()).map(({ clients, node }) => [clients, node]).slice(1), [
    [1, to.node],
    [1, to.node],
  ]);
  for (const world of worlds) {
    const paid = await world.pay({ amount: 1 });
    assert.equal(paid.status, 201, paid.text);
  }
});

test('a worker that gives no answer holds back its own clients only, and is caught up later', async (t) => {
  const database = await createClusterDatabase();
  if (!database) return t.skip(NO_CLUSTER);
  const { link } = await linkToWorker(database.url);
  t.after(() => link.stop());
  await migrate(database.url, log, { cells: 4, trialCells: true });
  const service = await startTestService({}, database);
  t.after(() => service.stop());
  const worlds: Awaited<ReturnType<typeof createWorld>>[] = [];
  for (let number = 1; number <= 4; number += 1) worlds.push(await createWorld(service, `Client ${number}`));
  const { rows } = await service.query(
    `select c.client_id, s.nodeport as port from clients c join cells e on e.number = c.cell
     join citus_shards s on s.table_name::text = e.schema || '.payments'`,
  );
  const portOf = new Map(rows.map(({ client_id: id, port }) => [id, port]));
  const [ill, well] = [true, false].map((silent) =>
    worlds.filter(({ clientId }) => (portOf.get(clientId) === link.port) === silent),
  ) as [typeof worlds, typeof worlds];
  assert.deepEqual([ill.length, well.length], [2, 2]);

  let cursor = (await service.operator('GET', '/changes?after=now')).body.cursor;
  const seen: string[] = [];
  const read = async () => {
    const page = await service.operator('GET', `/changes?limit=1000&after=${cursor}`);
    assert.equal(page.status, 200, page.text);
    cursor = page.body.cursor;
    for (const { entity, entity_id: id } of page.body.changes) if (entity === 'payment') seen.push(id);
  };
  const pay = async (world: (typeof worlds)[number]) => {
    const paid = await world.pay({ amount: 1 });
    assert.equal(paid.status, 201, paid.text);
    return paid.body.payment_id as string;
  };
  const before = await Promise.all(worlds.map(pay));
  link.swallow();
  // More callers than there are connections.
  const asked = ill.flatMap((world) =>
    Array.from({ length: 8 }, async () => {
      const answer = await world.pay({ amount: 2 });
      assert.equal(answer.status, 502, answer.text);
    }),
  );
  const first = await Promise.all(well.map(pay));
  await Promise.all(asked);
  const second = await Promise.all(well.map(pay));
  const lines = well.map((world, number) => JSON.stringify({ ...world.base, payment_id: `IMPORTED-${number}` }));
  const imported = await service.operator('POST', '/imports/payments', undefined, {
    raw: lines.join('\n'),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  assert.deepEqual([imported.status, imported.body.accepted], [200, 2], imported.text);
  const others = [...first, ...second, 'IMPORTED-0', 'IMPORTED-1'];
  await until(async () => {
    await read();
    return others.every((id) => seen.includes(id));
  });
  for (const world of well) {
    const schema = `public_cell_${(await service.query('select cell from clients where client_id = $1', [world.clientId])).rows[0].cell}`;
    await until(async () => (await service.query(`select from ${schema}.audit_unsealed`)).rowCount === 0);
  }

  link.heal();
  await until(async () => (await ill[0]?.pay({ amount: 3 }))?.status === 201);
  const last = await Promise.all(ill.map(pay));
  await until(async () => {
    await read();
    return [...before, ...last].every((id) => seen.includes(id));
  });
  assert.equal(new Set(seen).size, seen.length, 'each payment has been in the feed once');
  let verified = await service.operator('GET', '/audit/verify');
  await until(async () => {
    verified = await service.operator('GET', '/audit/verify');
    return verified.status === 200;
  });
  assert.equal(verified.body.valid, true, verified.text);
});
