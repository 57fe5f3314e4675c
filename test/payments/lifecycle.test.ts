import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  allowedMoves,
  mayMove,
  PAYMENT_ACTIONS,
  PAYMENT_STATUSES,
  type PaymentAction,
  type PaymentStatus,
} from '../../src/payments/moves.ts';
import { createWorld } from '../world/client.ts';
import { startTestService, type TestService } from '../world/service.ts';

let service: TestService;
let world: Awaited<ReturnType<typeof createWorld>>;
before(async () => {
  service = await startTestService();
  world = await createWorld(service);
});
after(() => service.stop());

/** The table of the documentation, written down a second time: status -> actions. */
const LEGAL: Record<PaymentStatus, PaymentAction[]> = {
  'Payment pending of authorization': ['authorise', 'reject', 'cancel', 'invalidate'],
  'Validating beneficiary information': ['cancel', 'request_information', 'validate', 'invalidate'],
  'Need more beneficiary information': ['cancel', 'provide_information', 'invalidate'],
  'Waiting for payment date': ['cancel', 'send', 'invalidate'],
  'Executing Payment': ['complete', 'invalidate', 'start_return'],
  'Payment complete': ['start_return'],
  'Payment rejected': [],
  'Payment cancelled': [],
};

test('every status allows the actions of the table and no other', () => {
  for (const status of PAYMENT_STATUSES) {
    assert.deepEqual(allowedMoves({ status, returnStarted: false }).sort(), [...LEGAL[status]].sort(), status);
  }
});

test('while a return has started only return is legal, and complete of an executing payment', () => {
  for (const status of PAYMENT_STATUSES) {
    const expected =
      status === 'Executing Payment' ? ['complete', 'return'] : status === 'Payment complete' ? ['return'] : [];
    assert.deepEqual(allowedMoves({ status, returnStarted: true }).sort(), expected, status);
  }
});

/** The actions that bring a new payment of a client without approvals to a status. */
const WAYS: Partial<Record<PaymentStatus, PaymentAction[]>> = {
  'Validating beneficiary information': [],
  'Need more beneficiary information': ['request_information'],
  'Waiting for payment date': ['validate'],
  'Executing Payment': ['validate', 'send'],
  'Payment complete': ['validate', 'send', 'complete'],
  'Payment cancelled': ['cancel'],
};

const act = (id: string, action: string, more: object = {}) =>
  service.operator('POST', `/payments/${id}/actions`, { action, ...more });

async function paymentIn(status: PaymentStatus): Promise<string> {
  const { body } = await world.pay();
  for (const action of WAYS[status] ?? []) assert.equal((await act(body.payment_id, action)).status, 200);
  return body.payment_id;
}

for (const status of Object.keys(WAYS) as PaymentStatus[]) {
  test(`a payment that is "${status}" refuses every other move by name`, async () => {
    for (const action of PAYMENT_ACTIONS) {
      if (mayMove({ status, returnStarted: false }, action)) continue;
      const id = await paymentIn(status);
      const answer = await act(id, action, { contact_id: world.contactId });
      assert.equal(answer.status, 409, action);
      assert.equal(answer.body.code, 'transition_not_allowed');
      assert.ok(answer.body.details.includes(status), answer.body.details);
      for (const legal of LEGAL[status]) assert.ok(answer.body.details.includes(legal), answer.body.details);
      assert.equal((await service.operator('GET', `/payments/${id}`)).body.status, status);
    }
  });
}

const notified = async (id: string): Promise<string[]> => {
  const { rows } = await service.query(
    `select body from webhook_events where client_id = $1 and type = 'PAYMENT_STATUS_CHANGE' and body like $2 order by id`,
    [world.clientId, `%"payment_id":"${id}"%`],
  );
  return rows.map((row) => {
    const body = JSON.parse(row.body);
    assert.equal(body.data.length, 1);
    assert.equal(body.payment_webhook_status.length, 1);
    return body.payment_webhook_status[0];
  });
};

test('each move that the table names is notified, in order, with one payment and one status', async () => {
  const id = await paymentIn('Payment complete');
  assert.equal((await act(id, 'start_return')).body.status, 'Payment complete');
  const refused = await act(id, 'start_return');
  assert.equal(refused.status, 409);
  const returned = await act(id, 'return');
  assert.equal(returned.body.status, 'Payment cancelled');
  assert.deepEqual(await notified(id), ['CREATED', 'AUTHORIZED', 'SENT', 'PENDING_RETURN', 'RETURNED']);
  const invalid = await paymentIn('Waiting for payment date');
  assert.equal((await act(invalid, 'invalidate')).body.status, 'Payment cancelled');
  assert.deepEqual(await notified(invalid), ['CREATED', 'AUTHORIZED', 'INVALIDATED']);
  const cancelled = await paymentIn('Payment cancelled');
  assert.deepEqual(await notified(cancelled), ['CREATED', 'AUTHORIZED', 'CANCELLED']);
});

test('a returned payment credits the account of its currency, exactly', async () => {
  const id = (await world.pay({ amount: '1234.50', payment_currency: 'SEK' })).body.payment_id;
  for (const action of ['validate', 'send', 'start_return', 'return'])
    assert.equal((await act(id, action)).status, 200, action);
  const { rows } = await service.query(
    `select t.amount, t.balance_after, c.balance from transactions t join currency_accounts c on c.account_id = t.currency_account_id
     where t.client_id = $1 and t.payment_id = $2 and t.kind = 'CREDIT_PAYMENT_RETURNED_TRANSACTION'`,
    [world.clientId, id],
  );
  assert.deepEqual(rows, [{ amount: '1234.50', balance_after: '1234.50', balance: '1234.50' }]);
});

test('of twenty moves of one payment at the same instant one wins', async () => {
  const id = await paymentIn('Waiting for payment date');
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => act(id, index % 2 ? 'send' : 'cancel')));
  const won = answers.filter((answer) => answer.status === 200);
  assert.equal(won.length, 1);
  assert.ok(answers.every((answer) => answer.status === 200 || answer.status === 409));
  assert.equal((await notified(id)).length, 3);
});

test('an approval is needed where the client has a workflow, and the last one authorises', async () => {
  const client = await createWorld(service, 'Four eyes', {
    authorisation_workflow: '6-eyes',
    payment_approvals_enabled: true,
  });
  const approvers: string[] = [];
  for (const name of ['A', 'B', 'C']) {
    approvers.push((await client.hire(name)).contactId);
  }
  const { body } = await client.pay();
  assert.equal(body.status, 'Payment pending of authorization');
  assert.equal(body.approvals_workflow.minimum_remaining_authorisations, 2);
  assert.equal(body.approvals_workflow.n_eyes_plus_status, 'Pending approval');
  const approve = (contact: string | undefined) => act(body.payment_id, 'authorise', { contact_id: contact });
  assert.equal((await approve(undefined)).body.code, 'invalid_body');
  assert.equal((await approve(client.contactId)).body.code, 'approval_not_allowed');
  const first = await approve(approvers[0]);
  assert.equal(first.body.status, 'Payment pending of authorization');
  assert.equal(first.body.approvals_workflow.minimum_remaining_authorisations, 1);
  assert.equal((await approve(approvers[0])).body.code, 'approval_not_allowed');
  const last = await approve(approvers[1]);
  assert.equal(last.body.status, 'Validating beneficiary information');
  assert.equal(last.body.authorised_by, approvers[1]);
  assert.deepEqual(
    last.body.approvals_workflow.authorisations.map((each: { contact_id: string; status: number }) => [
      each.contact_id,
      each.status,
    ]),
    [
      [approvers[0], 1],
      [approvers[1], 1],
    ],
  );
  assert.equal(last.body.approvals_workflow.n_eyes_plus_status, 'Approved');
});
