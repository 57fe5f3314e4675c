import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { inCell } from '../../src/database/cells/scope.ts';
import { CELL_TABLES } from '../../src/database/cells/tables.ts';
import { migrate, whatIsMissing } from '../../src/database/migrate.ts';
import { readMigrations } from '../../src/database/schema.ts';
import { createWorld } from '../world/client.ts';
import { createClusterDatabase, createEmptyDatabase, log, type TestDatabase } from '../world/database.ts';
import { createSubscriber } from '../world/graphql.ts';
import { pageSession } from '../world/page-session.ts';
import { Receiver } from '../world/receivers/receiver.ts';
import { type Answer, call, startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';
import { cookieOf } from '../world/visitor.ts';

/**
 * Several cells, each a schema (docs/decisions/0016): in one ordinary PostgreSQL, or on the workers of a Citus cluster, where
 * LOMBARD_TEST_DATABASE_URL names one. No configuration makes them yet.
 */
const CELLS = 3;
let database: TestDatabase;
let distributed: boolean;
let service: TestService;
before(async () => {
  const cluster = await createClusterDatabase();
  distributed = cluster !== undefined;
  database = cluster ?? (await createEmptyDatabase());
  await migrate(database.url, log, { cells: 2, trialCells: true });
});
after(async () => {
  await service?.stop();
  const server = new URL('/postgres', database.url).toString();
  await query(`drop owned by ${ROLE}`).catch(() => {});
  await database.drop();
  await query(`drop role if exists ${ROLE}`, [], server);
});

/** The service runs as a role that owns nothing. */
const ROLE = `service_${randomBytes(4).toString('hex')}`;

// biome-ignore lint/suspicious/noExplicitAny: each test decides what it reads of a row
async function query(text: string, values?: unknown[], connectionString = database.url): Promise<any[]> {
  const client = new pg.Client({ connectionString });
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
  for (const other of others)
    assert.deepEqual(
      ...([other, first].map((parts) => (distributed ? parts?.filter(isComparable) : parts)) as [string[], string[]]),
    );
  for (const cell of [1, 2, 3]) {
    const [made] = await query(
      `insert into public_cell_${cell}.webhook_events (client_id, type, body, created_at) values ('X', 'PING', '', now()) returning id`,
    );
    assert.equal(Number(made.id), cell * 10 ** 12 + 1);
    await query(`delete from public_cell_${cell}.webhook_events`);
  }
});

/** A distributed cell has other triggers, and no key to what exists once. */
function isComparable(part: string): boolean {
  return !part.startsWith('trigger ') && !part.endsWith('REFERENCES clients(client_id)');
}

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
  return rows
    .map(({ part }) => (part as string).replaceAll(`${schema}.`, '').replaceAll('public.', ''))
    .map((part) => part.replace(/refuse_other_cell\('\d+'\)/, 'refuse_other_cell(its number)'))
    .sort();
}

test('while a migration runs, nobody takes the first cell for all', async () => {
  const failing = { number: 9_999, name: '9999_fails.sql', sql: 'select 1/0', sha256: 'none', oldestProgram: 9_999 };
  const migrations = [...(await readMigrations()), failing];
  await assert.rejects(migrate(database.url, log, { migrations }), /division by zero/);
  await assert.rejects(query('select payment_id from public_cells.payments'), { code: '57P03' });
  assert.equal((await whatIsMissing(database.url)).names.length, 1);
  await migrate(database.url, log);
  assert.deepEqual(await query('select payment_id from public_cells.payments'), []);
});

test('a process that was started with one cell refuses clients of others that were added', async () => {
  const own = await createEmptyDatabase();
  const before = await startTestService({}, { url: own.url, drop: async () => {} });
  try {
    const world = await createSubscriber(before, 'Old');
    await migrate(own.url, log, { cells: 2, trialCells: true });
    const after = await startTestService({}, { url: own.url, drop: async () => {} });
    try {
      const other = await createSubscriber(after, 'New');
      const list = (at: TestService, { token, clientId }: typeof other) =>
        at.client(token, 'GET', `/payments?client_id=${clientId}`);
      for (const [at, of] of [
        [after, world],
        [after, other],
        [before, world],
      ] as const)
        assert.equal((await list(at, of)).status, 200);
      const refused = await list(before, other);
      assert.deepEqual([refused.status, refused.body.code], [503, 'interrupted'], refused.text);
      assert.ok(refused.headers.get('retry-after'));
      await until(() => before.service.readiness.fault()?.includes('several cells now'));
    } finally {
      await after.stop();
    }
  } finally {
    await before.stop();
    await own.drop();
  }
});

test('a service serves clients of several cells', async (t) => {
  await migrate(database.url, log, {
    cells: CELLS,
    trialCells: true,
    service: { user: ROLE, password: 'secret' },
  });
  const url = new URL(database.url);
  Object.assign(url, { username: ROLE, password: 'secret' });
  service = await startTestService(
    { LOMBARD_WEBHOOK_ALLOW: '127.0.0.0/8', LOMBARD_MIGRATE: 'no' },
    { url: url.toString(), drop: async () => {} },
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
    const cookie = `${cookieOf(service, 'app')}=${(await pageSession(service, first.contactId)).cookies.get(cookieOf(service, 'app'))}`;
    for (const [id, status] of [
      [ids[0], 200],
      [ids[2], 404],
    ]) {
      const page = await call(`${service.api}/app/payments/${id}`, 'GET', { headers: { cookie } });
      assert.equal(page.status, status, page.text);
    }
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

  await t.test('what an address names is found where it is, whichever client a filter names', async () => {
    const [payment] = (await service.operator('GET', `/payments?client_id=${first.clientId}`)).body;
    const read = await service.operator('GET', `/payments/${payment.payment_id}?client_id=${second.clientId}`);
    assert.equal(read.body.client_id, first.clientId, read.text);
    const trade = await service.operator('PATCH', `/trades/${first.tradeId}?client_id=${second.clientId}`, {
      status: 'Funds In Full',
    });
    assert.equal(trade.status, 200, trade.text);
  });

  await t.test('what no cell has is not found, whatever is asked for', async () => {
    const listeners = [
      { base: service.operatorUrl, token: service.operatorToken, filter: '' },
      { base: service.api, token: first.token, filter: `?client_id=${first.clientId}` },
    ];
    for (const { base, token, filter } of listeners) {
      const { paths } = (await call(`${base}/openapi.json`, 'GET')).body;
      const named = Object.keys(paths).filter(
        (path) => paths[path].get && path.includes('{') && path !== '/currencies/{currency}',
      );
      assert.ok(named.length > 1);
      for (const path of named) {
        const answer = await call(base + path.replace(/\{\w+\}/g, randomUUID()) + filter, 'GET', { token });
        assert.equal(answer.status, 404, `${path}: ${answer.text}`);
      }
    }
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

  await t.test('work that names no cell is refused what clients have, and may add what belongs to none', async () => {
    const { pool } = service.service.context;
    const refused = /this work names no cell, and \w+ is in the cells of clients/;
    for (const text of [
      'select payment_id from payments where false',
      'select count(*) from clients c where exists (select from payments p where p.client_id = c.client_id)',
      'select from audit limit 1',
      'delete from subscriptions',
      `insert into sandbox_requests (client_id) values ('${first.clientId}')`,
    ])
      await assert.rejects(pool.query(text), refused, text);
    const rows = await pool.query(
      `insert into audit (at, actor, request_id, action, entity, entity_id) values (now(), 'service:test', 'none', 'action', 'test', '1') returning id`,
    );
    assert.deepEqual(await query('select id from public.audit where id = $1', [rows.rows[0].id]), [
      { id: String(rows.rows[0].id) },
    ]);
    assert.equal((await inCell('all', () => pool.query('select from payments'))).rowCount, 8);
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

  await t.test('a running process learns of a cell that is added', async () => {
    const receiver = await Receiver.start();
    try {
      const options = { cells: CELLS + 1, trialCells: true, service: { user: ROLE, password: 'secret' } };
      await migrate(database.url, log, options);
      const world = await createSubscriber(service, 'In the new cell');
      assert.equal(await cellOf(world.clientId), CELLS + 1);
      await world.subscribe({ url: receiver.url(), types: ['PAYMENT_STATUS_CHANGE'], active: true });
      assert.equal((await world.pay()).status, 201);
      await receiver.wait(1);
      const left = 'select count(*)::int as n from public_cell_4.';
      for (const table of ['changes_unpublished', 'audit_unsealed', 'payment_total_deltas'])
        await until(async () => (await query(`${left}${table}`))[0].n === 0);
    } finally {
      await receiver.stop();
    }
  });
});
