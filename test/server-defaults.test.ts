import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { onWorkers } from '../src/database/cells/citus-statements.ts';
import { isOnWorkers } from './world/cells.ts';
import { createDatabase } from './world/database.ts';
import { type OrdersWorld, ordersWorld } from './world/orders.ts';
import { startTestService, type TestService } from './world/service.ts';

/** An institution's own PostgreSQL may have other defaults: how dates are written, where it is, what a transaction sees. */

const STRANGE = {
  ...{ datestyle: 'SQL, DMY', intervalstyle: 'sql_standard', timezone: 'America/St_Johns' },
  default_transaction_isolation: 'repeatable read',
};

let service: TestService;
let world: OrdersWorld;
before(async () => {
  const database = await createDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const name = pg.escapeIdentifier(client.database as string);
  const statements = Object.entries(STRANGE).map(
    ([setting, value]) => `alter database ${name} set ${setting} = ${pg.escapeLiteral(value)};`,
  );
  await client.query(statements.join(' '));
  if (await isOnWorkers(client)) await client.query(onWorkers(statements.join(' ')));
  await client.end();
  service = await startTestService({}, database);
  world = await ordersWorld(service);
});
after(() => service?.stop());

test('the database has these settings for others', async () => {
  const { rows } = await service.query(`select '2026-07-03'::date::text as day, current_setting('timezone') as zone`);
  // With workers of Citus, the service's role has a DateStyle of its own, and the tests ask as this role.
  const day = (await isOnWorkers(service)) ? '2026-07-03' : '03/07/2026';
  assert.deepEqual(rows, [{ day, zone: STRANGE.timezone }]);
});

test('payments, transactions and the feed have the dates of everywhere', async () => {
  const now = (await service.operator('GET', '/clock')).body.now;
  const paid = await world.pay({ payment_date: '2026-07-03' });
  assert.equal(paid.status, 201, paid.text);
  const { body: found } = await world.ask('GET', '/payments');
  assert.equal(found[0].payment_date, '2026-07-03');
  const made = new Date(found[0].created_date).getTime() - new Date(now).getTime();
  assert.ok(Math.abs(made) < 60_000, `created ${found[0].created_date}, at ${now}`);
  const { body: feed } = await service.operator('GET', `/changes?client_id=${world.clientId}&entities=payment&wait=5`);
  assert.deepEqual(
    feed.changes.map(({ data }: { data: unknown }) => data),
    [await world.paid(paid.body.payment_id)],
  );
  await world.book('CREDIT_TRANSACTION', '2.00', { booking_datetime: '2026-07-03T23:30:00.25Z' });
  const { body: booked } = await service.operator(
    'GET',
    `/transactions?client_id=${world.clientId}&from=2026-07-03&to=2026-07-04`,
  );
  assert.deepEqual(
    booked.map((each: { booking_datetime: string }) => each.booking_datetime),
    ['2026-07-04T00:30:00+01:00'],
  );
});

test('orders that come at once each see what the one before has held', async () => {
  const [, , before] = await world.funds();
  const answers = await Promise.all(Array.from({ length: 12 }, () => world.order([world.payment(100)])));
  const statuses = answers.map(({ status }) => status);
  const affordable = Math.floor(Number(before) / 100);
  assert.equal(statuses.filter((status) => status === 201).length, affordable, `${statuses}`);
  assert.deepEqual(new Set(statuses), new Set([201, 409]));
});
