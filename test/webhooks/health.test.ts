import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import type { Context } from '../../src/context.ts';
import { transaction } from '../../src/database/database.ts';
import { createPool } from '../../src/database/pools.ts';
import { readConfig } from '../../src/settings/config.ts';
import { Vault } from '../../src/values/crypto.ts';
import { Endpoint } from '../../src/webhooks/delivery/endpoint.ts';
import { DISABLE_AFTER_MS, EndpointHealth } from '../../src/webhooks/delivery/health.ts';
import type { Outcome } from '../../src/webhooks/sending/outcome.ts';
import { createSubscription } from '../../src/webhooks/subscription.ts';
import { createDatabase, log, type TestDatabase } from '../world/database.ts';
import { nextRun } from '../world/runs.ts';
import { until } from '../world/until.ts';

/** Switching off after five days of nothing but failures: what counts are the moments of attempts, whichever process made them. */

const BEGAN = Date.parse('2031-03-04T10:00:00Z');
const MINUTE = 60_000;

let database: TestDatabase;
let pool: pg.Pool;
let time = BEGAN;
const clock = { now: () => new Date(time) };
before(async () => {
  database = await createDatabase();
  pool = createPool(database.url, log, { max: 4, background: true });
  await pool.query(
    `insert into contacts (contact_id, name, email, second_factor, trusted_access, created_at) values ('CON', 'c', 'c@example.com', 'none', false, now());
     insert into clients (client_id, client_name, status, fx_enabled, mass_payments_customer, authorisation_workflow, payment_approvals_enabled,
       payment_creator_approval_enabled, created_at) values ('CLI', 'c', 'enabled', true, false, 'simple', false, false, now())`,
  );
});
after(async () => {
  await pool.end();
  await database.drop();
});

const answer = (statusCode: number): Outcome => ({ statusCode, headers: {}, body: '', reason: null, durationMs: 1 });

/** Two processes that send to one new subscription. */
async function processes() {
  time = BEGAN;
  const id = await transaction(pool, (tx) =>
    createSubscription(
      tx,
      { now: clock.now(), actor: 'test', requestId: 'test' },
      { clientId: 'CLI', contactId: 'CON', url: 'http://127.0.0.1:9/', types: ['DEBIT_TRANSACTION'], active: true },
      { sandbox: true, brand: 'Service', vault: new Vault(Buffer.alloc(32, 7)), streamUrl: 'http://service.example' },
    ),
  );
  const context = { config: readConfig({}), clock, log, pool, backgroundPool: pool } as unknown as Context;
  const make = () => ({ health: new EndpointHealth(context, pool, () => {}), endpoint: new Endpoint(id) });
  const [one, two] = [make(), make()];
  const attempt = (process: typeof one, success: boolean) =>
    process.health.note(process.endpoint, answer(success ? 204 : 500), 1);
  /** As if some time had passed in which everything was written. */
  const written = async () => {
    for (const { health } of [one, two]) await health.flush();
  };
  const row = async () => {
    const { rows } = await pool.query(
      `select active, disabled_reason, (select failing_since from webhook_endpoints where subscription_id = id) as failing
       from subscriptions where id = $1`,
      [id],
    );
    return rows[0] as { active: boolean; disabled_reason: string | null; failing: Date | null };
  };
  return { one, two, attempt, written, row };
}

test('nothing but failures for five days, in whichever process: switched off at the first failure after them', async () => {
  const { one, two, attempt, written, row } = await processes();
  for (const process of [one, two, one]) {
    attempt(process, false);
    await written();
    time += DISABLE_AFTER_MS / 3;
  }
  time -= 1;
  attempt(two, false);
  await written();
  assert.deepEqual(await row(), { active: true, disabled_reason: null, failing: new Date(BEGAN) });
  time += 1;
  attempt(one, false);
  await written();
  assert.deepEqual(await row(), { active: false, disabled_reason: 'failing', failing: new Date(BEGAN) });
});

test('a success that another process saw, within the minute, ends the failures', async () => {
  const { one, two, attempt, written, row } = await processes();
  attempt(one, true);
  await written();
  time += 1_000;
  attempt(two, false);
  await written();
  time += 1_000;
  attempt(one, true);
  await written();
  assert.equal((await row()).failing, null);
  time += DISABLE_AFTER_MS + MINUTE;
  attempt(two, false);
  await written();
  assert.deepEqual(await row(), { active: true, disabled_reason: null, failing: new Date(time) });
});

test('a success that is written after a later failure, or before an earlier one, is in its place all the same', async () => {
  const { one, two, attempt, written, row } = await processes();
  attempt(one, false);
  await written();
  time += MINUTE;
  attempt(one, true);
  time += 1_000;
  attempt(two, false);
  const failed = time;
  await two.health.flush();
  await one.health.flush();
  assert.deepEqual((await row()).failing, null, 'the failure joined those before it, which the success has ended');
  time += 1_000;
  attempt(two, false);
  await written();
  assert.ok(((await row()).failing?.getTime() ?? 0) >= failed);

  time += MINUTE;
  attempt(two, false);
  time += 1_000;
  attempt(one, true);
  await one.health.flush();
  await two.health.flush();
  assert.equal((await row()).failing, null, 'the failure came before the success');
});

test('a success and a failure within one write: the failures begin with that failure', async () => {
  const { one, attempt, written, row } = await processes();
  attempt(one, false);
  await written();
  time += DISABLE_AFTER_MS;
  attempt(one, true);
  time += 60;
  attempt(one, false);
  time += 60;
  attempt(one, false);
  await written();
  assert.deepEqual(await row(), { active: true, disabled_reason: null, failing: new Date(time - 60) });
});

test('410 switches off at once, unless it was the answer to what the subscription was before', async () => {
  const { one, row } = await processes();
  const judged = nextRun('webhook switch-off');
  one.health.note(one.endpoint, answer(410), 0);
  await judged;
  assert.ok((await row()).active, 'it has changed since that attempt');
  one.health.note(one.endpoint, answer(410), 1);
  await until(async () => !(await row()).active);
  assert.equal((await row()).disabled_reason, 'gone');
});
