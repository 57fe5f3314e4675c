import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { FX_OPEN, moveClock } from '../world/exchange.ts';
import { NEW, ROW } from '../world/files.ts';
import { type OrdersWorld, ordersWorld } from '../world/orders.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** What a contact may do is what it may do when the change is made, and not when the request began (instructions, 2 and 7). */

let service: TestService;
let world: OrdersWorld;
let pounds: number;
before(async () => {
  service = await startTestService();
  await moveClock(service, FX_OPEN);
  await service.operator('PUT', '/exchange-rates', { base_currency: 'GBP', rates: { EUR: 1.185, USD: 1.25 } });
  world = await ordersWorld(service, { client: { fx_enabled: true } });
  const { clientId: client_id } = world;
  const { body: account } = await service.operator('POST', '/currency-accounts', { client_id, currency: 'GBP' });
  pounds = account.account_id;
  const booked = await service.operator('POST', '/transactions', {
    ...{ client_id, currency_account_id: pounds, kind: 'CREDIT_INCOMING_TRANSACTION' },
    amount: { amount: '1000', currency: 'GBP' },
  });
  assert.equal(booked.status, 201, booked.text);
});
after(() => service.stop());

/** Sends a POST whose body ends only after something else has happened. @returns its status and its body */
async function slowly(path: string, token: string, body: object, meanwhile: () => Promise<unknown>) {
  const text = JSON.stringify(body);
  const socket = connect(Number(new URL(service.api).port), '127.0.0.1');
  const head = [
    `POST ${path} HTTP/1.1`,
    ...['host: x', 'connection: close', 'content-type: application/json', 'expect: 100-continue'],
    ...[`authorization: Bearer ${token}`, `content-length: ${Buffer.byteLength(text)}`],
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  // The listener says so when it has read the head.
  assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 100 /);
  await meanwhile();
  let answer = '';
  socket.setEncoding('utf8').on('data', (part) => {
    answer += part;
  });
  socket.write(text);
  await once(socket, 'close');
  return [Number(answer.split(' ')[1]), /"code":"(\w+)"/.exec(answer)?.[1]];
}

const ALL = ['can_create_payments', 'can_manage_multipayments', 'can_manage_beneficiaries', 'can_trade'];
const instruction = (fields: object) => ({ ...ROW, payment_amount: 5, ...fields });

/** A quote that the client's account in pounds can pay for. */
async function quoted(token: string) {
  const quote = await service.client(token, 'POST', `/quotes?client_id=${world.clientId}&quote_type=quote`, {
    body: { amount: 100, operation: 'sell', buy_currency: 'EUR', sell_currency: 'GBP', trade_type: 'spot' },
  });
  assert.equal(quote.status, 201, quote.text);
  return { quote_id: quote.body.quote_id, funding_account_id: pounds, reason: 'other' };
}

for (const [name, permission, path, bodyOf] of [
  [
    'an order that books a quote',
    'can_trade',
    '/payments?',
    async (token: string) => ({ ...(await quoted(token)), payments: [world.payment(5)] }),
  ],
  [
    'a multi payment with an exchange',
    'can_trade',
    '/multipayments?sell_currency=GBP&',
    async () => [instruction({ beneficiary_id: world.beneficiaryId })],
  ],
  [
    'a multi payment to a new payee',
    'can_manage_beneficiaries',
    () => `/multipayments?sell_currency=EUR&funding_account_id=${world.account}&reason=other&`,
    async () => [instruction(NEW)],
  ],
] as [string, string, string | (() => string), (token: string) => Promise<object>][])
  test(`${name} is refused once ${permission} is withdrawn, though the request had begun before`, async () => {
    const { id, token } = await world.clerk(ALL);
    const body = await bodyOf(token);
    const to = `${typeof path === 'string' ? path : path()}client_id=${world.clientId}`;
    const answer = await slowly(to, token, body, async () => {
      const changed = await service.operator('PATCH', `/contacts/${id}`, {
        clients: [{ client_id: world.clientId, permissions: ALL.filter((each) => each !== permission) }],
      });
      assert.equal(changed.status, 200, changed.text);
    });
    assert.deepEqual(answer, [403, 'permission_denied']);
    const kept = await world.clerk(ALL);
    const allowed = await slowly(to, kept.token, await bodyOf(kept.token), async () => {});
    assert.equal(allowed[0], 201, `${name}: ${allowed}`);
  });
