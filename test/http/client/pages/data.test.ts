import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { PATIENCE } from '../../../../src/process/patience.ts';
import { londonDay } from '../../../../src/values/calendar.ts';
import { type ApprovalsWorld, approvalsWorld, type Person } from '../../../world/approvals.ts';
import { published } from '../../../world/change-feed.ts';
import { createSubscriber } from '../../../world/graphql.ts';
import { type PageCall, pageSession } from '../../../world/page-session.ts';
import { startTestService, type TestService } from '../../../world/service.ts';
import { until } from '../../../world/until.ts';
import { cookieOf, later } from '../../../world/visitor.ts';

/** What the clients' pages get beside the client API. */

let service: TestService;
let world: ApprovalsWorld;
let ann: Person;
let bob: Person;
let page: PageCall;
let clerk: PageCall;
const patience = { ...PATIENCE };

before(async () => {
  service = await startTestService({}, undefined, patience);
  world = await approvalsWorld(service, ['ann', 'bob'], { authorisation_workflow: '4-eyes' });
  [ann, bob] = [world.person('ann'), world.person('bob')];
  page = (await pageSession(service, ann.id)).call;
  clerk = (await pageSession(service, world.owner.id)).call;
});
after(() => service.stop());

const data = (call: PageCall, name: string, query = '', client = world.clientId) =>
  call('GET', `/app/data/${name}?client_id=${client}${query}`);
const post = (call: PageCall, name: string, body: object, client = world.clientId) =>
  call('POST', `/app/data/${name}?client_id=${client}`, body);
const marksOf = async (...ids: string[]) => {
  // The clock moves in these tests, and a session is idle soon.
  const { call } = await pageSession(service, ann.id);
  const answer = await post(call, 'marks', { payment_ids: ids });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
};
const today = () => londonDay(service.service.context.clock.now());

test('they need the page’s session, and a client of the person', async () => {
  for (const name of ['home', 'decisions', 'changes', 'payments.csv', 'payments/PAY1', 'accounts', 'statements']) {
    const anybody = await fetch(`${service.api}/app/data/${name}?client_id=${world.clientId}`);
    assert.equal(anybody.status, 401, name);
    assert.match(anybody.headers.get('cache-control') ?? '', /no-store/, name);
    const bearer = await service.client(ann.token, 'GET', `/app/data/${name}?client_id=${world.clientId}`);
    assert.equal(bearer.status, 401, `${name}: a token is no session`);
    const other = await approvalsWorld(service, []);
    assert.equal((await data(page, name, '', other.clientId)).status, 404, `${name} of another client`);
  }
  const described = await (await fetch(`${service.api}/openapi.json`)).text();
  assert.doesNotMatch(described, /app\/data/);
});

describe('marks', () => {
  test('the first payment to a payee, until one was sent', async () => {
    const fresh = await service.operator('POST', '/beneficiaries', {
      client_id: world.clientId,
      beneficiary_name: 'New',
    });
    const to = { beneficiary_id: fresh.body.beneficiary_id };
    const [first, second] = [await world.create(1, to), await world.create(2, to)];
    assert.deepEqual(
      (await marksOf(first, second)).map((each: { first_payment: boolean }) => each.first_payment),
      [true, true],
    );
    await world.patch(ann, first, 'authorise');
    const act = (action: string) => service.operator('POST', `/payments/${first}/actions`, { action });
    await act('validate');
    assert.equal((await marksOf(second))[0].first_payment, true, 'it is approved, and not sent');
    await act('send');
    assert.equal((await marksOf(second))[0].first_payment, false);
    assert.deepEqual(await marksOf(first), [], 'it does not wait any more');
  });

  test('a payee that was changed in the 7 days before the payment was made', async () => {
    const made = await service.operator('POST', '/beneficiaries', {
      client_id: world.clientId,
      beneficiary_name: 'Old name',
      iban: 'DE89370400440532013000',
    });
    const id = made.body.beneficiary_id;
    const change = (fields: object) => service.operator('PATCH', `/beneficiaries/${id}`, fields);
    const pay = () => world.create(1, { beneficiary_id: id });
    const before = await pay();
    await change({ currency: 'EUR', beneficiary_aml_id: 'AML-1', beneficiary_name: 'Old name' });
    assert.equal((await marksOf(await pay()))[0].payee_changed, null, 'neither name nor account');
    await change({ beneficiary_name: 'New name' });
    await change({ iban: 'GB33BUKB20201555555555', swift_code: 'BUKBGB22XXX' });
    const changed = (await marksOf(await pay()))[0].payee_changed;
    assert.deepEqual(changed.fields, ['beneficiary_name', 'iban', 'swift_code']);
    assert.ok(Date.parse(changed.at) > 0);
    assert.equal((await marksOf(before))[0].payee_changed, null, 'it was made before');
    await later(service, 7 * 86_400 - 60, async () => {
      assert.notEqual((await marksOf(await pay()))[0].payee_changed, null);
    });
    await later(service, 7 * 86_400 + 60, async () => {
      assert.equal((await marksOf(await pay()))[0].payee_changed, null);
    });
  });

  test('due today in London, by the service’s clock', async () => {
    const [soon, now] = [
      await world.create(1, { payment_date: '2099-01-01' }),
      await world.create(1, { payment_date: today() }),
    ];
    const due = async () =>
      Object.fromEntries(
        (await marksOf(soon, now)).map((each: { payment_id: string; due: string }) => [each.payment_id, each.due]),
      );
    assert.deepEqual(await due(), { [soon]: null, [now]: 'today' });
    await later(service, 2 * 86_400, async () => assert.deepEqual(await due(), { [soon]: null, [now]: 'past' }));
  });
});

test('one’s own decisions, the newest first', async () => {
  const [one, two, three] = [await world.create(11.5), await world.create(12), await world.create(13)];
  await world.patch(bob, one, 'authorise');
  await service.operator('POST', `/payments/${two}/actions`, { action: 'reject', contact_id: bob.id });
  await world.ask(bob, 'DELETE', `/payments/${three}`, { reason: 'twice' });
  const own = (await pageSession(service, bob.id)).call;
  const { body, headers } = await data(own, 'decisions', '&page_size=2');
  assert.equal(headers.get('x-total-count'), '3');
  assert.deepEqual(
    body.map((each: { action: string; on_behalf: boolean; payment: { payment_id: string } }) => [
      each.action,
      each.on_behalf,
      each.payment.payment_id,
    ]),
    [
      ['cancel', false, three],
      ['reject', true, two],
    ],
  );
  const second = (await data(own, 'decisions', '&page_size=2&page=2')).body;
  assert.equal(second[0].payment.amount, 11.5);
  assert.equal(second[0].payment.approvals_workflow.contact_authorisation_actions.executed, 'authorise');
});

test('the first page: what waits, what was made, what is due, what happened', async () => {
  const own = await approvalsWorld(service, ['ann'], { authorisation_workflow: '4-eyes' });
  const session = (await pageSession(service, own.person('ann').id)).call;
  await own.create('1000000000000000.01');
  await own.create('0.02');
  await own.create('5', { payment_currency: 'USD', payment_date: today() });
  const rejected = await own.create('7');
  await own.ask(own.person('ann'), 'PATCH', `/payments/${rejected}`, { reason: 'not ours' }, '&action=reject');
  const { body } = await data(session, 'home', '', own.clientId);
  assert.deepEqual(body.waiting_for_me, {
    count: 3,
    sums: [
      { currency: 'EUR', count: 2, amount: '1000000000000000.03' },
      { currency: 'USD', count: 1, amount: '5' },
    ],
  });
  assert.equal(body.made_by_me.count, 0);
  assert.deepEqual([body.due_today.count, body.due_for_me.count], [1, 1]);
  assert.equal(body.activity[0].what, 'REJECTED');
  assert.equal(body.activity[0].by, 'ann');
  assert.equal(body.activity[0].reason, 'not ours');
  assert.equal(body.activity.length, 5);
  const creator = (await pageSession(service, own.owner.id)).call;
  const made = (await data(creator, 'home', '', own.clientId)).body;
  assert.deepEqual([made.waiting_for_me.count, made.made_by_me.count], [0, 3]);
  await service.operator('PATCH', `/contacts/${own.person('ann').id}`, {
    clients: [{ client_id: own.clientId, permissions: ['can_manage_payments'] }],
  });
  assert.equal((await data(session, 'home', '', own.clientId)).body.waiting_for_me.count, 0);
});

test('a payment’s way: its statuses with their times, and who brought it there', async () => {
  const id = await world.create(1);
  await world.patch(ann, id, 'authorise');
  for (const action of ['validate', 'send', 'complete'])
    await service.operator('POST', `/payments/${id}/actions`, { action });
  const { body } = await data(page, `payments/${id}`);
  assert.deepEqual(
    body.steps.map((each: { status: string }) => each.status),
    [
      ...['Payment pending of authorization', 'Validating beneficiary information', 'Waiting for payment date'],
      ...['Executing Payment', 'Payment complete'],
    ],
  );
  assert.ok(body.steps.every(({ at }: { at: string }) => Date.parse(at) > 0));
  assert.equal(body.outcome.by, 'ann');
  assert.ok(body.sent_date);
  assert.deepEqual(
    body.notifications.map((each: { what: string }) => each.what),
    ['SENT', 'AUTHORIZED', 'PENDING_OF_AUTHORIZATION', 'CREATED'],
  );
  assert.equal((await data(page, 'payments/PAY-NONE')).status, 404);
});

describe('approving in one go', () => {
  test('tells which failed, and who was faster', async () => {
    const [one, two, three] = [await world.create(1), await world.create(2), await world.create(3)];
    await world.ask(bob, 'PATCH', `/payments/${two}`, { reason: 'no invoice' }, '&action=reject');
    const { status, body } = await post(page, 'approvals', {
      payment_ids: [one, two, three, 'PAY-NONE'],
      reason: 'ok',
    });
    assert.equal(status, 200);
    assert.deepEqual(body.approved, [one, three]);
    const [late, none] = body.failed;
    assert.equal(late.payment_id, two);
    assert.equal(late.code, 'approval_not_allowed');
    const { status: now, by, reason } = late.outcome;
    assert.deepEqual([now, by, reason], ['Payment rejected', 'bob', 'no invoice']);
    assert.deepEqual([none.code, none.outcome], ['payment_not_found', null]);
    assert.equal((await world.payment(one)).approvals_workflow.authorisations[0].reason, 'ok');
  });

  test('is refused to whoever may not approve, without the header of the pages, and for more than 200', async () => {
    const id = await world.create(1);
    const clerkOf = await world.hire('clerk', ['can_manage_payments']);
    const session = await pageSession(service, clerkOf.id);
    assert.equal((await post(session.call, 'approvals', { payment_ids: [id] })).status, 403);
    const own = await post(clerk, 'approvals', { payment_ids: [id] });
    assert.equal(own.body.failed[0].code, 'approval_not_allowed', 'the creator');
    const many = Array.from({ length: 201 }, (_, n) => `P${n}`);
    assert.equal((await post(page, 'approvals', { payment_ids: many })).status, 400);
    const browser = await pageSession(service, ann.id);
    const forged = await browser.request(`${service.api}/app/data/approvals?client_id=${world.clientId}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ payment_ids: [id] }),
    });
    assert.equal(forged.status, 403);
  });

  test('does not exist where the client asks for a code', async () => {
    const strict = await approvalsWorld(service, ['ann'], { authorisation_workflow: '4-eyes', approval_step_up: true });
    const approver = await strict.hire('phone', undefined, { second_factor: 'sms', phone: '+442079460001' });
    const id = await strict.create(1);
    const session = (await pageSession(service, approver.id)).call;
    const refused = await post(session, 'approvals', { payment_ids: [id] }, strict.clientId);
    assert.deepEqual([refused.status, refused.body.code], [403, 'step_up_required']);
  });
});

describe('the export', () => {
  test('everything that matches, as UTF-8 with plain decimals, and no formula', async () => {
    const own = await approvalsWorld(service, []);
    const session = await pageSession(service, own.owner.id);
    const texts = ['=HYPERLINK("x")', '+1', '-1', '@SUM(A1)', 'Zürich, "Süd"', '\t=1'];
    for (const [index, reference] of texts.entries()) await own.create(`${index + 1}234567.50`, { reference });
    await own.create('9.00', { payment_currency: 'USD', reference: 'other' });
    const query = `/app/data/payments.csv?client_id=${own.clientId}&payment_currency=EUR&order=desc&page_size=1`;
    const answer = await session.get(service.api + query);
    assert.equal(answer.status, 200, answer.text);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/csv; charset=utf-8$/);
    assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; filename="payments-[\d-]+\.csv"$/);
    const [head, ...lines] = answer.text.trimEnd().split('\r\n');
    assert.match(head ?? '', /^payment_id,created_date,payment_date,status,amount,payment_currency,/);
    assert.equal(lines.length, texts.length);
    assert.match(lines[0] ?? '', /,6234567\.50,EUR,/);
    const references = ['\'=HYPERLINK(""x"")', "'+1", "'-1", "'@SUM(A1)", 'Zürich, ""Süd""', "'\t=1"];
    for (const [index, reference] of references.toReversed().entries())
      assert.ok(lines[index]?.includes(reference), `${reference} is not in ${lines[index]}`);
    assert.equal(
      (await session.get(`${service.api}/app/data/payments.csv?client_id=${own.clientId}&status=x`)).status,
      400,
    );
  });

  test('a large one comes in parts, in order; one that is cut off, or that nobody takes, lets its connection go', async (context) => {
    const own = await approvalsWorld(service, []);
    const session = await pageSession(service, own.owner.id);
    await service.query(
      `insert into payments (client_id, payment_id, contact_id, trade_id, beneficiary_id, uuid, scheme, amount, payment_currency, status,
         invoice_required, ordered_by_name, beneficiary_name, created, payment_date, authorisation_workflow)
       select $1, $1 || '-' || lpad(i::text, 6, '0'), $2, $3, $4, gen_random_uuid(), 'SWIFT', i, 'EUR', 'Payment complete', false,
         repeat('long name ', 60), 'y', timestamptz '2026-01-01Z' + i * interval '1 second', date '2026-01-03', 'simple'
       from generate_series(1, 30000) i`,
      [own.clientId, own.owner.id, own.tradeId, own.beneficiaryId],
    );
    const path = `${service.api}/app/data/payments.csv?client_id=${own.clientId}`;
    const cookie = { cookie: `${cookieOf(service, 'app')}=${session.cookies.get(cookieOf(service, 'app'))}` };
    const cut = new AbortController();
    const begun = await fetch(path, { headers: cookie, signal: cut.signal });
    await begun.body?.getReader().read();
    cut.abort();
    const ids = (await session.get(path)).text
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(',')[0]);
    assert.equal(ids.length, 30_000);
    assert.deepEqual(ids, ids.toSorted());
    context.after(() => {
      patience.untakenMs = PATIENCE.untakenMs;
    });
    patience.untakenMs = 2_000;
    // Nobody reads them, and nobody hangs up: they would be all exports that a process makes at once.
    const stalled = await Promise.all([1, 2, 3, 4].map(() => fetch(path, { headers: cookie })));
    assert.deepEqual(
      stalled.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    const held = `select from pg_stat_activity where datname = current_database() and query like 'fetch % from exported' and state <> 'idle'`;
    await until(async () => (await service.query(held)).rowCount === 0, {
      what: 'an export that nobody takes gives up its connection',
    });
    assert.equal((await session.get(`${path}&payment_ids=${ids[0]}`)).status, 200);
  });
});

test('a change of the client’s payments moves its position, another client’s does not; asking is unlimited', async () => {
  const position = async () => (await data(page, 'changes')).body.position as number;
  const other = await approvalsWorld(service, ['ann'], { authorisation_workflow: '4-eyes' });
  const { call: otherPage } = await pageSession(service, other.person('ann').id);
  const otherPosition = async () => (await data(otherPage, 'changes', '', other.clientId)).body.position as number;
  /** Where the page stands once a later change, of the other client, is seen. */
  const settled = async () => {
    await published(service);
    const was = await otherPosition();
    await other.create(1);
    await until(async () => (await otherPosition()) > was);
    return position();
  };
  const before = await settled();
  assert.equal(await settled(), before);
  await world.create(1);
  await until(async () => (await position()) > before);
  assert.equal((await data(page, 'changes')).headers.get('ratelimit'), null);
});

test('accounts, balances, transactions and receivers are those of the client alone', async () => {
  const other = await createSubscriber(service);
  const subscription = await other.subscribe();
  const made = await service.operator('POST', '/currency-accounts', { client_id: other.clientId, currency: 'CHF' });
  const own = await service.operator('POST', '/currency-accounts', { client_id: world.clientId, currency: 'JPY' });
  for (const [clientId, id, amount] of [
    [other.clientId, made.body.account_id, '5'],
    [world.clientId, own.body.account_id, '0.12345678'],
  ]) {
    const currency = clientId === world.clientId ? 'JPY' : 'CHF';
    const fields = { client_id: clientId, currency_account_id: id, kind: 'CREDIT_TRANSACTION' };
    const booked = await service.operator('POST', '/transactions', { ...fields, amount: { amount, currency } });
    assert.equal(booked.status, 201, booked.text);
  }
  const { call } = await pageSession(service, ann.id);
  const accounts = await data(call, 'accounts');
  assert.deepEqual(
    accounts.body.balances.filter(({ currency }: { currency: string }) => currency === 'CHF'),
    [],
  );
  const days = await data(call, 'balances', '&currency=JPY');
  assert.equal(days.body.length, 90);
  assert.deepEqual(days.body.at(-1), { day: today(), balance: '0.12345678' });
  assert.equal(days.body[0].balance, '0');
  assert.deepEqual((await data(call, 'balances', '&currency=CHF')).body, []);
  const foreign = await data(call, 'transactions', `&currency_account_id=${made.body.account_id}`);
  assert.deepEqual([foreign.body, foreign.headers.get('x-total-count')], [[], '0']);
  assert.equal((await data(call, 'receiver-health', `&subscription_id=${subscription}`)).status, 404);

  const graphql = await call('POST', `/app/api/webhooks/graphql?client_id=${world.clientId}`, {
    query: '{ subscriptions { nodes { id } } }',
  });
  assert.deepEqual(graphql.body, { data: { subscriptions: { nodes: [] } } });
  const stranger = await call('POST', `/app/api/webhooks/graphql?client_id=${other.clientId}`, {
    query: '{ webhookTypes }',
  });
  assert.equal(stranger.status, 404);
});

test('a booking counts in the balance of its London day and of those after it', async () => {
  const account = await service.operator('POST', '/currency-accounts', { client_id: world.clientId, currency: 'SEK' });
  const day = (back: number) => new Date(service.service.context.clock.now().getTime() - back * 86_400_000);
  for (const [back, amount] of [
    [200, '1'],
    [5, '10'],
    [3, '100'],
  ] as const) {
    const booked = await service.operator('POST', '/transactions', {
      client_id: world.clientId,
      currency_account_id: account.body.account_id,
      kind: 'CREDIT_TRANSACTION',
      amount: { amount, currency: 'SEK' },
      booking_datetime: day(back).toISOString(),
    });
    assert.equal(booked.status, 201, booked.text);
  }
  const { call } = await pageSession(service, ann.id);
  const { body } = await data(call, 'balances', '&currency=SEK');
  assert.deepEqual(
    body.slice(-7).map(({ balance }: { balance: string }) => balance),
    ['1', '11', '11', '111', '111', '111', '111'],
  );
});
