import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createIntegrator } from '../world/sandbox.ts';
import { call, startTestService, type TestService } from '../world/service.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

const PENDING = 'Payment pending of authorization';
const VALIDATING = 'Validating beneficiary information';

describe('POST /sandbox/payments', () => {
  test('makes a payment from nothing: the newest trade and beneficiary, today, no approval where none is needed', async () => {
    const client = await createIntegrator(service);
    const made = await client.ask('POST', '/sandbox/payments', {});
    assert.equal(made.status, 201, made.text);
    const { payment_id: id, trade_id, beneficiary_id, contact_id, status, amount, payment_currency } = made.body;
    assert.deepEqual(
      { trade_id, beneficiary_id, contact_id, status, payment_currency },
      {
        trade_id: client.tradeId,
        beneficiary_id: client.beneficiaryId,
        contact_id: client.contactId,
        status: VALIDATING,
        payment_currency: 'EUR',
      },
    );
    assert.ok(amount > 0);
    assert.deepEqual((await client.ask('GET', `/payments/${id}`)).body, made.body);
    assert.deepEqual(await client.statusesOf(id), ['CREATED', 'AUTHORIZED']);
    // A body is not needed at all.
    assert.equal((await client.ask('POST', '/sandbox/payments')).status, 201);
  });

  test('takes every field that is given', async () => {
    const client = await createIntegrator(service);
    const given = {
      amount: '12345678901234567.80',
      payment_currency: 'USD',
      payment_date: '2031-02-03',
      beneficiary_id: client.beneficiaryId,
      trade_id: client.tradeId,
      reference: 'Rent',
    };
    // A number of JavaScript would lose the last digit.
    const raw = JSON.stringify(given).replace('"12345678901234567.80"', '12345678901234567.80');
    const made = await service.client(client.token, 'POST', `/sandbox/payments?client_id=${client.clientId}`, {
      raw,
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(made.status, 201, made.text);
    assert.match(made.text, /"amount":12345678901234567\.80,/);
    const { amount: _amount, ...rest } = given;
    for (const [name, value] of Object.entries(rest)) assert.equal(made.body[name], value);
  });

  test('a client without trade and beneficiary gets both; the trade is notified', async () => {
    const client = await createIntegrator(service);
    await service.query('delete from trades where client_id = $1', [client.clientId]);
    await service.query('delete from beneficiaries where client_id = $1', [client.clientId]);
    const before = (await client.notified()).length;
    const made = await client.ask('POST', '/sandbox/payments', {});
    assert.equal(made.status, 201, made.text);
    assert.deepEqual((await client.notified()).slice(before), [
      'TRADE_STATUS_CHANGE:Created',
      'PAYMENT_STATUS_CHANGE:CREATED',
      'PAYMENT_STATUS_CHANGE:AUTHORIZED',
    ]);
  });

  test('approval needed: somebody else created it, and the caller can approve it, whatever the workflow', async () => {
    const rules = { payment_approvals_enabled: true, authorisation_workflow: '4-eyes' };
    const creatorApproves = { ...rules, payment_creator_approval_enabled: true };
    for (const settings of [{}, rules, creatorApproves]) {
      const client = await createIntegrator(service, settings);
      const other = await client.join('Other');
      const made = await client.ask('POST', '/sandbox/payments', { approval: 'needed' });
      assert.equal(made.status, 201, made.text);
      assert.equal(made.body.contact_id, other.contactId);
      assert.equal(made.body.status, PENDING);
      assert.deepEqual(made.body.approvals_workflow.contact_authorisation_actions.allowed, [
        'authorise',
        'reject',
        'cancel',
      ]);
      const id = made.body.payment_id;
      assert.equal((await client.ask('PATCH', `/payments/${id}?action=authorise`)).status, 204);
      assert.equal((await client.ask('GET', `/payments/${id}`)).body.status, VALIDATING);
      assert.deepEqual(await client.statusesOf(id), ['CREATED', 'PENDING_OF_AUTHORIZATION', 'AUTHORIZED']);
    }
  });

  test('approval needed under a ruleset that does not name the caller, and under one that needs several', async () => {
    const client = await createIntegrator(service, { payment_approvals_enabled: true });
    const [bob, cleo] = [await client.join('Bob'), await client.join('Cleo')];
    const configure = async (users: string[], allOf: string[]) =>
      client.ask('POST', '/approvals-workflow/config', {
        groups: [{ name: 'all', scope: 'payments', users: users.map((id) => ({ id })) }],
        ruleset: { currency: 'EUR', rules: [{ minimum_threshold: 0, groups: [{ one_of: [{ all_of: allOf }] }] }] },
      });
    assert.equal((await configure([bob.contactId, cleo.contactId], ['all'])).status, 200);
    const unnamed = await client.ask('POST', '/sandbox/payments', { approval: 'needed' });
    assert.equal(unnamed.body.status, PENDING, unnamed.text);
    assert.ok(unnamed.body.approvals_workflow.contact_authorisation_actions.allowed.includes('authorise'));
    assert.equal((await configure([client.contactId, bob.contactId], ['all', 'all'])).status, 200);
    const several = await client.ask('POST', '/sandbox/payments', { approval: 'needed' });
    assert.equal(several.body.contact_id, cleo.contactId, 'a creator who is no approver, so that both can approve');
    assert.equal(several.body.approvals_workflow.minimum_remaining_authorisations, 2);
  });

  test('approval none, absent and impossible', async () => {
    const client = await createIntegrator(service, {
      payment_approvals_enabled: true,
      authorisation_workflow: '4-eyes',
    });
    assert.equal((await client.ask('POST', '/sandbox/payments', { approval: 'none' })).body.status, VALIDATING);
    assert.equal((await client.ask('POST', '/sandbox/payments', {})).body.status, PENDING);
    const events = (await client.notified()).length;
    const alone = await client.ask('POST', '/sandbox/payments', { approval: 'needed' });
    assert.equal(alone.status, 409);
    assert.equal(alone.body.code, 'transition_not_allowed');
    assert.equal((await client.notified()).length, events);
  });

  test('names what is wrong', async () => {
    const client = await createIntegrator(service);
    const other = await createIntegrator(service);
    for (const [body, status, code, details] of [
      [{ amount: -1 }, 400, 'invalid_body', /^body\.amount/],
      [{ amount: 0 }, 400, 'invalid_body', /^body\.amount: must be greater than 0/],
      [{ amount: '10.00' }, 400, 'invalid_body', /^body\.amount: must be a number/],
      [{ payment_currency: 'QQQ' }, 400, 'invalid_body', /^body\.payment_currency: must be a currency of ISO 4217/],
      [{ payment_date: '2026-02-30' }, 400, 'invalid_body', /^body\.payment_date/],
      [{ payment_currency: 'euro' }, 400, 'invalid_body', /^body\.payment_currency/],
      [{ approval: 'maybe' }, 400, 'invalid_body', /^body\.approval/],
      [{ colour: 'red' }, 400, 'invalid_body', /^body.*colour/],
      [{ trade_id: other.tradeId }, 404, 'trade_not_found', /^body\.trade_id/],
      [{ beneficiary_id: other.beneficiaryId }, 404, 'beneficiary_not_found', /^body\.beneficiary_id/],
    ] as const) {
      const answer = await client.ask('POST', '/sandbox/payments', body);
      assert.deepEqual([answer.status, answer.body.code], [status, code], JSON.stringify(body) + answer.text);
      assert.match(answer.body.details, details);
    }
  });

  test('needs a token of a contact of the client, and no permission', async () => {
    const client = await createIntegrator(service);
    const reader = await client.join('Reader', []);
    assert.equal((await reader.ask('POST', '/sandbox/payments', {})).status, 201);
    const stranger = await createIntegrator(service);
    assert.equal((await client.as(stranger.token)('POST', '/sandbox/payments', {})).status, 404);
    assert.equal((await call(`${service.api}/sandbox/payments`, 'POST', { body: {} })).status, 401);
  });
});

describe('POST /sandbox/payments/{payment_id}/advance', () => {
  const advance = (client: Awaited<ReturnType<typeof createIntegrator>>, id: string, body?: object) =>
    client.ask('POST', `/sandbox/payments/${id}/advance`, body);

  test('next, step by step, from the approval to the end', async () => {
    const client = await createIntegrator(service, {
      payment_approvals_enabled: true,
      authorisation_workflow: '6-eyes',
    });
    await client.join('Bob');
    await client.join('Cleo', ['can_authorise_payments']);
    const { payment_id: id } = (await client.ask('POST', '/sandbox/payments', {})).body;
    const seen = [];
    for (let step = 0; step < 4; step += 1) {
      const moved = await advance(client, id, step === 0 ? undefined : { to: 'next' });
      assert.equal(moved.status, 200, moved.text);
      seen.push(moved.body.status);
      assert.deepEqual((await client.ask('GET', `/payments/${id}`)).body, moved.body);
    }
    assert.deepEqual(seen, [VALIDATING, 'Waiting for payment date', 'Executing Payment', 'Payment complete']);
    assert.deepEqual(await client.statusesOf(id), ['CREATED', 'PENDING_OF_AUTHORIZATION', 'AUTHORIZED', 'SENT']);
    const end = await advance(client, id);
    assert.deepEqual([end.status, end.body.code], [409, 'transition_not_allowed']);
  });

  test('to any status by legal moves, each with its notification', async () => {
    const client = await createIntegrator(service, {
      payment_approvals_enabled: true,
      authorisation_workflow: '4-eyes',
    });
    await client.join('Bob');
    const approved = ['CREATED', 'PENDING_OF_AUTHORIZATION', 'AUTHORIZED'];
    for (const [way, statuses] of [
      [['Payment complete'], [...approved, 'SENT']],
      [
        ['Executing Payment', 'Payment cancelled'],
        [...approved, 'SENT', 'INVALIDATED'],
      ],
      [
        ['Waiting for payment date', 'Payment cancelled'],
        [...approved, 'CANCELLED'],
      ],
      [['Payment cancelled'], ['CREATED', 'PENDING_OF_AUTHORIZATION', 'CANCELLED']],
      [['Payment rejected'], ['CREATED', 'PENDING_OF_AUTHORIZATION', 'REJECTED']],
      [
        ['Need more beneficiary information', 'next', 'Executing Payment'],
        [...approved, 'SENT'],
      ],
      [
        ['Need more beneficiary information', 'Payment complete'],
        [...approved, 'SENT'],
      ],
      [['returned'], [...approved, 'SENT', 'PENDING_RETURN', 'RETURNED']],
      [
        ['Payment complete', 'returned'],
        [...approved, 'SENT', 'PENDING_RETURN', 'RETURNED'],
      ],
    ] as const) {
      const { payment_id: id } = (await client.ask('POST', '/sandbox/payments', {})).body;
      let last = await advance(client, id, { to: way[0], reason: 'a trial' });
      assert.equal(last.status, 200, `${way}: ${last.text}`);
      for (const to of way.slice(1)) last = await advance(client, id, { to });
      assert.equal(last.status, 200, `${way}: ${last.text}`);
      const end = way.at(-1);
      if (end !== 'next') assert.equal(last.body.status, end === 'returned' ? 'Payment cancelled' : end);
      assert.deepEqual(await client.statusesOf(id), statuses, String(way));
    }
    assert.equal((await client.notified()).filter((event) => event.includes('RETURNED_TRANSACTION')).length, 2);
  });

  test('a return that has started: next ends it', async () => {
    const client = await createIntegrator(service);
    const { payment_id: id } = (await client.ask('POST', '/sandbox/payments', {})).body;
    await advance(client, id, { to: 'Payment complete' });
    await service.operator('POST', `/payments/${id}/actions`, { action: 'start_return' });
    assert.equal((await advance(client, id, { to: 'Payment cancelled' })).status, 409);
    assert.equal((await advance(client, id)).body.status, 'Payment cancelled');
  });

  test('409 transition_not_allowed, and nothing has moved', async () => {
    const client = await createIntegrator(service, {
      payment_approvals_enabled: true,
      authorisation_workflow: '4-eyes',
    });
    const pending = (await client.ask('POST', '/sandbox/payments', {})).body.payment_id;
    const waiting = (await client.ask('POST', '/sandbox/payments', { approval: 'none' })).body.payment_id;
    await advance(client, waiting, { to: 'Waiting for payment date' });
    const cancelled = (await client.ask('POST', '/sandbox/payments', {})).body.payment_id;
    await advance(client, cancelled, { to: 'Payment cancelled' });
    const complete = (await client.ask('POST', '/sandbox/payments', { approval: 'none' })).body.payment_id;
    await advance(client, complete, { to: 'Payment complete' });
    const events = (await client.notified()).length;
    for (const [id, to] of [
      // Its only contact created it: nobody may approve or reject.
      [pending, 'next'],
      [pending, 'Payment complete'],
      [pending, 'Payment rejected'],
      [pending, PENDING],
      [waiting, 'Waiting for payment date'],
      [waiting, 'Need more beneficiary information'],
      [waiting, VALIDATING],
      [waiting, PENDING],
      [waiting, 'Payment rejected'],
      [cancelled, 'next'],
      [cancelled, 'returned'],
      [cancelled, 'Payment cancelled'],
      [complete, 'next'],
      [complete, 'Payment complete'],
      [complete, 'Payment cancelled'],
    ]) {
      const answer = await advance(client, id, { to });
      assert.deepEqual([answer.status, answer.body.code], [409, 'transition_not_allowed'], `${to}: ${answer.text}`);
      assert.match(answer.body.details, /is "/);
    }
    assert.equal((await client.notified()).length, events);
  });

  test('all or nothing: where the second of two approvers is missing, the first has not approved', async () => {
    const client = await createIntegrator(service, {
      payment_approvals_enabled: true,
      authorisation_workflow: '6-eyes',
    });
    await client.join('Bob');
    const { payment_id: id } = (await client.ask('POST', '/sandbox/payments', {})).body;
    assert.equal((await advance(client, id)).status, 409);
    const { approvals_workflow: workflow } = (await client.ask('GET', `/payments/${id}`)).body;
    assert.deepEqual(workflow.authorisations, []);
  });

  test('404 and 400 name their field', async () => {
    const client = await createIntegrator(service);
    const stranger = await createIntegrator(service);
    const { payment_id: id } = (await client.ask('POST', '/sandbox/payments', {})).body;
    for (const [answer, status, code, details] of [
      [await advance(stranger, id), 404, 'payment_not_found', /^path\.payment_id/],
      [await advance(client, id, { to: 'Complete' }), 400, 'invalid_body', /^body\.to: .*returned/],
      [await advance(client, id, { reason: 7 }), 400, 'invalid_body', /^body\.reason/],
    ] as const) {
      assert.deepEqual([answer.status, answer.body.code], [status, code], answer.text);
      assert.match(answer.body.details, details);
    }
  });
});
