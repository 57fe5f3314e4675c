import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { connectTo, isOnWorkers, ON_WORKERS } from './world/cells.ts';
import { createWorld } from './world/client.ts';
import { startTestService, type TestService } from './world/service.ts';
import { until } from './world/until.ts';

/** Tables that begin to grow get statistics from the service, before autovacuum looks at them (migrations/0024_statistics.sql). */
const MIN_ROWS = 50;

let service: TestService;
let db: pg.Client;
before(async () => {
  service = await startTestService({ LOMBARD_ROLES: 'operator,worker' });
});
after(async () => {
  await db?.end();
  await service.stop();
});

const createPayee = async (clientId: string, n: number) => {
  const { status, text } = await service.operator('POST', '/beneficiaries', {
    ...{ client_id: clientId, beneficiary_name: `Payee ${n}`, account_number: `${1_000_000 + n}`, currency: 'USD' },
  });
  assert.equal(status, 201, text);
};

test('a table that grows is analyzed, and one that hardly grows is not', async (t) => {
  if (await isOnWorkers(service)) return t.skip(ON_WORKERS);
  const { clientId } = await createWorld(service, 'Statistics');
  db = await connectTo(service, clientId);
  const analyzed = async () => {
    const { rows } = await db.query<{ name: string }>(
      `select relname as name from pg_stat_user_tables
       where schemaname = current_schema() and relname in ('beneficiaries', 'contact_clients') and analyze_count > 0`,
    );
    return rows.map(({ name }) => name);
  };
  // Sessions tell the server about their changes once a second at most, so it goes on growing.
  let made = 0;
  await until(async () => {
    for (let n = 0; n < 10; n += 1) await createPayee(clientId, made++);
    return (await analyzed()).length > 0;
  });
  assert.ok(made >= MIN_ROWS, `${made} rows`);
  assert.deepEqual(await analyzed(), ['beneficiaries']);
});
