import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { TRADE_STATUSES } from '../../src/exchange/trade-declaration.ts';
import { WEBHOOK_STATUSES } from '../../src/payments/moves.ts';
import { createIntegrator, type Integrator } from '../world/sandbox.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

const trigger = (client: Integrator, event: unknown) => client.ask('POST', '/sandbox/trigger', { event });

/** What a trigger notified; it must answer 201. */
async function triggered(client: Integrator, event: string) {
  const before = (await client.bodies()).length;
  const answer = await trigger(client, event);
  assert.equal(answer.status, 201, `${event}: ${answer.text}`);
  assert.equal(answer.body.event, event);
  assert.deepEqual(Object.keys(answer.body), ['event', 'entity', 'entity_id']);
  return { answer: answer.body, bodies: (await client.bodies()).slice(before) };
}

const FOUR_EYES = { payment_approvals_enabled: true, authorisation_workflow: '4-eyes' };

test('every payment status, by the whole legal way under the rules of the client', async () => {
  const client = await createIntegrator(service, FOUR_EYES);
  await client.join('Bob');
  const start = ['CREATED', 'PENDING_OF_AUTHORIZATION'];
  const sent = [...start, 'AUTHORIZED', 'SENT'];
  const ways: Record<string, string[]> = {
    CREATED: start,
    PENDING_OF_AUTHORIZATION: start,
    AUTHORIZED: [...start, 'AUTHORIZED'],
    REJECTED: [...start, 'REJECTED'],
    CANCELLED: [...start, 'CANCELLED'],
    SENT: sent,
    PENDING_RETURN: [...sent, 'PENDING_RETURN'],
    RETURNED: [...sent, 'PENDING_RETURN', 'RETURNED'],
    INVALIDATED: [...start, 'INVALIDATED'],
  };
  assert.deepEqual(Object.keys(ways).toSorted(), [...WEBHOOK_STATUSES].toSorted());
  for (const [status, way] of Object.entries(ways)) {
    const { answer, bodies } = await triggered(client, `PAYMENT_STATUS_CHANGE:${status}`);
    assert.equal(answer.entity, 'payment');
    const own = bodies.filter(({ type }) => type === 'PAYMENT_STATUS_CHANGE');
    assert.deepEqual(
      own.map(({ body }) => [body.data[0].payment_id, body.payment_webhook_status[0]]),
      way.map((each) => [answer.entity_id, each]),
    );
  }
});

test('a payment alone is CREATED, a trade alone Created', async () => {
  const client = await createIntegrator(service);
  const payment = await triggered(client, 'PAYMENT_STATUS_CHANGE');
  assert.deepEqual(payment.bodies[0]?.body.payment_webhook_status, ['CREATED']);
  const trade = await triggered(client, 'TRADE_STATUS_CHANGE');
  assert.deepEqual(
    trade.bodies.map(({ body }) => [body.data[0].trade_id, body.data[0].status]),
    [[trade.answer.entity_id, 'Created']],
  );
});

test('every trade status, on a trade made for the purpose', async () => {
  const client = await createIntegrator(service);
  for (const status of TRADE_STATUSES) {
    const { answer, bodies } = await triggered(client, `TRADE_STATUS_CHANGE:${status}`);
    assert.equal(answer.entity, 'trade');
    assert.notEqual(answer.entity_id, client.tradeId);
    assert.deepEqual(
      bodies.map(({ body }) => [body.data[0].trade_id, body.data[0].status]),
      (status === 'Created' ? ['Created'] : ['Created', status]).map((each) => [answer.entity_id, each]),
    );
  }
});

test('every transaction type, on the newest currency account or one that is made', async () => {
  const client = await createIntegrator(service);
  for (const type of [
    'CREDIT_INCOMING_TRANSACTION',
    'CREDIT_MARGIN_TRANSACTION',
    'CREDIT_TRANSACTION',
    'DEBIT_TRANSACTION',
  ]) {
    const { answer, bodies } = await triggered(client, type);
    assert.equal(answer.entity, 'transaction');
    assert.deepEqual(
      bodies.map((each) => [each.type, each.body.data[0].transaction_id]),
      [[type, answer.entity_id]],
    );
  }
  await service.operator('POST', '/currency-accounts', { client_id: client.clientId, currency: 'JPY' });
  const { bodies } = await triggered(client, 'CREDIT_TRANSACTION');
  assert.equal(bodies[0]?.body.data[0].amount.currency, 'JPY');
});

test('a returned transaction is a returned payment', async () => {
  const client = await createIntegrator(service);
  const { answer, bodies } = await triggered(client, 'CREDIT_PAYMENT_RETURNED_TRANSACTION');
  assert.equal(answer.entity, 'transaction');
  assert.deepEqual(
    bodies.map(({ type, body }) => body.payment_webhook_status?.[0] ?? type),
    ['CREATED', 'AUTHORIZED', 'SENT', 'PENDING_RETURN', 'RETURNED', 'CREDIT_PAYMENT_RETURNED_TRANSACTION'],
  );
  assert.equal(bodies.at(-1)?.body.data[0].transaction_id, answer.entity_id);
});

test('onboarding; a mass-payments customer is not notified', async () => {
  const client = await createIntegrator(service);
  const { answer, bodies } = await triggered(client, 'ONBOARDING_STATUS_CHANGE');
  assert.deepEqual([answer.entity, answer.entity_id], ['onboarding_event', bodies[0]?.body.data[0].id]);
  const mass = await createIntegrator(service, { mass_payments_customer: true });
  const refused = await trigger(mass, 'ONBOARDING_STATUS_CHANGE');
  assert.deepEqual([refused.status, refused.body.code], [409, 'transition_not_allowed']);
});

test('a beneficiary that waits for a look at it is verified', async () => {
  const client = await createIntegrator(service);
  const { answer, bodies } = await triggered(client, 'BENEFICIARY_STATUS_CHANGE');
  const [event] = bodies;
  assert.deepEqual(
    [bodies.length, answer.entity, answer.entity_id],
    [1, 'beneficiary', event?.body.data[0].beneficiary_id],
  );
  assert.equal(event?.body.data[0].aml_status, 'OK');
});

test('a client with nothing gets what is missing, with its notifications', async () => {
  const client = await createIntegrator(service);
  await service.query('delete from trades where client_id = $1', [client.clientId]);
  await service.query('delete from beneficiaries where client_id = $1', [client.clientId]);
  const { bodies } = await triggered(client, 'PAYMENT_STATUS_CHANGE:SENT');
  assert.deepEqual(
    bodies.map(({ type, body }) => body.payment_webhook_status?.[0] ?? type),
    ['TRADE_STATUS_CHANGE', 'CREATED', 'AUTHORIZED', 'SENT'],
  );
});

test('a client whose only contact may not approve its own payments', async () => {
  const client = await createIntegrator(service, FOUR_EYES);
  // Nobody can approve under its rules, so that the payment needs no approval where it must go further.
  const sent = await triggered(client, 'PAYMENT_STATUS_CHANGE:SENT');
  assert.deepEqual(
    sent.bodies.map(({ body }) => body.payment_webhook_status[0]),
    ['CREATED', 'AUTHORIZED', 'SENT'],
  );
  await triggered(client, 'PAYMENT_STATUS_CHANGE:PENDING_OF_AUTHORIZATION');
  const before = (await client.bodies()).length;
  const rejected = await trigger(client, 'PAYMENT_STATUS_CHANGE:REJECTED');
  assert.deepEqual([rejected.status, rejected.body.code], [409, 'transition_not_allowed']);
  assert.equal((await client.bodies()).length, before);
});

test('an unknown event: 400 that lists them', async () => {
  const client = await createIntegrator(service);
  for (const event of [
    'PING',
    'payment_status_change',
    'PAYMENT_STATUS_CHANGE:',
    'PAYMENT_STATUS_CHANGE:Closed',
    'DEBIT_TRANSACTION:Closed',
    'TRADE_STATUS_CHANGE:RETURNED',
    7,
    undefined,
    '',
  ]) {
    const answer = await trigger(client, event);
    assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_body'], String(event));
    assert.match(answer.body.details, /^body\.event/);
    if (typeof event === 'string')
      for (const known of ['PAYMENT_STATUS_CHANGE:RETURNED', 'TRADE_STATUS_CHANGE:Closed', 'ONBOARDING_STATUS_CHANGE'])
        assert.ok(answer.body.details.includes(known), answer.body.details);
  }
});

/** What callers are told on a machine that is too busy, and not where they are in each other's way. */
const TRY_LATER = /^(the database does not answer|no database connection became free in time)/;

for (const event of ['CREDIT_TRANSACTION', 'CREDIT_PAYMENT_RETURNED_TRANSACTION', 'PAYMENT_STATUS_CHANGE:RETURNED'])
  test(`${event} ten times at once for a client that has nothing: each is made, in one account`, async () => {
    const client = await createIntegrator(service);
    // They wait for each other. One that has waited for too long is told to try again.
    const insist = () =>
      until(async () => {
        const answer = await trigger(client, event);
        return !(answer.status === 502 && TRY_LATER.test(answer.body.details)) && answer;
      });
    const answers = await Promise.all(Array.from({ length: 10 }, insist));
    for (const answer of answers) assert.equal(answer.status, 201, answer.text);
    assert.equal(new Set(answers.map((answer) => answer.body.entity_id)).size, 10);
    assert.equal((await client.ask('GET', '/accounts/currency-accounts')).body.length, 1);
  });
