import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { type Cell, inCell } from '../../src/database/cells/scope.ts';
import { CELL_TABLES } from '../../src/database/cells/tables.ts';
import { createPool } from '../../src/database/pools.ts';
import { OWN_LOCKS } from '../world/cells.ts';
import { createWorld } from '../world/client.ts';
import { log } from '../world/database.ts';
import { nextRun } from '../world/runs.ts';
import type { Answer, TestService } from '../world/service.ts';
import { createStatementWorld, type StatementWorld } from '../world/statements.ts';
import { type Subscriber, startTwoCells, type TwoCells } from '../world/two-cells.ts';
import { until } from '../world/until.ts';

/**
 * One cell of several that gives no answer at all, as one whose server was stopped: every statement waits. Here a session that locks the
 * tables of the cell sees to it. Its clients get 502, and the others notice nothing (docs/decisions/0024).
 */
let cells: TwoCells;
let service: TestService;
let holder: pg.Client;
let eyes: Awaited<ReturnType<typeof createWorld>>;
let books: StatementWorld;
let approver: string;
before(async () => {
  cells = await startTwoCells();
  service = cells.service;
  books = await createStatementWorld(service, ['EUR'], 'Books');
  await service.operator('POST', '/clients', { client_name: 'For the balance' });
  const workflow = { authorisation_workflow: '4-eyes', payment_approvals_enabled: true };
  eyes = await createWorld(service, 'Four eyes', workflow);
  approver = (await eyes.hire('Approver')).email;
  const { rows } = await service.query('select array_agg(cell order by client_name) as cells from clients');
  // Books, For the balance, Four eyes, Ill, Well.
  assert.deepEqual(rows[0].cells, [1, 2, 1, 2, 1]);
  holder = new pg.Client({ connectionString: cells.database.url });
  await holder.connect();
});
after(async () => {
  await holder?.end();
  await cells?.stop();
});

/** From now on every statement in the cell waits. */
async function stop(cell: number): Promise<void> {
  const tables = [...CELL_TABLES].map((table) => `public_cell_${cell}.${table}`);
  await until(async () => {
    try {
      await holder.query(`begin; set local lock_timeout = '500ms'; lock table ${tables} in access exclusive mode`);
      return true;
    } catch (error) {
      await holder.query('rollback');
      if (!['40P01', '55P03'].includes((error as { code?: string }).code ?? '')) throw error;
      return false;
    }
  });
}

const payments = (world: Subscriber) => service.client(world.token, 'GET', `/payments?client_id=${world.clientId}`);

async function published(cursor: string): Promise<string[]> {
  const page: Answer = await service.operator('GET', `/changes?limit=1000&after=${cursor}`);
  assert.equal(page.status, 200, page.text);
  return page.body.changes.map(({ entity_id: id }: { entity_id: string }) => id);
}

test('while a cell does not give away what got its place in the feed, the others get theirs', async () => {
  const { well: one, ill: other } = cells;
  const cursor = await cells.feedEnd();
  const lock = "hashtext('a delete in the second cell')";
  await holder.query(`select pg_advisory_lock(${lock})`);
  await holder.query(`create function public.wait_in_cell() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(${lock}); return old; end $$`);
  await holder.query(`create trigger wait_in_cell before delete on public_cell_2.changes_unpublished
    for each row execute function public.wait_in_cell()`);
  const [late, paid] = [await other.pay({ amount: 1 }), await one.pay({ amount: 2 })];
  assert.deepEqual([late.status, paid.status], [201, 201], late.text + paid.text);
  await until(async () => (await published(cursor)).includes(paid.body.payment_id));
  await until(async () => (await published(cursor)).includes(late.body.payment_id));
  await holder.query(`select pg_advisory_unlock(${lock})`);
  await until(async () => (await service.query('select from public_cells.changes_unpublished')).rowCount === 0);
  await holder.query('drop function public.wait_in_cell cascade');
  // Each change has one place, whoever has seen it twice.
  assert.equal((await published(cursor)).filter((id) => id === late.body.payment_id).length, 1);
});

test('while a cell does not take its links of the audit trail, the others get theirs', async () => {
  const { well: one, ill: other } = cells;
  // Once nothing is left to seal, the cell that gets something has a turn alone.
  await until(async () => (await service.query('select from public_cells.audit_unsealed')).rowCount === 0);
  await nextRun('audit seal', 2);
  const lock = "hashtext('links of the second cell')";
  await holder.query(`select pg_advisory_lock(${lock})`);
  await holder.query(`create function public.wait_for_links() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(${lock}); return new; end $$`);
  await holder.query(`create trigger wait_for_links before insert on public_cell_2.audit_chain
    for each row execute function public.wait_for_links()`);
  const sealed = (cell: number) => async () =>
    (await holder.query(`select from public_cell_${cell}.audit_unsealed`)).rowCount === 0;
  const waits = `select from pg_locks where locktype = 'advisory' and mode = 'ShareLock' and not granted and ${OWN_LOCKS}`;
  assert.equal((await other.pay({ amount: 1 })).status, 201);
  await until(async () => (await holder.query(waits)).rowCount !== 0);
  await nextRun('audit seal');
  assert.equal((await one.pay({ amount: 2 })).status, 201);
  await until(sealed(1));
  assert.equal(await sealed(2)(), false);
  await holder.query(`select pg_advisory_unlock(${lock})`);
  await until(sealed(2));
  await until(async () => (await holder.query('select from public.audit_links')).rowCount === 0);
  const verified = await service.operator('GET', '/audit/verify');
  assert.equal(verified.body.valid, true, verified.text);
  const { rows } = await holder.query(
    'select count(*)::int as n, max(position)::int as last from public_cells.audit_chain',
  );
  assert.equal(rows[0].n, rows[0].last);
  await holder.query('drop function public.wait_for_links cascade');
});

test('one cell gives no answer to as many callers as there are connections: the others have some', async (t) => {
  const paths = {
    home: 'public',
    distributed: false,
    numbers: [0, 1, 2, 3],
    servers: new Map([
      [2, 'one'],
      [3, 'one'],
    ]),
  };
  const pool = createPool(cells.database.url, log, { max: 4, cells: paths });
  t.after(() => pool.end());
  const lock = "hashtext('every connection')";
  await holder.query(`select pg_advisory_lock(${lock})`);
  let ended = 0;
  const ask = (cell: Cell) => inCell(cell, () => pool.query(`select pg_advisory_xact_lock_shared(${lock})`));
  const asked = ([2, 3, 'all', 2, 3, 'all', 2, 3] as const).map((cell) =>
    ask(cell).then(
      () => ended++,
      () => ended++,
    ),
  );
  await inCell(1, () => pool.query('select from payments'));
  await inCell('none', () => pool.query('select from clients'));
  assert.equal(ended, 0);
  await holder.query(`select pg_advisory_unlock(${lock})`);
  await Promise.all(asked);
});

test('while a cell gives no answer, its clients get 502, and the others notice nothing', async (t) => {
  const { well: one, ill: other, receiver } = cells;
  const cursor = await cells.feedEnd();
  // A reader of the feed has not read yet what the cell has published.
  const unread = await other.pay({ amount: 3 });
  assert.equal(unread.status, 201, unread.text);
  await cells.feedEnd();
  // What has been paid before.
  const earlier = (await receiver.wait(5)).length;
  await stop(2);

  await t.test('requests', async () => {
    for (const answer of await Promise.all([payments(other), other.pay(), payments(other)]))
      assert.deepEqual([answer.status, answer.body.code], [502, 'integration_error'], answer.text);
    for (let round = 0; round < 5; round += 1) assert.equal((await payments(one)).status, 200);
  });

  await t.test('what reads all cells gets 502 at once', async () => {
    for (const path of ['/audit', '/audit/verify', '/notifications', '/reconciliation?date=2026-07-01']) {
      const answer = await service.operator('GET', path);
      assert.deepEqual([answer.status, answer.body.code], [502, 'integration_error'], `${path} ${answer.text}`);
    }
  });

  await t.test('an import of the others', async () => {
    const imported = await service.operator('POST', '/imports/payments', undefined, {
      raw: JSON.stringify({ ...one.base, payment_id: 'IMPORTED' }),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    assert.equal(imported.status, 200, imported.text);
    assert.equal(imported.body.accepted, 1, imported.text);
  });

  await t.test('payments, webhooks, the feed, totals and the audit trail of the others', async () => {
    for (let count = 1; count <= 3; count += 1) {
      const paid = await one.pay({ amount: count });
      assert.equal(paid.status, 201, paid.text);
      await receiver.wait(count + earlier);
      await until(async () => (await published(cursor)).includes(paid.body.payment_id));
    }
    await until(async () => {
      const { rows } = await service.query(
        'select (select count(*) from public_cell_1.payment_total_deltas)::int as deltas, (select count(*) from public_cell_1.audit_unsealed)::int as unsealed',
      );
      return rows[0].deltas === 0 && rows[0].unsealed === 0;
    });
  });

  await t.test('a new client goes to another cell', async () => {
    const created = await service.operator('POST', '/clients', { client_name: 'New' });
    assert.equal(created.status, 201, created.text);
    const { rows } = await service.query('select cell from clients where client_id = $1', [created.body.client_id]);
    assert.deepEqual(rows, [{ cell: 1 }]);
  });

  await t.test('a statement and a mail of the others are sent', async () => {
    assert.equal((await books.ask({ date_from: '2026-07-01', date_to: '2026-07-31' })).status, 202);
    const paid = await eyes.pay();
    assert.equal(paid.status, 201, paid.text);
    await books.until('sent');
    await until(async () => {
      const { body } = await service.operator('GET', '/mailbox');
      return body.some(({ to }: { to: string }) => to === approver);
    });
  });

  await t.test('who has gone leaves no statement behind that waits', async () => {
    await until(async () => {
      const { rows } = await holder.query(
        `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows[0].n <= 12;
    });
  });

  await holder.query('commit');
  await t.test('afterwards everything goes on by itself', async () => {
    await until(async () => (await payments(other)).status === 200);
    const paid = await other.pay({ amount: 7 });
    assert.equal(paid.status, 201, paid.text);
    await until(async () => (await published(cursor)).includes(paid.body.payment_id));
    await receiver.wait(4 + earlier);
  });
});
