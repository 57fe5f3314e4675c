import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import pg from 'pg';
import { readPaths } from '../../src/database/cells/cell.ts';
import { DELTA_TABLES, MOVED_TABLES } from '../../src/database/cells/tables.ts';
import { migrate } from '../../src/database/migrate.ts';
import { createPool } from '../../src/database/pools.ts';
import { relocateClient, rowsOf } from '../../src/relocation/relocation.ts';
import { type Command, lombard } from '../world/command.ts';
import { createClusterDatabase, createEmptyDatabase, log, type TestDatabase } from '../world/database.ts';
import { createSubscriber } from '../world/graphql.ts';
import { pageSession } from '../world/page-session.ts';
import { Receiver } from '../world/receivers/receiver.ts';
import { type Answer, startTestService, type TestService } from '../world/service.ts';
import { createStatementWorld, mailsOf } from '../world/statements.ts';
import { until } from '../world/until.ts';

const PERIOD = { date_from: '2026-01-01', date_to: '2026-12-31' };

/** `lombard cells move-client` (docs/scale.md, Cells), with several schemas of one PostgreSQL or on the workers of a Citus cluster. */
let database: TestDatabase;
let service: TestService;
let client: Awaited<ReturnType<typeof createSubscriber>>;
let receiver: Receiver;
before(async () => {
  database = (await createClusterDatabase()) ?? (await createEmptyDatabase());
  await migrate(database.url, log, { cells: 2, trialCells: true });
  service = await startTestService(
    { LOMBARD_WEBHOOK_ALLOW: '127.0.0.0/8', LOMBARD_WEBHOOK_TIMEOUT: '60s' },
    { url: database.url, drop: async () => {} },
  );
  client = await createSubscriber(service, 'Moved');
  receiver = await Receiver.start();
  await client.subscribe({ url: receiver.url(), types: ['PAYMENT_STATUS_CHANGE'], active: true });
});
after(async () => {
  await service?.stop();
  await receiver?.stop();
  await database?.drop();
});

const move = (cell: string, clientId = client.clientId): Command =>
  lombard(['cells', 'move-client', clientId, cell, '--json'], { DATABASE_URL: database.url });
const cellNow = async () =>
  (await service.query('select cell, moves_to from clients where client_id = $1', [client.clientId])).rows[0];
const announced = () => until(async () => (await cellNow()).moves_to !== null);
const read = (path: string) => service.client(client.token, 'GET', `${path}?client_id=${client.clientId}`);

/** Rows of the client in the tables of a cell. */
async function rowsIn(schema: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of MOVED_TABLES) {
    const where = rowsOf(table, `${schema}.`);
    const text = `select count(*)::int as n from ${schema}.${table} where ${where}`;
    counts[table] = (await service.query(text, [client.clientId])).rows[0].n;
  }
  return counts;
}

interface Change {
  cursor: string;
  entity: string;
  entity_id: string;
  version: number;
}

/** All changes of the client so far, page by page. */
async function feed(after?: string): Promise<Change[]> {
  const changes: Change[] = [];
  for (let cursor = after; ; ) {
    const from = cursor === undefined ? '' : `&after=${cursor}`;
    const page = await service.operator('GET', `/changes?limit=200&client_id=${client.clientId}${from}`);
    assert.equal(page.status, 200, page.text);
    changes.push(...page.body.changes);
    cursor = page.body.cursor;
    if (!page.body.more) return changes;
  }
}

/** Each record's versions count from 1 in the order of the feed. */
function assertOrder(changes: readonly Change[]): void {
  const versions = new Map<string, number>();
  for (const { entity, entity_id: id, version } of changes) {
    const key = `${entity} ${id}`;
    assert.equal(version, (versions.get(key) ?? 0) + 1, `${key}: ${version} follows ${versions.get(key)}`);
    versions.set(key, version);
  }
  assert.deepEqual(
    changes.map(({ cursor }) => cursor),
    changes.map(({ cursor }) => cursor).toSorted(),
  );
}

test('a client is moved while it writes, and a reader follows the feed', async () => {
  assert.equal((await cellNow()).cell, 1);
  const paid: string[] = [];
  const refused: Answer[] = [];
  const others: Answer[] = [];
  let ended = false;
  const writer = async () => {
    while (!ended) {
      const answer = await client.pay({ amount: 5 });
      if (answer.status === 201) {
        paid.push(answer.body.payment_id);
        const acted = await service.operator('POST', `/payments/${answer.body.payment_id}/actions`, {
          action: 'validate',
        });
        if (acted.status !== 200) (acted.status === 503 ? refused : others).push(acted);
      } else (answer.status === 503 ? refused : others).push(answer);
      await pause(20);
    }
  };
  const reader = async () => {
    while (!ended) {
      const answer = await read('/payments');
      if (answer.status !== 200) (answer.status === 503 ? refused : others).push(answer);
      else if (Number(answer.headers.get('x-total-count')) < paid.length - 5) others.push(answer);
      await pause(20);
    }
  };
  const followed: Change[] = [];
  const follower = async () => {
    for (let cursor: string | undefined; !ended; ) {
      const changes = await feed(cursor);
      followed.push(...changes);
      cursor = changes.at(-1)?.cursor ?? cursor;
    }
  };
  const working = [writer(), writer(), reader(), follower()];
  await until(async () => paid.length >= 5);
  const moving = move('public_cell_2');
  await announced();
  const imported = fetch(`${service.operatorUrl}/imports/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.operatorToken}`, 'content-type': 'application/x-ndjson' },
    body: `${JSON.stringify({ ...client.base, payment_id: 'WAITED' })}\n`,
  });
  const done = await moving.ended;
  assert.deepEqual([done.code, done.stderr], [0, '']);
  assert.deepEqual(JSON.parse(done.stdout), { client_id: client.clientId, cell: 'public_cell_2' });
  const before = paid.length;
  await until(async () => paid.length >= before + 5);
  assert.deepEqual(((await (await imported).json()) as Answer['body']).accepted, 1);
  paid.push('WAITED');
  ended = true;
  await Promise.all(working);

  // On a busy machine a connection to the database can take longer than a request waits.
  assert.deepEqual(
    others.map(({ status, text }) => [status, text]).filter(([status]) => status !== 502),
    [],
  );
  assert.ok(refused.length > 0);
  for (const { headers, body } of refused) {
    assert.equal(body.code, 'interrupted');
    assert.match(headers.get('retry-after') ?? '', /^\d+$/);
  }
  assert.deepEqual(await cellNow(), { cell: 2, moves_to: null });
  const left = await rowsIn('public_cell_1');
  assert.deepEqual(
    Object.entries(left).filter(([name, rows]) => rows > 0 && name !== 'sandbox_requests'),
    [],
  );
  const there = await rowsIn('public_cell_2');
  const { rows: stored } = await service.query('select payment_id from public_cell_2.payments where client_id = $1', [
    client.clientId,
  ]);
  const ids = new Set(stored.map(({ payment_id: id }) => id as string));
  assert.deepEqual(
    paid.filter((id) => !ids.has(id)),
    [],
  );
  assert.ok(ids.size <= paid.length + others.length, `${ids.size} payments`);
  assert.equal(there.payments, ids.size);
  await until(async () => (await read('/payments')).headers.get('x-total-count') === String(ids.size));

  // The feed has each payment once, in its order, and what was followed meanwhile is the same.
  let changes: Change[] = [];
  await until(async () => {
    changes = await feed();
    const created = changes.filter(({ entity, version }) => entity === 'payment' && version === 1);
    return created.length === ids.size;
  });
  assertOrder(changes);
  assert.deepEqual(
    followed.map(({ cursor }) => cursor),
    changes.slice(0, followed.length).map(({ cursor }) => cursor),
  );
  // Every notification is delivered.
  await until(async () => {
    const open = await service.query(
      `select (select count(*) from public_cells.webhook_outbox)::int + (select count(*) from public_cells.webhook_queue)::int as n`,
    );
    return open.rows[0].n === 0;
  });
  const told = new Set(receiver.received.map(({ body }) => JSON.parse(body.toString()).data?.[0]?.payment_id));
  for (const id of paid.filter((each) => each !== 'WAITED')) assert.ok(told.has(id), `${id} was not told`);
  // The audit trail is read over both cells.
  const trail = await service.operator('GET', `/audit?client_id=${client.clientId}&limit=1000`);
  const actions = trail.body.map(({ entity, action, after }: Record<string, unknown>) => [entity, action, after]);
  assert.ok(actions.some(([entity, action]: unknown[]) => entity === 'trade' && action === 'create'));
});

test('a move that is killed has done nothing, and the client goes on', async () => {
  const before = await rowsIn('public_cell_2');
  // After it was announced.
  const first = move('public_cell_1');
  await announced();
  first.child.kill('SIGKILL');
  await first.ended;
  await until(async () => (await client.pay({ amount: 6 })).status === 201);
  assert.deepEqual(await cellNow(), { cell: 2, moves_to: null });

  // Within its transaction, which waits for somebody who holds the client.
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('select from clients where client_id = $1 for key share', [client.clientId]);
    const second = move('public_cell_1');
    await until(async () => {
      const waiting = await service.query(
        `select from pg_stat_activity where application_name = 'lombard-cells' and wait_event_type = 'Lock' and datname = current_database()`,
      );
      return waiting.rows.length > 0;
    });
    const { status, headers } = await read('/payments');
    assert.deepEqual([status, headers.has('retry-after')], [503, true]);
    second.child.kill('SIGKILL');
    await second.ended;
    await holder.query('rollback');
  } finally {
    await holder.end();
  }
  await until(async () => (await client.pay({ amount: 6 })).status === 201);
  await until(async () => (await read('/payments')).status === 200);
  assert.deepEqual(await cellNow(), { cell: 2, moves_to: null });
  const since = await rowsIn('public_cell_2');
  assert.ok((since.payments ?? 0) >= (before.payments ?? 0) + 2);

  const there = await move('public_cell_2').ended;
  assert.deepEqual([there.code, JSON.parse(there.stdout).cell], [0, 'public_cell_2']);
});

test('a client comes back, and its versions go on', async () => {
  const back = await move('public_cell_1').ended;
  assert.deepEqual([back.code, back.stderr], [0, '']);
  assert.deepEqual(await cellNow(), { cell: 1, moves_to: null });
  const paid = await client.pay({ amount: 8 });
  assert.equal(paid.status, 201, paid.text);
  await until(async () => (await read('/payments')).status === 200);
  const renamed = await service.operator('PATCH', `/beneficiaries/${client.beneficiaryId}`, {
    beneficiary_name: 'Renamed GmbH',
  });
  assert.equal(renamed.status, 200, renamed.text);
  await until(async () => (await feed()).some(({ entity, version }) => entity === 'beneficiary' && version === 2));
  assertOrder(await feed());
});

test('changes whose places were given by a worker that then died do not hinder a move', async () => {
  const empty = (await createClusterDatabase()) ?? (await createEmptyDatabase());
  await migrate(empty.url, log, { cells: 2, trialCells: true });
  // Nobody publishes here but the move.
  const idle = await startTestService({ LOMBARD_ROLES: 'operator' }, { url: empty.url, drop: () => empty.drop() });
  try {
    const made = await idle.operator('POST', '/clients', { client_id: 'KEPT', client_name: 'Kept' });
    assert.equal(made.status, 201, made.text);
    const renamed = await idle.operator('PATCH', '/clients/KEPT', { client_name: 'Renamed' });
    assert.equal(renamed.status, 200, renamed.text);
    const { rows } = await idle.query("select cell from clients where client_id = 'KEPT'");
    const [from, to] = rows[0].cell === 1 ? ['public_cell_1', 'public_cell_2'] : ['public_cell_2', 'public_cell_1'];
    const placed = await idle.query(
      `insert into change_order (position, batch, changes, at) select 2, batch, changes, now() from ${from}.changes_unpublished`,
    );
    assert.equal(placed.rowCount, 1);
    const moved = await lombard(['cells', 'move-client', 'KEPT', to], { DATABASE_URL: empty.url }).ended;
    assert.deepEqual([moved.code, moved.stderr], [0, '']);
    const left = await idle.query(`select from ${from}.changes_unpublished`);
    assert.equal(left.rowCount, 0);
  } finally {
    await idle.stop();
  }
});

test('a client leaves the first cell, where it may be from before there were others', async () => {
  assert.equal((await move('public').ended).code, 0);
  const paid = await client.pay({ amount: 7 });
  assert.equal(paid.status, 201, paid.text);
  // As it is with what was written while there was one cell.
  await service.query('delete from claims where client_id = $1', [client.clientId]);
  const left = await move('public_cell_1').ended;
  assert.deepEqual([left.code, left.stderr], [0, '']);
  assert.deepEqual(await cellNow(), { cell: 1, moves_to: null });
  const claimed = await service.query('select field from claims where id = $1', [paid.body.payment_id]);
  assert.deepEqual(claimed.rows, [{ field: 'payment_id' }]);
});

test('the totals of payments and approvals go with the client, whatever was counted last', async () => {
  const approvals = { payment_approvals_enabled: true, authorisation_workflow: '4-eyes' };
  const counted = await createSubscriber(service, 'Counted', approvals);
  const { clientId } = counted;
  await counted.hire('Approver');
  const from = await counted.schemaOf();
  const to = from === 'public_cell_1' ? 'public_cell_2' : 'public_cell_1';
  const paid: string[] = [];
  const pay = async (amount: number) => {
    const { status, body, text } = await counted.pay({ amount });
    assert.equal(status, 201, text);
    paid.push(body.payment_id);
  };
  const cancel = async (id = '') => {
    const { status, text } = await service.operator('POST', `/payments/${id}/actions`, { action: 'cancel' });
    assert.equal(status, 200, text);
  };
  for (let n = 1; n <= 6; n += 1) await pay(n * 70);
  // No roll-up has seen this yet.
  await cancel(paid[3]);
  const moved = await move(to, clientId).ended;
  assert.deepEqual([moved.code, moved.stderr], [0, '']);

  const count = async (schema: string, table: string): Promise<number> =>
    (await service.query(`select count(*)::int as n from ${schema}.${table} where client_id = $1`, [clientId])).rows[0]
      .n;
  const tables = [...MOVED_TABLES.filter((name) => name.endsWith('_totals')), ...DELTA_TABLES];
  assert.equal(tables.length, 10);
  for (const table of tables) assert.equal(await count(from, table), 0, `${from}.${table}`);
  for (const table of DELTA_TABLES) assert.equal(await count(to, table), 0, `${to}.${table}`);
  const exact = async (payments: number, waiting: number) => {
    const totals = await service.query(
      `select (select sum(n) from ${to}.payment_totals where client_id = $1 and grain = 4)::int as all,
         (select sum(n) from ${to}.payment_totals where client_id = $1 and grain = 0 and phase = 1)::int as pending,
         (select sum(n) from ${to}.payment_amount_totals where client_id = $1)::int as amounts,
         (select sum(n) from ${to}.payment_beneficiary_totals where client_id = $1)::int as beneficiaries,
         (select sum(n) from ${to}.payment_waiting_totals where client_id = $1 and grain = 0)::int as waiting,
         (select sum(amount) from ${to}.payment_waiting_totals where client_id = $1 and grain = 0)::text as amount,
         (select sum(amount) from ${to}.payment_approver_totals where client_id = $1 and grain = 0)::text as approvers`,
      [clientId],
    );
    const { amount, approvers } = (
      await service.query(
        `select (select sum(amount) from ${to}.payments where client_id = $1 and phase = 1)::text as amount,
           (select sum(p.amount) from ${to}.payment_approvers a join ${to}.payments p on p.id = a.payment_id
            where a.client_id = $1 and a.may_authorise)::text as approvers`,
        [clientId],
      )
    ).rows[0];
    const counts = { all: payments, amounts: payments, beneficiaries: payments, pending: waiting, waiting };
    assert.deepEqual(totals.rows[0], { ...counts, amount, approvers });
  };
  await exact(6, 5);
  // They are counted on from there.
  await pay(490);
  await cancel(paid[1]);
  await until(async () => {
    const left = await Promise.all(DELTA_TABLES.map((table) => count(to, table)));
    return left.every((n) => n === 0);
  });
  await exact(7, 5);
});

test('a notification that is on its way is waited for, and is not sent a second time', async () => {
  const pool = createPool(database.url, log, {
    max: 3,
    background: true,
    cells: await readPaths(service.service.context.pool),
  });
  const held: (() => void)[] = [];
  receiver.behaviour = (_request, response) => void held.push(() => response.end('ok'));
  try {
    const paid = await client.pay({ amount: 9 });
    assert.equal(paid.status, 201, paid.text);
    const sent = () =>
      receiver.received
        .filter(({ body }) => body.includes(paid.body.payment_id))
        .map(({ headers }) => headers['x-service-notification-id']);
    await until(() => sent().length > 0);
    const act = { now: new Date(), actor: 'service:test', requestId: 'test' };
    const relocation = { clientId: client.clientId, from: 1, to: 2, idleWaitMs: 200 };
    await assert.rejects(relocateClient(pool, act, relocation), /have been on their way for 0.2 seconds: try again/);
    assert.deepEqual(await cellNow(), { cell: 1, moves_to: null });
    for (const answer of held) answer();
    await relocateClient(pool, act, { ...relocation, idleWaitMs: 20_000 });
    assert.equal((await cellNow()).cell, 2);
    assert.equal(new Set(sent()).size, sent().length);
  } finally {
    receiver.behaviour = (_request, response) => void response.end('ok');
    await pool.end();
  }
});

test('statements, the trail and the log of requests go on in order in a cell of lower numbers', async () => {
  const world = await createStatementWorld(service, ['EUR'], 'Booked');
  const { clientId } = world;
  const credit = (amount: string) => world.book('EUR', 'CREDIT_TRANSACTION', amount);
  const booked: string[] = [];
  for (const amount of ['10.00', '20.00']) booked.push((await credit(amount)).transaction_id);
  const asked = await world.ask({ ...PERIOD, format: 'csv' });
  assert.equal(asked.status, 202, asked.text);
  const { statement_id: former } = await world.until('sent');
  const paid = await service.operator('POST', '/payments', world.base);
  assert.equal(paid.status, 201, paid.text);

  assert.equal((await move('public', clientId).ended).code, 0);
  booked.push((await credit('40.00')).transaction_id);
  const acted = await service.operator('POST', `/payments/${paid.body.payment_id}/actions`, { action: 'validate' });
  assert.equal(acted.status, 200, acted.text);
  await world.ask({ ...PERIOD, format: 'csv' });
  const { statement_id: later } = await world.until('sent', 'failed', 'retrying');
  const lines = async (id: string) =>
    (await mailsOf(service, id)).map(({ attachments: [file] }) => {
      const content = Buffer.from(file?.content ?? '', 'base64');
      const rows: Record<string, string>[] = parse(content, { columns: true, bom: true });
      return rows.filter(({ entry }) => entry === 'transaction').map(({ transaction_id }) => transaction_id);
    });
  assert.deepEqual(await lines(later), [booked]);
  // What was asked for before gives the same again.
  assert.equal((await service.operator('POST', `/statements/${former}/send`)).status, 202);
  await until(async () => (await lines(former)).length === 2);
  assert.deepEqual(await lines(former), [booked.slice(0, 2), booked.slice(0, 2)]);

  const page = await pageSession(service, world.contactId);
  const shown = await page.call('GET', `/app/data/payments/${paid.body.payment_id}?client_id=${clientId}`);
  assert.deepEqual(
    shown.body.steps.map(({ status }: { status: string }) => status),
    ['Validating beneficiary information', 'Waiting for payment date'],
  );
  const log = await service.client(world.token, 'GET', `/sandbox/requests?client_id=${clientId}`);
  const moments = log.body.map(({ at }: { at: string }) => at);
  assert.equal(moments.length, 2, log.text);
  assert.deepEqual(moments, moments.toSorted().toReversed());
});
