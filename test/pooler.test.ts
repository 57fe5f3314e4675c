import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examine } from '../src/cli/doctor/examine.ts';
import { migrate } from '../src/database/migrate.ts';
import { refusePooler } from '../src/database/pooler.ts';
import { accessToken } from './world/access-token.ts';
import { createWorld } from './world/client.ts';
import { createDatabase, createEmptyDatabase, log } from './world/database.ts';
import { createSubscriber } from './world/graphql.ts';
import { hasPooler, NO_POOLER, startPooler } from './world/pooler.ts';
import { startTestService } from './world/service.ts';

/** The service through PgBouncer in transaction mode (docs/configuration.md). */
const skip = hasPooler() ? false : NO_POOLER;

test('a pooler in transaction mode is refused, and works with the address of the server itself', { skip }, async () => {
  const database = await createDatabase();
  const pooler = await startPooler(database.url, 'transaction');
  const through = { url: pooler.url, drop: async () => {} };
  try {
    await assert.rejects(
      startTestService({}, through),
      /^StartupError: DATABASE_URL leads through a pooler in transaction mode: LOMBARD_SESSION_DATABASE_URL must name the server itself/,
    );
    const doctor = async (more: Record<string, string>) =>
      (await examine({ LOMBARD_DATA_DIR: '/none', DATABASE_URL: pooler.url, ...more })).find(
        ({ check }) => check === 'pooler',
      );
    assert.equal((await doctor({}))?.status, 'failed');
    assert.equal((await doctor({ LOMBARD_SESSION_DATABASE_URL: database.url }))?.status, 'ok');
    const wrong = { DATABASE_URL: 'postgres://127.0.0.1:9/none', LOMBARD_SESSION_DATABASE_URL: database.url };
    assert.match((await doctor(wrong))?.message ?? '', /^DATABASE_URL does not lead to the database/);
    const service = await startTestService(
      { DATABASE_URL: pooler.url, LOMBARD_SESSION_DATABASE_URL: database.url },
      through,
    );
    try {
      const world = await createWorld(service);
      assert.equal((await world.pay()).status, 201);
      const token = await accessToken(service, world.contactId);
      const search = () => service.client(token, 'GET', `/payments?client_id=${world.clientId}`);
      const pages = await Promise.all(Array.from({ length: 40 }, search));
      assert.deepEqual([...new Set(pages.map(({ status, body }) => `${status} ${body.length}`))], ['200 1']);
    } finally {
      await service.stop();
    }
  } finally {
    await pooler.stop();
    await database.drop();
  }
});

test('several cells through a pooler in transaction mode: each transaction finds its own, whoever had the connection before', {
  skip,
}, async () => {
  const database = await createEmptyDatabase();
  await migrate(database.url, log, { cells: 3, trialCells: true });
  const pooler = await startPooler(database.url, 'transaction');
  const service = await startTestService(
    { DATABASE_URL: pooler.url, LOMBARD_SESSION_DATABASE_URL: database.url },
    { url: pooler.url, drop: async () => {} },
  );
  try {
    const worlds: Awaited<ReturnType<typeof createSubscriber>>[] = [];
    for (const name of ['One', 'Two', 'Three']) worlds.push(await createSubscriber(service, name));
    const work = async (world: (typeof worlds)[0], amount: number) => {
      const paid = await world.pay({ amount });
      assert.equal(paid.status, 201, paid.text);
      const { clientId, token } = world;
      const found = await service.client(token, 'GET', `/payments/${paid.body.payment_id}?client_id=${clientId}`);
      assert.deepEqual([found.status, found.body.amount], [200, amount], found.text);
      const subscription = await world.subscribe();
      const { data } = await world.graphql(
        'query ($id: UUID!) { subscriptions(filter: { id: { equalTo: $id } }) { nodes { id } } }',
        {
          id: subscription,
        },
      );
      assert.deepEqual(data?.subscriptions.nodes, [{ id: subscription }]);
    };
    await Promise.all(Array.from({ length: 12 }, (_, n) => work(worlds[n % 3] as (typeof worlds)[0], n + 1)));
    for (const { clientId, token } of worlds) {
      const page = await service.client(token, 'GET', `/payments?client_id=${clientId}`);
      assert.equal(page.headers.get('x-total-count'), '4', page.text);
    }
    const { rows } = await service.query(
      'select cell, count(*)::int as n from public_cells.payments join clients using (client_id) group by 1 order by 1',
    );
    assert.deepEqual(
      rows,
      [1, 2, 3].map((cell) => ({ cell, n: 4 })),
    );
    // The pooler's connections keep the path of every session.
    const paths = await Promise.all(Array.from({ length: 10 }, () => service.query('show search_path')));
    assert.deepEqual([...new Set(paths.map((path) => path.rows[0].search_path))], ['"$user", public']);
  } finally {
    await service.stop();
    await pooler.stop();
    await database.drop();
  }
});

test('a pooler in session mode is an ordinary address', { skip }, async () => {
  const database = await createDatabase();
  const pooler = await startPooler(database.url, 'session');
  try {
    await refusePooler(pooler.url);
    await refusePooler(database.url);
  } finally {
    await pooler.stop();
    await database.drop();
  }
});
