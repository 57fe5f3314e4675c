import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDatabase, givenServer, NO_GIVEN_SERVER } from './world/database.ts';
import { startTestService } from './world/service.ts';

/**
 * With LOMBARD_TEST_DATABASE_URL every file of the run uses that server instead of the embedded one, each with databases of its own. This
 * test says which server it is, or that there was no such run.
 */
test('the tests on a given PostgreSQL server', { skip: givenServer() ? false : NO_GIVEN_SERVER }, async (t) => {
  const database = await createDatabase();
  const service = await startTestService({}, database);
  try {
    const { rows } =
      await service.query(`select current_setting('server_version') as version, current_setting('port') as port,
      (select extversion from pg_extension where extname = 'citus') as citus`);
    const [{ version, port, citus }] = rows;
    t.diagnostic(`PostgreSQL ${version}${citus ? `, Citus ${citus}` : ''}`);
    assert.equal(port, new URL(givenServer() as string).port || '5432');
    assert.equal((await service.operator('POST', '/clients', { client_name: 'Ashdown Ltd' })).status, 201);
  } finally {
    await service.stop();
  }
});
