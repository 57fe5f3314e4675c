import { after, test } from 'node:test';
import { prepareTemplate } from './world/database.ts';
import { NO_DEFAULT_POSTGRESQL, startDefaultServer } from './world/default-postgresql.ts';

/**
 * The plan tests once more, on a PostgreSQL 15 with default settings: what plans rely on comes with migrating (src/database/plan-settings.ts), and
 * not from the server's configuration.
 */
const server = await startDefaultServer();
if (server) {
  await prepareTemplate(server.url);
  process.env.LOMBARD_TEST_SERVER = server.url;
  await import('./feed/plans.test.ts');
  await import('./audit/list.test.ts');
  await import('./payments/search-plans.test.ts');
  await import('./webhooks/plans.test.ts');
  // Hooks run in the order of their registration: the databases are dropped first.
  after(() => server.stop());
} else {
  test('the plans on a PostgreSQL with default settings', { skip: NO_DEFAULT_POSTGRESQL }, () => {});
}
