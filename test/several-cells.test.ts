import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { CELL_TABLES } from '../src/cell-tables.ts';
import { migrate, whatIsMissing } from '../src/migrate.ts';
import { createWorld } from './world/client.ts';
import { until } from './world/command.ts';
import { createEmptyDatabase, log, type TestDatabase } from './world/database.ts';
import { createSubscriber } from './world/graphql.ts';
import { Receiver } from './world/receivers/receiver.ts';
import { type Answer, startTestService, type TestService } from './world/service.ts';

/** Several cells in one ordinary PostgreSQL, each a schema (ARCHITECTURE, Cells). No configuration makes them yet. */
const CELLS = 3;
let database: TestDatabase;
let service: TestService;
before(async () => {
  database = await createEmptyDatabase();
  await migrate(database.url, log, { cells: 2, trialCells: true });
});
after(async () => {
  await service?.stop();
  await database.drop();
});

// biome-ignore lint/suspicious/noExplicitAny: what a test reads of a row is its own affair
async function query(text: string, values?: unknown[]): Promise<any[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

test('migrating makes cells, and later more: each has the tables of the first, and numbers of its own', async () => {
  await migrate(database.url, log, { cells: CELLS, trialCells: true });
  const again = await whatIsMissing(database.url, { cells: CELLS, trialCells: true });
  assert.deepEqual(again.names, []);
  // A smaller number takes none away.
  assert.deepEqual((await whatIsMissing(database.url)).names, []);
  assert.deepEqual(await query('select number, schema, made from cells order by number'), [
    { number: 0, schema: 'public', made: true },
    { number: 1, schema: 'public_cell_1', made: true },
    { number: 2, schema: 'public_cell_2', made: true },
    { number: 3, schema: 'public_cell_3', made: true },
  ]);
  const [first, ...others] = await Promise.all(
    ['public', 'public_cell_1', 'public_cell_2', 'public_cell_3'].map(structureOf),
  );
  assert.ok((first as string[]).length > 500, `${first?.length} parts`);
  for (const other of others) assert.deepEqual(other, first);
  for (const cell of [1, 2, 3]) {
    const [made] = await query(
      `insert into public_cell_${cell}.webhook_events (client_id, type, body, created_at) values ('X', 'PING', '', now()) returning id`,
    );
    assert.equal(Number(made.id), cell * 10 ** 12 + 1);
    await query(`delete from public_cell_${cell}.webhook_events`);
  }
});

/** Everything that a schema has for the tables of cells, but for its name and its numbers. */
async function structureOf(schema: string): Promise<string[]> {
  const rows = await query(
    `with own as (select oid, relname, relkind, relrowsecurity, reloptions from pg_class
       where relnamespace = $1::regnamespace and relname = any($2))
     select 'table ' || relname || relkind::text || relrowsecurity || coalesce(reloptions::text, '') as part from own
     union all select 'column ' || o.relname || '.' || attname || ' ' || format_type(atttypid, atttypmod) || attnotnull || attidentity::text
         || coalesce(pg_get_expr(d.adbin, d.adrelid), '')
       from own o join pg_attribute a on a.attrelid = o.oid and a.attnum > 0 and not a.attisdropped
       left join pg_attrdef d on d.adrelid = o.oid and d.adnum = a.attnum
     union all select 'index ' || pg_get_indexdef(indexrelid) from own o join pg_index on indrelid = o.oid
     union all select 'constraint ' || o.relname || ' ' || conname || ' ' || pg_get_constraintdef(c.oid) from own o join pg_constraint c on conrelid = o.oid
     union all select 'trigger ' || pg_get_triggerdef(t.oid) from own o join pg_trigger t on tgrelid = o.oid where not tgisinternal
     union all select 'policy ' || o.relname || polname || pg_get_expr(polqual, polrelid) from own o join pg_policy on polrelid = o.oid`,
    [schema, [...CELL_TABLES]],
  );
  return rows.map(({ part }) => (part as string).replaceAll(`${schema}.`, '').replaceAll('public.', '')).sort();
}

test('a service serves clients of several cells', async (t) => {
  service = await startTestService(
    { LOMBARD_WEBHOOK_ALLOW: '127.0.0.0/8' },
    { url: database.url, drop: async () => {} },
  );
  // One after the other: two that are created at once may go to one cell.
  const worlds: Awaited<ReturnType<typeof createSubscriber>>[] = [];
  for (const name of ['First', 'Second', 'Third']) worlds.push(await createSubscriber(service, name));
  const cellOf = async (clientId: string) =>
    (await query('select cell from clients where client_id = $1', [clientId]))[0].cell as number;

  await t.test('each new client goes to the cell with the fewest', async () => {
    const world = await createWorld(service, 'Fourth');
    const cells = await query('select cell, count(*)::int as n from clients group by 1 order by 1');
    assert.deepEqual(cells.map(({ n }) => n).sort(), [1, 1, 2]);
    assert.ok((await cellOf(world.clientId)) > 0);
  });

  await t.test('an Idempotency-Key counts for all cells', async () => {
    const headers = { 'idempotency-key': 'one client' };
    const create = () => service.operator('POST', '/clients', { client_name: 'Once' }, { headers });
    const answers = [await create(), await create()];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 201],
    );
    assert.equal(answers[1]?.body.client_id, answers[0]?.body.client_id);
    const other = await service.operator('POST', '/trades', { client_id: worlds[0]?.clientId }, { headers });
    assert.ok(other.status >= 400);
  });

  const [first, second] = worlds as [(typeof worlds)[0], (typeof worlds)[0]];
  await t.test('payments are made, found and moved in the cell of their client', async () => {
    const ids: string[] = [];
    for (const world of worlds) {
      for (const amount of [100, 200]) {
        const paid = await world.pay({ amount });
        assert.equal(paid.status, 201, paid.text);
        ids.push(paid.body.payment_id);
      }
      const schema = `public_cell_${await cellOf(world.clientId)}`;
      const rows = await query(`select amount from ${schema}.payments where client_id = $1 order by 1`, [
        world.clientId,
      ]);
      assert.deepEqual(
        rows.map(({ amount }) => Number(amount)),
        [100, 200],
      );
    }
    assert.equal(new Set(ids).size, ids.length);
    assert.deepEqual(await query('select from public.payments'), []);
    for (const world of worlds) {
      const found = await service.client(world.token, 'GET', `/payments?client_id=${world.clientId}`);
      assert.deepEqual([found.status, found.headers.get('x-total-count')], [200, '2'], found.text);
      assert.deepEqual(found.body.map(({ amount }: { amount: number }) => amount).sort(), [100, 200]);
    }
    const read = await service.operator('GET', `/payments/${ids[0]}`);
    assert.equal(read.status, 200, read.text);
    const moved = await service.operator('POST', `/payments/${ids[0]}/actions`, { action: 'validate' });
    assert.equal(moved.status, 200, moved.text);
  });

  await t.test('nobody reaches a client of another cell', async () => {
    const refused = await service.client(first.token, 'GET', `/payments?client_id=${second.clientId}`);
    assert.deepEqual([refused.status, refused.body.code], [404, 'client_not_found']);
  });

  await t.test('the institution lists all cells, or one client', async () => {
    const all = await service.operator('GET', '/trades?page_size=100');
    assert.equal(all.headers.get('x-total-count'), '4', all.text);
    const own = await service.operator('GET', `/payments?client_id=${first.clientId}`);
    assert.equal(own.headers.get('x-total-count'), '2', own.text);
  });

  await t.test('an approval is given in the cell of its client', async () => {
    const world = await createWorld(service, 'Four eyes', {
      authorisation_workflow: '4-eyes',
      payment_approvals_enabled: true,
    });
    const approver = await world.hire('Approver', { password: world.password });
    const paid = await world.pay();
    assert.equal(paid.status, 201, paid.text);
    const token = await service.signIn(approver.email, world.password);
    const waiting = await service.client(
      token,
      'GET',
      `/payments?client_id=${world.clientId}&status=pending_your_approval`,
    );
    assert.equal(waiting.body.length, 1, waiting.text);
    const done = await service.client(
      token,
      'PATCH',
      `/payments/${paid.body.payment_id}?client_id=${world.clientId}&action=authorise`,
    );
    assert.ok(done.status < 300, done.text);
    // The contact of one client loses its permission: the approvers of that client change in its cell.
    const second = await world.pay();
    const disabled = await service.operator('PATCH', `/contacts/${approver.contactId}`, { status: 'disabled' });
    assert.equal(disabled.status, 200, disabled.text);
    const schema = `public_cell_${await cellOf(world.clientId)}`;
    const left = await query(
      `select a.contact_id from ${schema}.payment_approvers a join ${schema}.payments p on p.id = a.payment_id
       where p.payment_id = $1 and a.may_authorise`,
      [second.body.payment_id],
    );
    assert.deepEqual(
      left.filter(({ contact_id }) => contact_id === approver.contactId),
      [],
    );
  });

  await t.test('webhooks are sent from every cell', async () => {
    const receiver = await Receiver.start();
    try {
      for (const world of worlds) {
        const id = await world.subscribe({ url: receiver.url(), types: ['PAYMENT_STATUS_CHANGE'], active: true });
        assert.ok(id);
        await world.pay({ amount: 7 });
      }
      await receiver.wait(3);
    } finally {
      await receiver.stop();
    }
  });

  await t.test('the feed has one order over all cells', async () => {
    const changes: { entity: string; entity_id: string }[] = [];
    await until(async () => {
      changes.length = 0;
      for (let cursor = ''; ; ) {
        const page: Answer = await service.operator('GET', `/changes?limit=1000${cursor}`);
        assert.equal(page.status, 200, page.text);
        changes.push(...page.body.changes);
        cursor = `&after=${page.body.cursor}`;
        if (!page.body.more) break;
      }
      const payments = new Set(changes.filter(({ entity }) => entity === 'payment').map((change) => change.entity_id));
      return payments.size >= 11;
    });
    await until(async () => {
      const [unpublished] = await query('select count(*)::int as n from public_cells.changes_unpublished');
      return unpublished.n === 0;
    });
  });

  await t.test('payment totals are rolled up, and the audit trail is sealed, in each cell', async () => {
    await until(async () => {
      const [left] = await query(
        `select (select count(*) from public_cells.payment_total_deltas)::int as deltas, (select count(*) from public_cells.audit_unsealed)::int as unsealed`,
      );
      return left.deltas === 0 && left.unsealed === 0;
    });
    const totals = await query('select distinct client_id from public_cells.payment_totals');
    assert.equal(totals.length, 4);
  });
});
