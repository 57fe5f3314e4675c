import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { type Pool, savepoint, transaction } from '../src/database/database.ts';
import { createPool } from '../src/database/pools.ts';
import { notifyAll, type WebhookEvent } from '../src/webhooks/notification.ts';
import { createDatabase, log, type TestDatabase } from './world/database.ts';

/** What a transaction sends without waiting for it belongs to the transaction, however that ends. */

let database: TestDatabase;
let pool: Pool;
before(async () => {
  database = await createDatabase();
  pool = createPool(database.url, log, { max: 2 });
  await pool.query('create table things (n int primary key)');
});
after(async () => {
  await pool.end();
  await database.drop();
});

const event = (clientId: string): WebhookEvent => ({
  ...{ clientId, type: 'PAYMENT_STATUS_CHANGE', body: '{}', now: new Date() },
});
const count = async (table: string) => (await pool.query(`select count(*)::int as n from ${table}`)).rows[0].n;

test('a statement that fails later is what is told, and nothing stands', async () => {
  await assert.rejects(
    transaction(pool, async (tx) => {
      tx.later('insert into things values (1)');
      tx.later('insert into things values (1)');
      await tx.query('select 1');
    }),
    { code: '23505' },
  );
  await assert.rejects(
    transaction(pool, async (tx) => {
      tx.later('insert into things values (2)');
      tx.later('insert into things values (2)');
    }),
    { code: '23505' },
  );
  assert.equal(await count('things'), 0);
});

test('a connection that is lost while the transaction computes commits nothing, and the caller hears of it', async () => {
  const work = transaction(pool, async (tx) => {
    const { rows } = await tx.query('insert into things values (3) returning pg_backend_pid() as pid');
    const lost = once(tx, 'error');
    await pool.query('select pg_terminate_backend($1)', [rows[0].pid]);
    await lost;
    return 'done';
  });
  await assert.rejects(work, /terminat/);
  assert.equal(await count('things'), 0);
});

test('what is still read when the transaction is refused is never written', async () => {
  for (let n = 0; n < 20; n += 1)
    await assert.rejects(
      transaction(pool, async (tx) => {
        const reading = tx.query('select pg_sleep(0.01)').then(() => [event(`C${n}`)]);
        await notifyAll(tx, reading);
        await notifyAll(tx, [event(`D${n}`)]);
        throw new RangeError('refused');
      }),
      RangeError,
    );
  assert.equal(await count('webhook_events'), 0);
  assert.equal(await count('webhook_outbox'), 0);
});

test('a part that is undone leaves nothing, and the transaction goes on', async () => {
  await transaction(pool, async (tx) => {
    tx.later('insert into things values (3)');
    await assert.rejects(
      savepoint(tx, async () => {
        tx.later('insert into things values (4)');
        const reading = tx.query('select pg_sleep(0.01)').then(() => [event('C')]);
        await notifyAll(tx, reading);
        throw new RangeError('refused');
      }),
      RangeError,
    );
    await assert.rejects(
      savepoint(tx, async () => tx.later('insert into things values (3)')),
      { code: '23505' },
    );
    await savepoint(tx, async () => tx.later('insert into things values (5)'));
    await notifyAll(
      tx,
      tx.query('select pg_sleep(0.01)').then(() => [event('E')]),
    );
  });
  const { rows } = await pool.query('select n from things order by n');
  assert.deepEqual(
    rows.map(({ n }) => n),
    [3, 5],
  );
  const events = await pool.query('select client_id from webhook_events');
  assert.deepEqual(
    events.rows.map((row) => row.client_id),
    ['E'],
  );
});
