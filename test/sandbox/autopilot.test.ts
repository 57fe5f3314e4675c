import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { cellContexts } from '../../src/database/cells/contexts.ts';
import { Autopilot } from '../../src/sandbox/autopilot.ts';
import { createIntegrator, type Integrator } from '../world/sandbox.ts';
import { startTestService, type TestService } from '../world/service.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

async function createAutopilot(): Promise<Autopilot> {
  const { context } = service.service;
  return new Autopilot(context, 1_000, await cellContexts(context));
}

const VALIDATING = 'Validating beneficiary information';
const NEEDS_INFORMATION = 'Need more beneficiary information';
const WAITING = 'Waiting for payment date';

/** The statuses of a payment while the autopilot takes steps. */
async function course(client: Integrator, autopilot: Autopilot, reference: string, steps: number): Promise<string[]> {
  const { payment_id: id } = (await client.ask('POST', '/sandbox/payments', { reference, approval: 'none' })).body;
  const seen = [];
  for (let step = 0; step < steps; step += 1) {
    await autopilot.step();
    seen.push((await client.ask('GET', `/payments/${id}`)).body.status);
  }
  return [...seen, ...(await client.statusesOf(id))];
}

test('one step at a time to the end, whatever the payment date; what needs a person stays; one process steers', async (t) => {
  const client = await createIntegrator(service, { payment_approvals_enabled: true, authorisation_workflow: '4-eyes' });
  const pay = async (fields: object) => (await client.ask('POST', '/sandbox/payments', fields)).body.payment_id;
  const ids = [
    await pay({ approval: 'none' }),
    await pay({ approval: 'none', payment_date: '2040-01-02' }),
    await pay({ approval: 'none' }),
    await pay({}),
    await pay({ approval: 'none' }),
  ];
  await service.operator('POST', `/payments/${ids[2]}/actions`, { action: 'request_information' });
  await client.ask('POST', `/sandbox/payments/${ids[4]}/advance`, { to: 'Executing Payment' });
  await service.operator('POST', `/payments/${ids[4]}/actions`, { action: 'start_return' });
  const still = [NEEDS_INFORMATION, 'Payment pending of authorization', 'Executing Payment'];
  const [one, other] = [await createAutopilot(), await createAutopilot()];
  t.after(() => Promise.all([one.stop(), other.stop()]));
  for (const status of [WAITING, 'Executing Payment', 'Payment complete', 'Payment complete']) {
    await Promise.all([one.step(), other.step()]);
    const found = await Promise.all(ids.map(async (id) => (await client.ask('GET', `/payments/${id}`)).body.status));
    assert.deepEqual(found, [status, status, ...still]);
  }
  const later = await pay({ approval: 'none' });
  // The one that steered ends; the other takes over.
  await one.stop();
  await other.step();
  assert.equal((await client.ask('GET', `/payments/${later}`)).body.status, WAITING);
});

test('references steer it', async (t) => {
  const client = await createIntegrator(service);
  const autopilot = await createAutopilot();
  t.after(() => autopilot.stop());
  const start = ['CREATED', 'AUTHORIZED'];
  const onTheWay = [WAITING, 'Executing Payment', 'Payment complete'];
  for (const [reference, ...expected] of [
    [
      'SIM-RETURN 1',
      ...onTheWay,
      'Payment complete',
      'Payment cancelled',
      ...start,
      'SENT',
      'PENDING_RETURN',
      'RETURNED',
    ],
    [
      'SIM-INVALID',
      WAITING,
      'Payment cancelled',
      'Payment cancelled',
      'Payment cancelled',
      'Payment cancelled',
      ...start,
      'INVALIDATED',
    ],
    ['SIM-INFO-7', NEEDS_INFORMATION, VALIDATING, ...onTheWay, ...start, 'SENT'],
    ['SIM-STOP', VALIDATING, VALIDATING, VALIDATING, VALIDATING, VALIDATING, ...start],
    ['not SIM-STOP', ...onTheWay, 'Payment complete', 'Payment complete', ...start, 'SENT'],
  ])
    assert.deepEqual(await course(client, autopilot, reference as string, 5), expected, reference);
  const slow = await course(client, autopilot, 'SIM-SLOW', 21);
  assert.deepEqual(slow.slice(0, 21), [
    ...Array(9).fill(VALIDATING),
    ...Array(10).fill(WAITING),
    ...Array(2).fill('Executing Payment'),
  ]);
});

test('a payment that a reset removed does not count for one that gets its id', async (t) => {
  const client = await createIntegrator(service);
  const autopilot = await createAutopilot();
  t.after(() => autopilot.stop());
  const id = `INFO-${client.clientId}`;
  for (const time of ['first', 'after a reset', 'after another']) {
    const model = (await client.ask('POST', '/sandbox/payments', { reference: 'SIM-STOP', approval: 'none' })).body;
    const { trade_id, beneficiary_id, payment_currency, payment_date } = model;
    const fields = { trade_id, beneficiary_id, payment_currency, payment_date, amount: 1, reference: 'SIM-INFO' };
    const ids = { payment_id: id, client_id: client.clientId, contact_id: client.contactId };
    const made = await service.operator('POST', '/payments', { ...ids, ...fields });
    assert.equal(made.status, 201, made.text);
    const seen = [made.body.status];
    for (let step = 0; step < 3; step += 1) {
      await autopilot.step();
      seen.push((await client.ask('GET', `/payments/${id}`)).body.status);
    }
    assert.deepEqual(seen, [VALIDATING, NEEDS_INFORMATION, VALIDATING, WAITING], time);
    assert.equal((await client.ask('POST', '/sandbox/reset')).status, 204);
  }
});

test('a return that the autopilot makes credits the account', async (t) => {
  const client = await createIntegrator(service);
  const autopilot = await createAutopilot();
  t.after(() => autopilot.stop());
  await course(client, autopilot, 'SIM-RETURN', 6);
  assert.equal((await client.notified()).filter((type) => type === 'CREDIT_PAYMENT_RETURNED_TRANSACTION').length, 1);
});
