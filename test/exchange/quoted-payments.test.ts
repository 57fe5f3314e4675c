import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createExchange, FX_OPEN, moveClock, refused } from '../world/exchange.ts';
import { type Answer, startTestService, type TestService } from '../world/service.ts';

/** Payments in another currency: the quote is booked with them (instructions, 5 and 7). */
let service: TestService;
let exchange: Awaited<ReturnType<typeof createExchange>>;
let account: number;
let payer: { token: string; contactId: string };
before(async () => {
  service = await startTestService();
  exchange = await createExchange(service);
  // A busy machine does not let a quote expire.
  await exchange.put('/pricing', { quote_seconds: 600 });
  account = await exchange.fund('GBP', '2500.00');
  payer = await exchange.hireTrader(['can_trade', 'can_create_payments']);
});
after(() => service?.stop());

const payment = (fields: object = {}) => ({
  ...{ beneficiary_id: exchange.world.beneficiaryId, amount: 500, payment_date: '2026-12-01', reference: 'Invoice 42' },
  ...fields,
});
function pay(
  quoteId: string,
  payments: object[],
  fields: object = {},
  query = '',
  token = payer.token,
): Promise<Answer> {
  const order = { quote_id: quoteId, funding_account_id: account, reason: 'payment_for_goods', ...fields, payments };
  return exchange.call('POST', `/payments${query}`, order, { token });
}
const quoted = (fields: object = {}) => exchange.quoted({ amount: 1000, ...fields }, { token: payer.token });
const ofOperator = async (path: string) => (await service.operator('GET', path)).body;
const available = async () => (await ofOperator(`/currency-accounts/${account}`)).available;

test('they are of its trade, which holds the sell amount', async () => {
  const { quote_id: id, buy_amount } = await quoted();
  assert.equal(buy_amount, 1179.08);
  const tried = await pay(id, [payment()], {}, '?validate_only=true');
  assert.equal(tried.status, 200, tried.text);
  assert.deepEqual([tried.body[0].payment_id, tried.body[0].trade_id], [null, null]);
  const read = () => exchange.call('GET', `/quotes/${id}`);
  assert.equal((await read()).body.status, 'open');
  const made = await pay(id, [payment(), payment({ amount: 679.08 })]);
  assert.equal(made.status, 201, made.text);
  const { trade_id: trade } = (await read()).body;
  assert.deepEqual(
    made.body.map((each: { trade_id: string; payment_currency: string }) => [each.trade_id, each.payment_currency]),
    [
      [trade, 'EUR'],
      [trade, 'EUR'],
    ],
  );
  const funds = (await exchange.call('GET', `/trades/${trade}/funds`)).body;
  assert.deepEqual(
    [funds.allocated_amount, funds.unallocated_amount, funds.held_amount],
    ['1179.08', '0.00', '1000.00'],
  );
  assert.equal(await available(), '1500.00');
  const holds = await ofOperator(`/holds?client_id=${exchange.clientId}&state=open`);
  assert.deepEqual(
    holds.map((each: { trade_id: string; payment_id: string }) => [each.trade_id, each.payment_id]),
    [[trade, null]],
  );
  const seen = await ofOperator(`/payments/${made.body[0].payment_id}`);
  assert.deepEqual([seen.quote_id, seen.funding_account_id, seen.reason], [id, account, 'payment_for_goods']);
  const booked = await ofOperator(`/trades/${trade}`);
  assert.deepEqual(
    [booked.source, booked.reason, booked.quote_id, booked.beneficiaries],
    ['client', 'payment_for_goods', id, [exchange.world.beneficiaryId]],
  );
  // Trade and hold stay when a payment is cancelled.
  const cancelled = await service.operator('POST', `/payments/${made.body[0].payment_id}/actions`, {
    action: 'cancel',
  });
  assert.equal(cancelled.status, 200, cancelled.text);
  assert.equal(await available(), '1500.00');
  refused(await pay(id, [payment()]), 409, 'quote_used');
});

test('refusals of the booking come before those of the payments, and leave the quote open', async () => {
  const { quote_id: id } = await quoted();
  const stranger = payment({ beneficiary_id: 'none' });
  const trader = await exchange.hireTrader(['can_create_payments']);
  refused(await pay(id, [payment()], {}, '', trader.token), 403, 'permission_denied', 'the contact needs can_trade');
  refused(await pay('none', [stranger]), 404, 'quote_not_found', 'body.quote_id');
  refused(await pay(id, [stranger], { funding_account_id: 999_999 }), 404, 'currency_account_not_found');
  refused(await pay(id, [stranger]), 404, 'beneficiary_not_found');
  const euros = await exchange.fund('EUR', '5000');
  const much = payment({ amount: 2000 });
  refused(await pay(id, [much], { funding_account_id: euros }), 409, 'currency_mismatch', 'body.funding_account_id');
  const { quote_id: dear } = await quoted({ amount: 1500.01 });
  refused(await pay(dear, [much]), 409, 'insufficient_funds', 'available: 1500.00, needed: 1500.01, currency: GBP');
  refused(await pay(id, [much]), 409, 'trade_amount_exceeded');
  refused(await pay(id, [payment({ amount: 1.234 })]), 400, 'invalid_body', 'body.payments[0].amount');
  assert.equal((await exchange.call('GET', `/quotes/${id}`)).body.status, 'open');
  await moveClock(service, '2026-11-24T10:20:00Z');
  refused(await pay(id, [much]), 409, 'quote_expired');
  await moveClock(service, FX_OPEN);
  assert.equal(await available(), '1500.00');
});

test('of orders and bookings of one quote at once one succeeds', async () => {
  const { quote_id: id } = await quoted({ amount: 100 });
  const order = { reason: 'payment_for_goods', funding_account_id: account };
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      n % 2 === 0
        ? pay(id, [payment({ amount: 10 })])
        : exchange.call('POST', `/trades?quote_id=${id}`, order, { token: payer.token }),
    ),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  for (const each of answers) if (each.status !== 201) refused(each, 409, 'quote_used');
  assert.equal(await available(), '1400.00');
});
