import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { cellContexts } from '../../src/database/cells/contexts.ts';
import { Autopilot } from '../../src/sandbox/autopilot.ts';
import { type OrdersWorld, ordersWorld } from '../world/orders.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** The sandbox plays the core for what clients order (docs/sandbox.md). */
let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

async function newPayee(world: OrdersWorld): Promise<string> {
  const places = { country_code: 'DE', bank_country_code: 'DE', bank_currency_code: 'EUR' };
  const made = await world.ask('POST', '/beneficiaries', { ...places, name: 'Neu', iban: 'DE02120300000000202051' });
  assert.equal(made.status, 201, made.text);
  return made.body.beneficiary_id;
}
const verified = async (id: string) =>
  (await service.operator('GET', `/beneficiaries/${id}`)).body.beneficiary_verified;

test('advance verifies the payee before it validates, and books what was held once it has sent', async () => {
  const world = await ordersWorld(service);
  const payee = await newPayee(world);
  const id = await world.pays('100.00', { beneficiary_id: payee });
  assert.equal(await verified(payee), false);
  const advance = (to?: string) => world.ask('POST', `/sandbox/payments/${id}/advance`, to === undefined ? {} : { to });
  assert.equal((await advance()).body.status, 'Waiting for payment date');
  assert.equal(await verified(payee), true);
  assert.equal((await advance()).body.status, 'Executing Payment');
  assert.deepEqual(await world.funds(), ['900.00', '0.00', '900.00']);
  const [hold] = await world.holds();
  const booked = await service.operator('GET', `/transactions/${hold.closed_by}`);
  assert.deepEqual([booked.body.kind, booked.body.payment_id], ['DEBIT_TRANSACTION', id]);
  const { trade_id: trade } = await world.paid(id);
  const refused = await world.ask('POST', `/sandbox/trades/${trade}/advance`, { to: 'Closed' });
  assert.deepEqual([refused.status, refused.body.code], [409, 'transition_not_allowed'], refused.text);
  assert.equal((await advance('returned')).status, 200);
  assert.deepEqual(await world.funds(), ['1000.00', '0.00', '1000.00']);
});

test('the autopilot does the same by itself', async (t) => {
  const world = await ordersWorld(service);
  const payee = await newPayee(world);
  const id = await world.pays('100.00', { beneficiary_id: payee });
  const { context } = service.service;
  const autopilot = new Autopilot(context, 1_000, await cellContexts(context));
  t.after(() => autopilot.stop());
  await autopilot.step();
  assert.equal(await verified(payee), true);
  for (let step = 0; step < 2; step += 1) await autopilot.step();
  const paid = await world.paid(id);
  assert.equal(paid.status, 'Payment complete');
  assert.deepEqual(await world.funds(), ['900.00', '0.00', '900.00']);
  assert.equal((await world.trade(paid.trade_id)).status, 'Closed');
});

test('advance authorises a payment that waits for its creator alone', async () => {
  const world = await ordersWorld(service, { client: { approval_step_up: true } });
  const { token } = await world.clerk(['can_create_payments'], { phone: '+447700900123', second_factor: 'sms' });
  const made = await world.order([world.payment('10.00')], undefined, { token });
  assert.equal(made.status, 201, made.text);
  const [{ payment_id: id, status }] = made.body;
  assert.equal(status, 'Payment pending of authorization');
  const advanced = await world.ask('POST', `/sandbox/payments/${id}/advance`, {});
  assert.deepEqual([advanced.status, advanced.body.status], [200, 'Validating beneficiary information'], advanced.text);
});

test('a trade of the client advances by steps or to a status', async () => {
  const world = await ordersWorld(service);
  const advance = (to?: string) =>
    world.ask('POST', `/sandbox/trades/${world.tradeId}/advance`, to === undefined ? {} : { to });
  const funded = await advance();
  assert.deepEqual([funded.status, funded.body.status], [200, 'Funds In Full'], funded.text);
  assert.ok(!('source' in funded.body), funded.text);
  assert.equal((await advance('Funds In Full')).body.code, 'transition_not_allowed');
  assert.equal((await advance('Funds Out Partially Allocated')).status, 200);
  assert.equal((await advance()).body.status, 'Closed');
  assert.equal((await advance('Created')).body.code, 'transition_not_allowed');
  const wrong = await world.ask('POST', `/sandbox/trades/${world.tradeId}/advance`, { to: 'nowhere', by: 1 });
  assert.deepEqual(
    wrong.body.errors.map(({ code }: { code: string }) => code),
    ['invalid_format', 'unknown_field'],
  );
  assert.equal((await world.ask('POST', '/sandbox/trades/none/advance', {})).status, 404);
});

test('a reset removes orders, holds and what is held', async () => {
  const world = await ordersWorld(service);
  await world.pays('100.00');
  assert.equal((await world.ask('POST', '/sandbox/reset')).status, 204);
  const { rows } = await service.query(
    `select (select count(*)::int from holds where client_id = $1) as holds, (select count(*)::int from payments where client_id = $1) as payments`,
    [world.clientId],
  );
  assert.deepEqual(rows[0], { holds: 0, payments: 0 });
});
