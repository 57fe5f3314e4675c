import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ordersWorld } from '../world/orders.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** What the core and the institution's staff learn of what clients order (docs/change-feed.md; docs/operator-interface.md, Holds). */
let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

interface Change {
  entity: string;
  entity_id: string;
  action: string;
  actor: string;
  version: number;
  data: Record<string, unknown>;
}

test('the feed tells of an order what a core needs: the trade, then the payment, and a released hold', async () => {
  const world = await ordersWorld(service);
  const { body: start } = await service.operator('GET', '/changes?after=now');
  let after = start.cursor;
  const own = new Set<string>();
  /** The next changes of what is ordered: others may be told late. */
  const next = async (count: number): Promise<Change[]> => {
    const found: Change[] = [];
    while (found.length < count) {
      const { body } = await service.operator('GET', `/changes?client_id=${world.clientId}&after=${after}&wait=10`);
      found.push(...body.changes.filter((change: Change) => own.has(change.entity_id)));
      after = body.cursor;
    }
    return found;
  };
  const id = await world.pays('12.50', { charges: 'OUR', purpose_of_payment: 'RENT', email_beneficiary: true });
  const { trade_id: trade } = await world.paid(id);
  own.add(id).add(trade);
  const [booked, ordered] = await next(2);
  const outline = (change: Change | undefined) => [change?.entity, change?.entity_id, change?.action, change?.actor];
  assert.deepEqual(outline(booked), ['trade', trade, 'create', `contact:${world.ordererId}`]);
  assert.deepEqual(outline(ordered), ['payment', id, 'create', `contact:${world.ordererId}`]);
  assert.deepEqual(booked?.data, await world.trade(trade));
  assert.deepEqual(ordered?.data, await world.paid(id));
  const { source, reason, charges, scheme, purpose_of_payment, email_beneficiary, funding_account_id } =
    ordered?.data ?? {};
  assert.deepEqual(
    [source, reason, charges, scheme, purpose_of_payment, email_beneficiary, funding_account_id],
    ['client', 'payment_for_goods', 'OUR', 'SEPA', 'RENT', true, world.account],
  );
  await world.act(id, 'validate', 'send');
  assert.deepEqual(
    (await next(3)).map((change) => `${change.entity} ${change.action} ${change.version}`),
    ['payment validate 2', 'payment send 3', 'trade update 2'],
  );
  const [hold] = await world.holds();
  await service.operator('POST', `/holds/${hold.hold_id}/release`, { reason: 'Settled by hand' });
  const [released] = await next(1);
  assert.deepEqual([...outline(released).slice(0, 3), released?.data.hold_released], ['payment', id, 'update', true]);
});

test('staff find what clients have ordered, and holds whose debit does not come', async () => {
  const world = await ordersWorld(service);
  const id = await world.pays('10.00');
  const { body: institution } = await world.pay();
  const found = async (path: string, source: string) =>
    (await service.operator('GET', `${path}?client_id=${world.clientId}&source=${source}`)).body;
  const ids = (list: Record<string, string>[], name: string) => list.map((each) => each[name]);
  assert.deepEqual(ids(await found('/payments', 'client'), 'payment_id'), [id]);
  assert.deepEqual(ids(await found('/payments', 'institution'), 'payment_id'), [institution.payment_id]);
  assert.deepEqual(ids(await found('/trades', 'institution'), 'trade_id'), [world.tradeId]);
  assert.deepEqual(ids(await found('/trades', 'client'), 'trade_id'), [(await world.paid(id)).trade_id]);
  assert.equal((await service.operator('GET', `/payments?client_id=${world.clientId}&source=core`)).status, 400);
  await world.act(id, 'validate', 'send');
  assert.deepEqual(await world.holds('&overdue=true'), []);
  await service.operator('PUT', '/clock', { advance_seconds: 3_700 });
  assert.deepEqual(ids(await world.holds('&overdue=true'), 'payment_id'), [id]);
  const gauge = async () =>
    /^lombard_holds_overdue (\d+)$/m.exec((await service.operator('GET', '/metrics')).text)?.[1];
  await until(async () => Number(await gauge()) > 0);
  await world.book('DEBIT_TRANSACTION', '10.00', { payment_id: id });
  assert.deepEqual(await world.holds('&overdue=true'), []);
  await service.operator('DELETE', '/clock');
});
