import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { type OrdersWorld, ordersWorld } from '../world/orders.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** Who decides about what a client orders: approvals, second factors, and many decisions at once (docs/approvals.md). */
const PENDING = 'Payment pending of authorization';
const VALIDATING = 'Validating beneficiary information';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

const now = () => service.service.context.clock.now().getTime();
const totp = (secret: string) => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: now() });

/** A contact with an authenticator. */
async function withAuthenticator(world: OrdersWorld, permissions: string[]) {
  const clerk = await world.clerk(permissions);
  const changed = await service.operator('PATCH', `/contacts/${clerk.id}`, { second_factor: 'totp' });
  return { ...clerk, secret: changed.body.totp.secret as string };
}

const asking =
  (world: OrdersWorld) =>
  (token: string, method: string, path: string, body?: unknown, query = '') =>
    service.client(token, method, `${path}?client_id=${world.clientId}${query}`, body === undefined ? {} : { body });

async function lastText(phone: string): Promise<{ text: string; code: string }> {
  const { body } = await service.operator('GET', '/text-messages');
  const { text } = body.find((each: { to: string }) => each.to === phone);
  return { text, code: /\b(\d{6})\b/.exec(text)?.[1] as string };
}

test('with step-up no order leaves without a second factor', async () => {
  const world = await ordersWorld(service, { client: { approval_step_up: true } });
  const ask = asking(world);
  const without = await world.clerk(['can_create_payments']);
  const headers = { 'idempotency-key': '' };
  const refused = await world.order([{ typo: 1 }], undefined, { token: without.token, headers });
  assert.deepEqual([refused.status, refused.body.code], [403, 'second_factor_missing'], refused.text);
  const { token, secret, id: creator } = await withAuthenticator(world, ['can_create_payments']);
  const other = await withAuthenticator(world, ['can_authorise_payments', 'can_create_payments']);
  const made = await world.order([world.payment('10.00')], undefined, { token });
  assert.equal(made.status, 201, made.text);
  const [{ payment_id: id, status }] = made.body;
  assert.equal(status, PENDING);
  const shown = (await ask(token, 'GET', `/payments/${id}`)).body.approvals_workflow;
  assert.deepEqual(
    [shown.minimum_remaining_authorisations, shown.n_eyes_plus_status, shown.contact_authorisation_actions.allowed],
    [1, 'Pending approval', ['authorise', 'reject', 'cancel']],
  );
  const waiting = await ask(token, 'GET', '/payments', undefined, '&status=pending_your_approval');
  assert.deepEqual(
    waiting.body.map((each: { payment_id: string }) => each.payment_id),
    [id],
  );
  const decide = (who: string, body: object) => ask(who, 'PATCH', `/payments/${id}`, body, '&action=authorise');
  const bare = await decide(token, {});
  assert.deepEqual([bare.status, bare.body.code], [403, 'step_up_required'], bare.text);
  assert.equal((await ask(other.token, 'POST', `/payments/${id}/challenges`)).body.code, 'approval_not_allowed');
  const challenge = await ask(token, 'POST', `/payments/${id}/challenges`);
  assert.equal(challenge.status, 201, challenge.text);
  const proof = { challenge_id: challenge.body.challenge_id, verification_code: totp(secret) };
  assert.equal((await decide(token, proof)).status, 204);
  const paid = await world.paid(id);
  assert.deepEqual([paid.status, paid.approvals_workflow.authorisations[0].contact_id], [VALIDATING, creator]);
  // Who creates and may not authorise decides about nothing else.
  const institution = await world.pay({ amount: 5 });
  const foreign = await ask(token, 'PATCH', `/payments/${institution.body.payment_id}`, {}, '&action=authorise');
  assert.deepEqual([foreign.status, foreign.body.code], [403, 'permission_denied'], foreign.text);
});

test('where others have to approve they do, and the creator does not', async () => {
  const client = { approval_step_up: true, payment_approvals_enabled: true, authorisation_workflow: '4-eyes' };
  const world = await ordersWorld(service, { client });
  const ask = asking(world);
  const { token } = await withAuthenticator(world, ['can_create_payments', 'can_authorise_payments']);
  const made = await world.order([world.payment('10.00')], undefined, { token });
  const shown = (await ask(token, 'GET', `/payments/${made.body[0].payment_id}`)).body;
  assert.deepEqual(
    [shown.status, shown.approvals_workflow.contact_authorisation_actions.allowed],
    [PENDING, ['cancel']],
  );
});

test('an order and the same payment of the institution require the same', async () => {
  const client = { payment_approvals_enabled: true, authorisation_workflow: '4-eyes' };
  const world = await ordersWorld(service, { client });
  const [ordered, institution] = [
    await world.pays('10.00'),
    (await world.pay({ contact_id: world.ordererId, amount: 10, reference: 'Invoice 42' })).body.payment_id,
  ];
  const [one, other] = [await world.paid(ordered), await world.paid(institution)];
  assert.deepEqual([one.status, one.approvals_workflow], [other.status, other.approvals_workflow]);
  const notified = async (id: string) => {
    const { rows } = await service.query(
      `select body from webhook_events where type = 'PAYMENT_STATUS_CHANGE' and body like $1 order by id`,
      [`%"payment_id":"${id}"%`],
    );
    return rows.map((row) => JSON.parse(row.body).payment_webhook_status[0]);
  };
  assert.deepEqual(await notified(ordered), await notified(institution));
  assert.deepEqual(await notified(ordered), ['CREATED', 'PENDING_OF_AUTHORIZATION']);
});

test('who may not authorise is told so before the payment and the body are looked at', async () => {
  const client = { payment_approvals_enabled: true, authorisation_workflow: '4-eyes' };
  const world = await ordersWorld(service, { client });
  const ask = asking(world);
  const clerk = await world.clerk(['can_create_payments']);
  const id = await world.pays('1.00');
  const denied = [403, 'permission_denied'];
  for (const [method, path, body, query] of [
    ['PATCH', '/payments/PAY-NONE', {}, '&action=authorise'],
    ['PATCH', '/payments/PAY-NONE', {}, '&action=reject'],
    ['PATCH', `/payments/${id}`, { reason: 5 }, '&action=reject'],
    ['PATCH', `/payments/${id}`, {}, ''],
    ['POST', '/payments/PAY-NONE/challenges', undefined, ''],
    ['POST', '/payments/challenges', { payment_ids: [id, 'PAY-NONE'] }, ''],
  ] as const) {
    const answer = await ask(clerk.token, method, path, body, query);
    assert.deepEqual([answer.status, answer.body.code], denied, `${method} ${path}${query}: ${answer.text}`);
  }
  await world.act(id, 'cancel');
  const many = await ask(clerk.token, 'PATCH', '/payments', { payment_ids: [id, 'PAY-NONE'] }, '&action=authorise');
  assert.deepEqual(
    many.body.map((each: { code: string }) => each.code),
    ['permission_denied', 'permission_denied'],
  );
});

test('many payments are decided at once, each judged alone', async () => {
  const client = { payment_approvals_enabled: true, authorisation_workflow: '4-eyes' };
  const world = await ordersWorld(service, { client });
  const ask = asking(world);
  const approver = await world.clerk(['can_authorise_payments']);
  const ids = [await world.pays('1.00'), await world.pays('2.00')];
  const rejected = await world.pays('3.00');
  await ask(approver.token, 'PATCH', `/payments/${rejected}`, { reason: 'No' }, '&action=reject');
  const decide = (token: string, body: object, action = 'authorise') =>
    ask(token, 'PATCH', '/payments', body, `&action=${action}`);
  const payment_ids = [ids[0], 'PAY-NONE', rejected, ids[1]];
  const clerk = await world.clerk(['can_create_payments']);
  const denied = await decide(clerk.token, { payment_ids: [ids[0]] });
  assert.deepEqual([denied.status, denied.body[0].code, denied.body[0].done], [200, 'permission_denied', false]);
  const answer = await decide(approver.token, { payment_ids, reason: 'All fine' });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(
    answer.body.map((each: Record<string, unknown>) => [each.payment_id, each.done, each.code]),
    [
      [ids[0], true, null],
      ['PAY-NONE', false, 'payment_not_found'],
      [rejected, false, 'approval_not_allowed'],
      [ids[1], true, null],
    ],
  );
  assert.deepEqual(Object.keys(answer.body[0]), ['payment_id', 'done', 'code', 'message', 'details']);
  assert.equal(answer.body[1].details, 'body.payment_ids[1]: does not exist for this client');
  assert.equal((await world.paid(ids[0] as string)).status, VALIDATING);
  for (const [body, details] of [
    [{ payment_ids: [ids[0], ids[0]] }, 'body.payment_ids[1]'],
    [{ payment_ids: [] }, 'body.payment_ids'],
    [{ payment_ids: Array.from({ length: 201 }, (_, index) => `P${index}`) }, 'body.payment_ids'],
    [{ payment_ids: ids, typo: 1 }, 'body.typo'],
    [{}, 'body.payment_ids'],
  ] as const) {
    const refused = await decide(approver.token, body);
    assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_body'], refused.text);
    assert.ok(refused.body.errors[0].details.startsWith(details), refused.text);
  }
  const more = [await world.pays('1.00'), await world.pays('2.00')];
  const no = await decide(approver.token, { payment_ids: more, reason: 'Ordered twice' }, 'reject');
  assert.deepEqual(
    no.body.map((each: { done: boolean }) => each.done),
    [true, true],
    no.text,
  );
  assert.deepEqual(await world.funds(), ['1000.00', '3.00', '997.00']);
});

test('one code approves many payments, and none that has changed since', async () => {
  const client = { approval_step_up: true, payment_approvals_enabled: true, authorisation_workflow: '4-eyes' };
  const world = await ordersWorld(service, { client });
  const ask = asking(world);
  const phone = '+44 20 7946 0990';
  await service.operator('PATCH', `/contacts/${world.ordererId}`, { second_factor: 'totp' });
  const approver = await world.clerk(['can_authorise_payments'], { second_factor: 'sms', phone });
  const ids: string[] = [];
  for (const amount of ['1.50', '2.00', '3.00']) ids.push(await world.pays(amount));
  const headers = { 'idempotency-key': crypto.randomUUID() };
  const open = (payment_ids: string[], keyed: object = {}) =>
    service.client(approver.token, 'POST', `/payments/challenges?client_id=${world.clientId}`, {
      body: { payment_ids },
      ...keyed,
    });
  assert.equal((await open([ids[0], ids[0]] as string[])).status, 400);
  const strangers = await open([ids[0], 'PAY-NONE', 'PAY-OTHER'] as string[]);
  assert.deepEqual(
    [
      strangers.status,
      strangers.body.code,
      strangers.body.errors.map((each: { request_index: number }) => each.request_index),
    ],
    [404, 'payment_not_found', [1, 2]],
    strangers.text,
  );
  const opened = await open(ids, { headers });
  assert.equal(opened.status, 201, opened.text);
  const { text, code } = await lastText(phone);
  assert.match(text, /3 payments, EUR 6\.50, to DE89370400440532013000\./);
  const again = await open(ids, { headers });
  assert.deepEqual([again.text, again.headers.get('idempotency-replayed')], [opened.text, 'true']);
  assert.equal((await open(ids)).body.code, 'rate_limited');
  await ask(world.token, 'DELETE', `/payments/${ids[2]}`);
  const decide = (body: object) => ask(approver.token, 'PATCH', '/payments', body, '&action=authorise');
  const proof = { challenge_id: opened.body.challenge_id, verification_code: code };
  for (const [body, expected] of [
    [{ payment_ids: ids }, 'step_up_required'],
    [{ payment_ids: ids, ...proof, challenge_id: 'unknown' }, 'challenge_expired'],
    [{ payment_ids: ids.slice(0, 2), ...proof }, 'challenge_expired'],
    [{ payment_ids: ids, ...proof, verification_code: '000000' === code ? '000001' : '000000' }, 'step_up_failed'],
  ] as const) {
    const refused = await decide(body);
    assert.deepEqual([refused.status, refused.body.code], [403, expected], refused.text);
  }
  const done = await decide({ payment_ids: ids, ...proof });
  assert.deepEqual(
    done.body.map((each: { done: boolean; code: string | null }) => [each.done, each.code]),
    [
      [true, null],
      [true, null],
      [false, 'challenge_expired'],
    ],
    done.text,
  );
  assert.equal((await decide({ payment_ids: ids, ...proof })).body.code, 'challenge_expired');
  // The stored answer ends with the challenge.
  await service.operator('PUT', '/clock', { advance_seconds: 301 });
  const later = await open(ids.slice(0, 0).concat(await world.pays('1.00')), { headers });
  assert.equal(later.status, 201, later.text);
  await service.operator('DELETE', '/clock');
});

test('what the institution asks about a payee is answered by whoever creates payments', async () => {
  const world = await ordersWorld(service);
  const ask = asking(world);
  const { body } = await world.pay({ amount: 5 });
  const id = body.payment_id;
  const tell = (given: unknown, token = world.token) =>
    ask(token, 'PATCH', `/payments/${id}`, given, '&action=provide_information');
  const early = await tell({ information: 'He is our landlord' });
  assert.deepEqual([early.status, early.body.code], [409, 'transition_not_allowed'], early.text);
  await world.act(id, 'request_information');
  const clerk = await world.clerk(['can_authorise_payments']);
  assert.equal((await tell({ information: 'Hm' }, clerk.token)).body.code, 'permission_denied');
  const refusals: [unknown, string[]][] = [
    [{}, ['required body.information']],
    [{ information: null }, ['required body.information']],
    [{ information: '' }, ['invalid_format body.information']],
    [{ information: 'x'.repeat(2_001) }, ['invalid_format body.information']],
    [{ information: 'a', reason: 'b' }, ['unknown_field body.reason']],
    [
      { information: '', note: 1, reason: 'b' },
      ['unknown_field body.reason', 'invalid_format body.information', 'unknown_field body.note'],
    ],
  ];
  for (const [given, faults] of refusals) {
    const { status, body: refused } = await tell(given);
    assert.deepEqual([status, refused.code], [400, 'invalid_body'], JSON.stringify(given));
    const told = refused.errors.map(
      ({ code, details }: { code: string; details: string }) => `${code} ${details.split(':')[0]}`,
    );
    assert.deepEqual(told, faults, JSON.stringify(refused));
    assert.equal(refused.details, refused.errors[0].details);
  }
  // A decision is refused as ever.
  const decided = await ask(world.token, 'PATCH', `/payments/${id}`, { reason: 5 }, '&action=authorise');
  assert.deepEqual([decided.status, decided.body.code, decided.body.errors], [400, 'invalid_body', undefined]);
  assert.equal((await tell({ information: 'He is our landlord' })).status, 204);
  const paid = await world.paid(id);
  assert.deepEqual([paid.status, paid.information], [VALIDATING, 'He is our landlord']);
  const { rows } = await service.query(
    `select actor, after from audit where entity = 'payment' and entity_id = $1 order by id desc limit 1`,
    [id],
  );
  assert.deepEqual([rows[0].actor, rows[0].after.information], [`contact:${world.ordererId}`, 'He is our landlord']);
  const timeline = await service.operator('GET', `/payments/${id}/timeline`);
  assert.ok(timeline.text.includes('He is our landlord'));
});
