import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type ApprovalsWorld, approvalsWorld } from '../world/approvals.ts';
import { startTestService, type TestService } from '../world/service.ts';

let service: TestService;
let world: ApprovalsWorld;
before(async () => {
  service = await startTestService();
  world = await approvalsWorld(service, ['ann'], { authorisation_workflow: '4-eyes' });
});
after(() => service.stop());

type Given = { trades: Record<string, unknown>[]; payments: Record<string, unknown>[] } & Record<string, unknown>;

function given(): Given {
  const payment = { beneficiary_id: world.beneficiaryId, payment_currency: 'EUR', payment_date: '2026-12-01' };
  return {
    client_id: world.clientId,
    contact_id: world.contactId,
    trades: [
      { buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: 300, rate: 1.17 },
      { buy_currency: 'EUR', sell_currency: 'USD', buy_amount: 50, rate: '0.9' },
    ],
    payments: [
      { ...payment, trade: 0, amount: 100 },
      { ...payment, trade: 1, amount: '50.00', reference: 'second' },
      { ...payment, trade: 0, amount: 200 },
    ],
  };
}

const create = (body: unknown = given(), headers: Record<string, string> = {}) =>
  service.operator('POST', '/multipayments', body, { headers });
const made = async () => {
  const answer = await create();
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
};
const remove = (id: string, who = world.owner) => world.ask(who, 'DELETE', `/multipayments/${id}`);
const find = (id: string) => service.operator('GET', `/multipayments/${id}`);
const act = (id: string, action: string, more: object = {}) =>
  service.operator('POST', `/payments/${id}/actions`, { action, ...more });
const ids = (body: { payments: { payment_id: string }[] }) => body.payments.map((payment) => payment.payment_id);

async function tradeEvents(tradeId: string): Promise<string[]> {
  const { rows } = await service.query(
    `select body from webhook_events where client_id = $1 and type = 'TRADE_STATUS_CHANGE' and body like $2 order by id`,
    [world.clientId, `%"trade_id":"${tradeId}"%`],
  );
  return rows.map((row) => JSON.parse(row.body).data[0].status);
}

test('a multi payment is created whole: trades, payments that name them, and the three identifiers on each payment', async () => {
  const answer = await create();
  assert.equal(answer.status, 201, answer.text);
  const { body } = answer;
  assert.match(body.multipayment_id, /^\d+$/);
  assert.equal(body.multipayment, `MP${body.multipayment_id.padStart(6, '0')}`);
  assert.match(body.multipayment_unique_id, /^[0-9a-f-]{36}$/);
  assert.equal(body.status, 'created');
  assert.deepEqual(
    body.trades.map((trade: { status: string }) => trade.status),
    ['Created', 'Created'],
  );
  const [first, second] = body.trades.map((trade: { trade_id: string }) => trade.trade_id);
  assert.deepEqual(
    body.payments.map((payment: { trade_id: string }) => payment.trade_id),
    [first, second, first],
  );
  assert.ok(answer.text.includes('"amount":50.00'), answer.text);
  const payment = await world.payment(body.payments[1].payment_id);
  assert.deepEqual(
    [payment.multipayment, payment.multipayment_id, payment.multipayment_unique_id],
    [body.multipayment, body.multipayment_id, body.multipayment_unique_id],
  );
  const alone = await world.payment(await world.create());
  assert.deepEqual([alone.multipayment, alone.multipayment_id, alone.multipayment_unique_id], [null, null, null]);
  for (const id of [body.multipayment_id, body.multipayment, body.multipayment_unique_id]) {
    assert.deepEqual((await find(id)).body, body);
  }
  assert.deepEqual(await world.notified(body.payments[0].payment_id), ['CREATED', 'PENDING_OF_AUTHORIZATION']);
  assert.deepEqual(await tradeEvents(first), ['Created']);
});

test('the same key creates one; another body with it conflicts', async () => {
  const key = { 'idempotency-key': randomUUID() };
  const body = given();
  const [first, second] = await Promise.all([create(body, key), create(body, key)]);
  assert.deepEqual([first.status, second.status], [201, 201]);
  assert.equal(first.text, second.text);
  assert.equal((await create({ ...body, payments: body.payments.slice(1) }, key)).body.code, 'idempotency_conflict');
});

for (const [name, path, code, spoil] of [
  ['no such trade', 'body.payments[1].trade', 'invalid_body', (body: Given) => (body.payments[1]!.trade = 2)],
  ['a negative index', 'body.payments[0].trade', 'invalid_body', (body: Given) => (body.payments[0]!.trade = -1)],
  ['no trades', 'body.trades', 'invalid_body', (body: Given) => (body.trades = [])],
  ['no payments', 'body.payments', 'invalid_body', (body: Given) => (body.payments = [])],
  ['a bad amount', 'body.payments[2].amount', 'invalid_body', (body: Given) => (body.payments[2]!.amount = 0)],
  ['a bad rate', 'body.trades[1].rate', 'invalid_body', (body: Given) => (body.trades[1]!.rate = -2)],
  [
    'a bad day',
    'body.payments[0].payment_date',
    'invalid_body',
    (body: Given) => (body.payments[0]!.payment_date = '2026-02-30'),
  ],
  [
    'an unknown beneficiary',
    'body.payments[0].beneficiary_id',
    'beneficiary_not_found',
    (body: Given) => (body.payments[0]!.beneficiary_id = 'BEN-none'),
  ],
  [
    'the client of another',
    'body.trades[0].client_id',
    'invalid_body',
    (body: Given) => (body.trades[0]!.client_id = 'CLI-none'),
  ],
  ['an unknown client', 'body.client_id', 'client_not_found', (body: Given) => (body.client_id = 'CLI-none')],
  ['an unknown contact', 'body.contact_id', 'contact_not_found', (body: Given) => (body.contact_id = 'CON-none')],
] as [string, string, string, (body: Given) => unknown][]) {
  test(`${name}: refused at ${path}, nothing created`, async () => {
    const count = async () =>
      (
        await service.query(
          'select (select count(*) from payments) + (select count(*) from trades) + (select count(*) from multipayments) as n',
        )
      ).rows[0].n;
    const before = await count();
    const body = given();
    spoil(body);
    const answer = await create(body);
    assert.equal(answer.body.code, code, answer.text);
    assert.equal(answer.body.details.split(': ')[0], path);
    assert.equal(await count(), before);
  });
}

for (const form of ['multipayment_id', 'multipayment', 'multipayment_unique_id'] as const) {
  test(`DELETE by ${form} rejects the trades and cancels the payments, each notified, once`, async () => {
    const body = await made();
    const done = await remove(body[form]);
    assert.equal(done.status, 204, done.text);
    assert.equal(done.text, '');
    const after = (await find(body.multipayment_id)).body;
    assert.equal(after.status, 'rejected');
    assert.deepEqual(
      after.trades.map((trade: { status: string }) => trade.status),
      ['Rejected', 'Rejected'],
    );
    for (const trade of after.trades) assert.deepEqual(await tradeEvents(trade.trade_id), ['Created', 'Rejected']);
    for (const id of ids(body)) {
      const payment = await world.payment(id);
      assert.equal(payment.status, 'Payment cancelled');
      assert.equal(payment.cancelled_by, world.owner.id);
      assert.equal(payment.approvals_workflow.n_eyes_plus_status, 'Cancelled');
      assert.deepEqual(await world.notified(id), ['CREATED', 'PENDING_OF_AUTHORIZATION', 'CANCELLED']);
    }
    const listed = await world.pendingOf(world.person('ann'));
    assert.ok(!ids(body).some((id) => listed.includes(id)));
    for (const again of [body.multipayment_id, body.multipayment, body.multipayment_unique_id]) {
      const refused = await remove(again);
      assert.equal(refused.status, 409);
      assert.equal(refused.body.code, 'already_rejected');
    }
    const { rows } = await service.query(
      `select actor, before->>'status' as before, after->>'status' as after from audit where entity = 'multipayment' and entity_id = $1 order by id`,
      [body.multipayment],
    );
    assert.deepEqual(rows[1], { actor: `contact:${world.owner.id}`, before: 'created', after: 'rejected' });
  });
}

test('the first element at fault is the one that is refused: identifiers count in their turn', async () => {
  const used = await world.create();
  const trade = (await made()).trades[0].trade_id;
  for (const [spoil, refused] of [
    [(body: Given) => [(body.payments[0]!.payment_id = used), (body.payments[1]!.amount = 0)], 'body.payment_id'],
    [
      (body: Given) => [(body.payments[1]!.payment_id = used), (body.payments[0]!.amount = 0)],
      'body.payments[0].amount',
    ],
    [(body: Given) => [0, 1].map((at) => (body.payments[at]!.payment_id = 'twice')), 'body.payment_id'],
    [(body: Given) => [(body.trades[0]!.trade_id = trade), (body.trades[1]!.rate = 0)], 'body.trade_id'],
    [(body: Given) => [(body.trades[0]!.parent_trade_id = 'none'), (body.trades[1]!.rate = 0)], 'body.parent_trade_id'],
    [(body: Given) => [(body.trades[1]!.rate = 0), (body.payments[0]!.amount = 0)], 'body.trades[1].rate'],
  ] as [(body: Given) => unknown, string][]) {
    const body = given();
    spoil(body);
    const answer = await create(body);
    assert.equal(answer.body.details.split(': ')[0], refused, answer.text);
  }
});

test('payments and trades that were over before stay as they are', async () => {
  const body = await made();
  const [cancelled, rejected, approved] = ids(body) as [string, string, string];
  await world.ask(world.owner, 'DELETE', `/payments/${cancelled}`);
  await world.patch(world.person('ann'), rejected, 'reject');
  await world.patch(world.person('ann'), approved, 'authorise');
  await act(approved, 'validate');
  await service.operator('PATCH', `/trades/${body.trades[1].trade_id}`, { status: 'Cancelled' });
  assert.equal((await remove(body.multipayment)).status, 204);
  assert.equal((await world.payment(rejected)).status, 'Payment rejected');
  assert.deepEqual(await world.notified(cancelled), ['CREATED', 'PENDING_OF_AUTHORIZATION', 'CANCELLED']);
  assert.deepEqual(await world.notified(rejected), ['CREATED', 'PENDING_OF_AUTHORIZATION', 'REJECTED']);
  assert.deepEqual(await world.notified(approved), ['CREATED', 'PENDING_OF_AUTHORIZATION', 'AUTHORIZED', 'CANCELLED']);
  assert.deepEqual(
    (await find(body.multipayment)).body.trades.map((trade: { status: string }) => trade.status),
    ['Rejected', 'Cancelled'],
  );
});

test('once a payment of it was sent: 409, nothing changed; also when it has come back since', async () => {
  const body = await made();
  const sent = ids(body)[1] as string;
  await world.patch(world.person('ann'), sent, 'authorise');
  for (const action of ['validate', 'send']) assert.equal((await act(sent, action)).status, 200);
  for (const later of [[], ['complete'], ['start_return', 'return']]) {
    for (const action of later) assert.equal((await act(sent, action)).status, 200, action);
    const before = (await find(body.multipayment)).text;
    const refused = await remove(body.multipayment);
    assert.equal(refused.status, 409, refused.text);
    assert.equal(refused.body.code, 'transition_not_allowed');
    assert.ok(refused.body.details.includes(sent));
    assert.equal((await find(body.multipayment)).text, before);
  }
  assert.deepEqual(await world.notified(ids(body)[0] as string), ['CREATED', 'PENDING_OF_AUTHORIZATION']);
});

test('who may: 403 without the permission, 404 for unknown ones, other clients’ and garbage', async () => {
  const body = await made();
  const clerk = await world.hire('clerk', ['can_manage_payments', 'can_authorise_payments']);
  const refused = await remove(body.multipayment, clerk);
  assert.equal(refused.status, 403);
  assert.equal(refused.body.code, 'permission_denied');
  const other = await approvalsWorld(service, []);
  for (const id of [body.multipayment_id, body.multipayment, body.multipayment_unique_id]) {
    const answer = await other.ask(other.owner, 'DELETE', `/multipayments/${id}`);
    assert.equal(answer.status, 404);
    assert.equal(answer.body.code, 'multipayment_not_found');
  }
  for (const id of ['999999999', 'MP999999', randomUUID(), 'nonsense', 'MP', '%00', '1.5', '9'.repeat(30)]) {
    assert.equal((await remove(id)).body.code, 'multipayment_not_found', id);
    assert.equal((await find(id)).body.code, 'multipayment_not_found', id);
  }
  assert.equal((await find(body.multipayment)).body.status, 'created');
});

test('twenty rejections at the same instant: one does it', async () => {
  const body = await made();
  const answers = await Promise.all(Array.from({ length: 20 }, () => remove(body.multipayment)));
  assert.equal(answers.filter((answer) => answer.status === 204).length, 1);
  assert.equal(answers.filter((answer) => answer.body?.code === 'already_rejected').length, 19);
  for (const id of ids(body))
    assert.equal((await world.notified(id)).filter((status) => status === 'CANCELLED').length, 1);
});

test('a rejection and a payment that is sent at the same instant: all of one or the other', async () => {
  for (let round = 0; round < 6; round += 1) {
    const body = await made();
    const racing = ids(body)[2] as string;
    await world.patch(world.person('ann'), racing, 'authorise');
    await act(racing, 'validate');
    const [removed, sent] = await Promise.all([remove(body.multipayment), act(racing, 'send')]);
    assert.deepEqual([removed.status, sent.status].toSorted(), removed.status === 204 ? [204, 409] : [200, 409]);
    const after = (await find(body.multipayment)).body;
    assert.equal(after.status, removed.status === 204 ? 'rejected' : 'created');
    const cancelled = after.payments.filter(
      (payment: { status: string }) => payment.status === 'Payment cancelled',
    ).length;
    assert.equal(cancelled, removed.status === 204 ? 3 : 0);
  }
});

test('a rejection and an approval at the same instant: the payment is cancelled in the end, or the approval came first', async () => {
  for (let round = 0; round < 6; round += 1) {
    const body = await made();
    const racing = ids(body)[0] as string;
    const [removed, approved] = await Promise.all([
      remove(body.multipayment),
      world.patch(world.person('ann'), racing, 'authorise'),
    ]);
    const after = (await find(body.multipayment)).body;
    const all = after.payments.every((payment: { status: string }) => payment.status === 'Payment cancelled');
    if (removed.status === 204) assert.ok(all);
    else
      assert.deepEqual([removed.body.code, approved.status, after.status], ['transition_not_allowed', 204, 'created']);
  }
});

test('filters by mass payment', async () => {
  const mass = randomUUID();
  const reference = `mass-${mass}`;
  const id = await world.create(5, { mass_payment_id: mass, mass_payment_external_reference_id: reference });
  for (const query of [`&mass_payment_id=${mass}`, `&mass_payment_external_reference_id=${reference}`]) {
    const found = await world.ask(world.owner, 'GET', '/payments', undefined, query);
    assert.deepEqual(
      found.body.map((payment: { payment_id: string }) => payment.payment_id),
      [id],
    );
  }
});
