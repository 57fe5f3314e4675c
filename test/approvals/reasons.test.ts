import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type ApprovalsWorld, approvalsWorld, type Person } from '../world/approvals.ts';
import { startTestService, type TestService } from '../world/service.ts';

let service: TestService;
let world: ApprovalsWorld;
before(async () => {
  service = await startTestService();
  world = await approvalsWorld(service, ['ann', 'bob'], { authorisation_workflow: '6-eyes' });
});
after(() => service.stop());

const act = (who: Person, id: string, action: string, body?: unknown) =>
  world.ask(who, 'PATCH', `/payments/${id}`, body, `&action=${action}`);
const cancel = (who: Person, id: string, body?: unknown) => world.ask(who, 'DELETE', `/payments/${id}`, body);
const WORDS = 'Rejected: “Übertrag” is ordered twice 🙅';

describe('the reason of a decision', () => {
  test('of an approval stands in its entry, the timeline, the audit trail and the feed', async () => {
    const id = await world.create();
    assert.equal((await act(world.person('ann'), id, 'authorise', { reason: 'Matches invoice 42' })).status, 204);
    const payment = await world.payment(id);
    assert.equal(payment.approvals_workflow.authorisations[0].reason, 'Matches invoice 42');
    assert.equal(payment.reason, undefined, 'the payment was neither rejected nor cancelled');
    const { body: timeline } = await service.operator('GET', `/payments/${id}/timeline`);
    const reasons = timeline.filter((entry: { reason?: string }) => entry.reason === 'Matches invoice 42');
    assert.deepEqual(
      reasons.map((entry: { kind: string }) => entry.kind),
      ['action', 'approval'],
    );
    const { body: trail } = await service.operator('GET', '/audit?entity=payment&page_size=1000');
    assert.ok(JSON.stringify(trail).includes('Matches invoice 42'));
    const feed = await service.operator('GET', `/changes?entities=approval&client_id=${world.clientId}&wait=5`);
    const change = feed.body.changes.find((each: { entity_id: string }) => each.entity_id.startsWith(`${id}/`));
    assert.equal(change.data.reason, 'Matches invoice 42');
    assert.equal(change.data.decision, 'authorise');
  });

  test('of a rejection is the payment’s as well', async () => {
    const id = await world.create();
    assert.equal((await act(world.person('bob'), id, 'reject', { reason: WORDS })).status, 204);
    const payment = await world.payment(id);
    assert.equal(payment.reason, WORDS);
    assert.equal(payment.approvals_workflow.authorisations[0].reason, WORDS);
    const found = await world.ask(world.owner, 'GET', '/payments', undefined, `&payment_ids=${id}`);
    assert.equal(found.body[0].reason, WORDS, 'the search shows the same');
    const seen = await service.operator('GET', `/payments/${id}`);
    assert.equal(seen.body.reason, WORDS);
  });

  test('of a cancellation', async () => {
    const id = await world.create();
    assert.equal((await cancel(world.owner, id, { reason: 'Ordered twice' })).status, 204);
    assert.equal((await world.payment(id)).reason, 'Ordered twice');
  });

  test('what the institution notes with a move of its own is not shown to the client', async () => {
    const id = await world.create();
    const done = await service.operator('POST', `/payments/${id}/actions`, {
      action: 'cancel',
      reason: 'under review',
    });
    assert.equal(done.status, 200, done.text);
    const payment = await world.ask(world.owner, 'GET', `/payments/${id}`);
    assert.equal(payment.body.reason, undefined);
    assert.ok(!payment.text.includes('under review'));
  });

  test('what the institution decides in a contact’s name has its reason', async () => {
    const id = await world.create();
    const body = { action: 'reject', contact_id: world.person('ann').id, reason: 'Asked by telephone' };
    assert.equal((await service.operator('POST', `/payments/${id}/actions`, body)).status, 200);
    const payment = await world.payment(id);
    assert.equal(payment.reason, 'Asked by telephone');
    assert.equal(payment.approvals_workflow.authorisations[0].on_behalf_by, 'institution');
    const explained = await world.ask(world.person('ann'), 'GET', `/payments/${id}/approvals`);
    assert.equal(explained.body.authorisations[0].on_behalf_by, 'institution', 'no name of a token');
  });

  test('is optional: no body, an empty object', async () => {
    const first = await world.create();
    assert.equal((await act(world.person('ann'), first, 'authorise')).status, 204);
    assert.equal((await act(world.person('bob'), first, 'authorise', {})).status, 204);
    assert.deepEqual(
      (await world.payment(first)).approvals_workflow.authorisations.map((each: { reason: null }) => each.reason),
      [null, null],
    );
    assert.equal((await cancel(world.owner, first)).status, 204);
    assert.equal((await world.payment(first)).reason, undefined);
  });

  test('of a multi payment’s rejection is each payment’s', async () => {
    const { body: made } = await service.operator('POST', '/multipayments', {
      client_id: world.clientId,
      contact_id: world.owner.id,
      trades: [{ buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: 100, rate: 1.17 }],
      payments: [0, 1].map(() => ({
        trade: 0,
        beneficiary_id: world.beneficiaryId,
        amount: 50,
        payment_currency: 'EUR',
        payment_date: '2030-01-31',
      })),
    });
    const path = `/multipayments/${made.multipayment}`;
    const refused = await world.ask(world.owner, 'DELETE', path, { reason: '' });
    assert.equal(refused.status, 400);
    assert.match(refused.body.details, /^body\.reason: /);
    const done = await world.ask(world.owner, 'DELETE', path, { reason: 'The rates have moved' });
    assert.equal(done.status, 204, done.text);
    for (const { payment_id: id } of made.payments)
      assert.equal((await world.payment(id)).reason, 'The rates have moved');
  });

  for (const [name, reason] of [
    ['longer than 500 characters', 'x'.repeat(501)],
    ['empty', ''],
    ['a number', 42],
    ['null', null],
    ['a list', ['because']],
    ['an object', {}],
    ['with NUL', 'a\0b'],
    ['with half a surrogate pair', 'a\ud800b'],
  ] as const) {
    test(`${name}: 400 that names body.reason, and nothing happens`, async () => {
      const id = await world.create();
      for (const refused of [
        await act(world.person('ann'), id, 'authorise', { reason }),
        await act(world.person('ann'), id, 'reject', { reason }),
        await cancel(world.owner, id, { reason }),
      ]) {
        assert.equal(refused.status, 400, refused.text);
        assert.match(refused.body.details, /^body\.reason: /);
      }
      const payment = await world.payment(id);
      assert.equal(payment.status, 'Payment pending of authorization');
      assert.deepEqual(payment.approvals_workflow.authorisations, []);
    });
  }

  test('500 characters are characters, not code units', async () => {
    const id = await world.create();
    const reason = '🙅'.repeat(500);
    assert.equal((await act(world.person('ann'), id, 'reject', { reason })).status, 204);
    assert.equal((await world.payment(id)).reason, reason);
  });

  test('a body that is no object, or has another field: 400', async () => {
    const id = await world.create();
    for (const body of [null, [], 'because', { reason: 'x', resaon: 'y' }]) {
      const refused = await act(world.person('ann'), id, 'authorise', body);
      assert.equal(refused.status, 400, refused.text);
      assert.match(refused.body.details, /^body/);
    }
  });
});
