import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examine } from '../src/cli/doctor/examine.ts';
import { refusePooler } from '../src/pooler.ts';
import { accessToken } from './world/access-token.ts';
import { createWorld } from './world/client.ts';
import { createDatabase } from './world/database.ts';
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
