import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { examine } from '../../src/cli/doctor/examine.ts';
import { type Answer, startTestService, type TestService } from '../world/service.ts';
import { type CellServer, cellServer } from '../world/silent-cell.ts';
import { type Subscriber, startTwoCells, type TwoCells } from '../world/two-cells.ts';
import { until } from '../world/until.ts';

/** One cell of several whose server is down (docs/decisions/0024): its clients get 502, and the others notice nothing. */
let cells: TwoCells;
let service: TestService;
let server: CellServer;
before(async () => {
  cells = await startTwoCells();
  service = cells.service;
  server = await cellServer(cells.database.url, 2);
});
after(() => cells?.stop());

const payments = (world: Subscriber) => service.client(world.token, 'GET', `/payments?client_id=${world.clientId}`);

/** The payments in the feed after a cursor. */
async function published(after = ''): Promise<string[]> {
  const found: string[] = [];
  for (let cursor = after; ; ) {
    const page: Answer = await service.operator('GET', `/changes?limit=1000${cursor}`);
    assert.equal(page.status, 200, page.text);
    for (const change of page.body.changes) if (change.entity === 'payment') found.push(change.entity_id);
    cursor = `&after=${page.body.cursor}`;
    if (!page.body.more) return found;
  }
}

test('while the server of a cell is down, its clients get 502, and the others notice nothing', async (t) => {
  const { well: one, ill: other, receiver } = cells;
  const before = await other.pay();
  assert.equal(before.status, 201, before.text);
  await receiver.wait(1);
  const { client_id, contact_id, trade_id: _, ...part } = one.base;
  const { body: account } = await service.operator('POST', '/currency-accounts', { client_id, currency: 'EUR' });
  const multi = await service.operator('POST', '/multipayments', {
    ...{ client_id, contact_id, payments: [{ ...part, trade: 0, amount: 300 }] },
    trades: [{ buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: 300, rate: 1.17 }],
  });
  assert.equal(multi.status, 201, multi.text);
  const { multipayment_id: number, multipayment: formatted, multipayment_unique_id: uuid } = multi.body;
  await receiver.wait(2);
  const cursor = await cells.feedEnd();
  assert.equal((await published()).length, 2);
  await server.down();

  await t.test('requests', async () => {
    for (const answer of [await payments(other), await other.pay()])
      assert.deepEqual([answer.status, answer.body.code], [502, 'integration_error'], answer.text);
    for (let round = 0; round < 5; round += 1) assert.equal((await payments(one)).status, 200);
  });

  let paymentId = '';
  let erasureId = '';
  await t.test('payments, webhooks and the feed of the others', async () => {
    const paid = await one.pay({ amount: 5 });
    assert.equal(paid.status, 201, paid.text);
    paymentId = paid.body.payment_id;
    await receiver.wait(3);
    await until(async () => (await published(`&after=${cursor}`)).includes(paymentId));
    // What the cell has published lately is kept beside the order. Without that the feed stops where it cannot be read: it has one order.
    assert.equal((await published()).length, 3);
    await service.query('delete from changes_recent');
    await assert.rejects(published(), /integration_error/);
    await until(async () => {
      const { rows } = await service.query(
        'select (select count(*) from public_cell_1.payment_total_deltas)::int as deltas, (select count(*) from public_cell_1.audit_unsealed)::int as unsealed',
      );
      return rows[0].deltas === 0 && rows[0].unsealed === 0;
    });
  });

  await t.test('the institution reaches every record of the others, and hears what it cannot read', async () => {
    const named = [number, formatted, uuid].map((name) => `/multipayments/${name}`);
    const own = [`/payments/${paymentId}`, `/payments?client_id=${one.clientId}`, '/payments?client_id=NOBODY'];
    for (const path of [...own, ...named, `/currency-accounts/${account.account_id}`, '/clients']) {
      const answer = await service.operator('GET', path);
      assert.equal(answer.status, 200, `${path} ${answer.text}`);
    }
    const moved = await service.operator('POST', `/payments/${paymentId}/actions`, { action: 'validate' });
    assert.equal(moved.status, 200, moved.text);
    const all = await service.operator('GET', '/trades');
    assert.deepEqual([all.status, all.body.code], [502, 'integration_error'], all.text);
  });

  await t.test('the erasure of a person waits for the cell', async () => {
    const contact = await one.hire('Erased');
    await service.operator('PATCH', `/contacts/${contact.contactId}`, { status: 'disabled' });
    const erased = await service.operator('POST', `/contacts/${contact.contactId}/erase`);
    assert.equal(erased.status, 202, erased.text);
    erasureId = erased.body.erasure_id;
  });

  await t.test('lombard doctor names the cell', async () => {
    const findings = await examine({ LOMBARD_DATA_DIR: '/none', DATABASE_URL: cells.database.url });
    const cell = findings.filter(({ check }) => check === 'cell');
    assert.match(cell[0]?.message ?? '', /^public_cell_2 does not answer \(could not connect/);
    assert.equal(findings.find(({ check }) => check === 'payment totals')?.status, 'ok');
  });

  await t.test('a process starts', async () => {
    const second = await startTestService({}, { url: cells.database.url, drop: async () => {} });
    try {
      const answer = await second.client(one.token, 'GET', `/payments?client_id=${one.clientId}`);
      assert.equal(answer.status, 200, answer.text);
    } finally {
      await second.stop();
    }
  });

  await server.up();
  await t.test('afterwards everything goes on by itself', async () => {
    const paid = await other.pay({ amount: 7 });
    assert.equal(paid.status, 201, paid.text);
    await until(async () => (await published()).includes(paid.body.payment_id));
    await receiver.wait(5);
    assert.equal((await payments(other)).headers.get('x-total-count'), '2');
    await until(async () => (await service.operator('GET', `/erasures/${erasureId}`)).body.state === 'done');
  });
});
