import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FX_OPEN, moveClock } from '../../../world/exchange.ts';
import { type OrdersWorld, ordersWorld } from '../../../world/orders.ts';
import { pageSession } from '../../../world/page-session.ts';
import { startTestService, type TestService } from '../../../world/service.ts';

/** What the form of a new payment gets beside the client API. */

let service: TestService;
before(async () => {
  service = await startTestService();
  await moveClock(service, FX_OPEN);
});
after(() => service.stop());

async function session(world: OrdersWorld, contactId = world.ordererId) {
  const { call } = await pageSession(service, contactId);
  const address = (name: string, query = '') => `/app/data/${name}?client_id=${world.clientId}${query}`;
  const source = { funding_account_id: world.account, reason: 'other' };
  return {
    get: async (name: string, query = '') => call('GET', address(name, query)),
    payees: async (q: string): Promise<string[]> =>
      (await call('POST', address('payees'), { q })).body.map(({ name }: { name: string }) => name),
    search: (q: string, query: string) => call('POST', address('payees/search', query), { q }),
    review: (payments: object[], body: object = source) =>
      call('POST', address('payment-review'), { ...body, payments }),
  };
}

test('a review says who has to approve and what may be a duplicate, and keeps nothing', async () => {
  const client = { payment_approvals_enabled: true, authorisation_workflow: '4-eyes' };
  const world = await ordersWorld(service, { client });
  const { review, get } = await session(world);
  const reviewed = await review([world.payment(10)]);
  assert.equal(reviewed.status, 200, reviewed.text);
  const [first] = reviewed.body;
  assert.deepEqual(
    [first.payment_id, first.approvals_needed, first.approved_by_creator, first.duplicates],
    [null, 1, false, []],
  );
  assert.deepEqual(first.approvers, ['Owner of Orders']);
  assert.deepEqual(await world.funds(), ['1000.00', '0.00', '1000.00']);
  assert.equal((await world.ask('GET', '/payments')).body.length, 0);

  const id = await world.pays(10);
  const again = await review([world.payment(10), world.payment(10), world.payment(11)]);
  assert.deepEqual(
    again.body.map(({ duplicates }: { duplicates: unknown[] }) => duplicates.toSorted()),
    [[id, null], [id, null], []],
  );
  await service.operator('POST', `/payments/${id}/actions`, { action: 'cancel' });
  assert.deepEqual((await review([world.payment(10)])).body[0].duplicates, [], 'a cancelled one was never paid');

  const refused = await review([world.payment(5_000)]);
  assert.deepEqual([refused.status, refused.body.code], [409, 'insufficient_funds'], refused.text);
  const faulty = await review([{ ...world.payment(1), reference: 'x' }]);
  assert.deepEqual([faulty.status, faulty.body.errors[0].request_index], [400, 0], faulty.text);
  const sources = (await get('payment-sources')).body;
  assert.deepEqual(sources.accounts, [{ account_id: world.account, currency: 'EUR', available: '1000.00' }]);
  assert.deepEqual(
    sources.trades.map((each: { trade_id: string }) => each.trade_id),
    [world.tradeId],
    'a trade of a single payment is not offered',
  );
});

test('who may not create payments reviews none', async () => {
  const world = await ordersWorld(service);
  const clerk = await world.clerk(['can_manage_payments']);
  const { review, payees } = await session(world, clerk.id);
  const refused = await review([world.payment(1)]);
  assert.deepEqual([refused.status, refused.body.code], [403, 'permission_denied'], refused.text);
  assert.deepEqual(await payees(''), ['Müller GmbH'], 'reading needs no permission');
});

test('payees by their last use, and what a payment was', async () => {
  const world = await ordersWorld(service);
  const { payees, get, search } = await session(world);
  for (const name of ['Aaron', 'Berta'])
    await service.operator('POST', '/beneficiaries', {
      ...{ client_id: world.clientId, beneficiary_name: name, currency: 'EUR', iban: 'DE02120300000000202051' },
    });
  assert.deepEqual(await payees(''), ['Aaron', 'Berta', 'Müller GmbH']);
  const id = await world.pays('10.50', { charges: 'OUR' });
  assert.deepEqual(await payees(''), ['Müller GmbH', 'Aaron', 'Berta']);
  assert.deepEqual(await payees('er'), ['Müller GmbH', 'Berta']);
  assert.deepEqual(await payees('none of this name'), []);
  const found = await search('ER', '&page=1&page_size=1');
  assert.deepEqual(
    [found.body.map(({ name }: { name: string }) => name), found.headers.get('x-total-count')],
    [['Berta'], '2'],
  );
  assert.deepEqual((await search('er', '&page=2&page_size=1')).body[0].name, 'Müller GmbH');
  assert.deepEqual((await search('', '')).body.length, 3);
  const again = await get(`payments/${id}/again`);
  assert.equal(again.status, 200, again.text);
  const { payee, ...others } = again.body;
  assert.equal(payee.name, 'Müller GmbH');
  assert.deepEqual(others, {
    ...{ amount: '10.50', reference: 'Invoice 42', charges: 'OUR', reason: 'payment_for_goods' },
    ...{ funding_account_id: world.account, trade_id: null },
  });
  const other = await ordersWorld(service);
  assert.equal((await (await session(other)).get(`payments/${id}/again`)).status, 404);
});

test('on which days a payment can leave', async () => {
  const world = await ordersWorld(service);
  const days = async (query = '') => {
    // The clock moves, and a session is idle soon.
    const { get } = await session(world);
    const of = `&beneficiary_id=${world.beneficiaryId}&currency=EUR&amount=10${query}`;
    const answer = await get('payment-days', of);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const calendar = { cutoff_time: '15:30', holidays: [{ date: '2026-11-25', name: 'A day' }] };
  await service.operator('PUT', '/currencies/EUR', calendar);
  const open = await days();
  assert.deepEqual([open.today, open.earliest, open.late], ['2026-11-24', '2026-11-24', null]);
  assert.deepEqual([open.weekend, open.cutoff], [[6, 7], { time: '15:30', zone: 'Europe/London' }]);
  const settled = await days('&not_before=2026-11-28');
  assert.deepEqual([settled.earliest, settled.late], ['2026-11-30', 'maturity']);
  await moveClock(service, '2026-11-24T15:30:00Z');
  const late = await days();
  assert.deepEqual([late.earliest, late.late], ['2026-11-26', 'cutoff']);
  const { get } = await session(world);
  assert.equal((await get('payment-days', '&beneficiary_id=NONE&currency=EUR&amount=1')).status, 404);
  assert.equal((await get('payment-days', '&beneficiary_id=NONE&currency=EUR&amount=x')).status, 400);
});
