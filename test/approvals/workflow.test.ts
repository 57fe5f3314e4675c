import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ApprovalsWorld, approvalsWorld, type Person } from '../world/approvals.ts';
import { startTestService, type TestService } from '../world/service.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

const PENDING = 'Payment pending of authorization';
const VALIDATING = 'Validating beneficiary information';
interface Shown {
  contact_id: string;
  status: number;
  level: number;
  contact_name: string;
  date: string;
}
interface Actions {
  allowed: string[];
  executed: string | null;
}

const actions = async (world: ApprovalsWorld, id: string, who: Person): Promise<Actions> =>
  (await world.payment(id, who)).approvals_workflow.contact_authorisation_actions;
const act = (id: string, action: string, contact?: string) =>
  service.operator('POST', `/payments/${id}/actions`, { action, ...(contact ? { contact_id: contact } : {}) });
const grant = (world: ApprovalsWorld, who: Person, permissions: string[] | null, more: object = {}) =>
  service.operator('PATCH', `/contacts/${who.id}`, {
    ...(permissions === null ? {} : { clients: [{ client_id: world.clientId, permissions }] }),
    ...more,
  });
const refused = (answer: { status: number; body: { code: string } }, status: number, code: string) => {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.equal(answer.body.code, code);
};

test('simple needs nobody, and neither does any workflow while approvals are off', async () => {
  for (const client of [
    { authorisation_workflow: 'simple' },
    { authorisation_workflow: '10-eyes', payment_approvals_enabled: false },
  ]) {
    const world = await approvalsWorld(service, ['ann'], client);
    const payment = await world.payment(await world.create());
    assert.equal(payment.status, VALIDATING);
    assert.deepEqual(payment.approvals_workflow, {
      authorisations: [],
      contact_authorisation_actions: { allowed: ['cancel'], executed: null },
      n_eyes_plus_status: 'Approved',
      minimum_remaining_authorisations: 0,
    });
    assert.equal(payment.authorised_by, null);
  }
});

for (const [workflow, needed] of [
  ['4-eyes', 1],
  ['6-eyes', 2],
  ['8-eyes', 3],
  ['10-eyes', 4],
] as const) {
  test(`${workflow}: ${needed} distinct people besides the creator, by the client API`, async () => {
    const names = ['ann', 'bob', 'cat', 'dan', 'eve'];
    const world = await approvalsWorld(service, names, {
      authorisation_workflow: workflow,
      payment_creator_approval_enabled: true,
    });
    const id = await world.create();
    refused(await world.patch(world.owner, id, 'authorise'), 409, 'approval_not_allowed');
    for (let given = 0; given < needed; given += 1) {
      const who = world.person(names[given] as string);
      const before = await world.payment(id, who);
      assert.equal(before.status, PENDING);
      assert.equal(before.approvals_workflow.minimum_remaining_authorisations, needed - given);
      assert.deepEqual(before.approvals_workflow.contact_authorisation_actions, {
        allowed: ['authorise', 'reject', 'cancel'],
        executed: null,
      });
      assert.deepEqual(await world.pendingOf(who), [id]);
      const done = await world.patch(who, id, 'authorise');
      assert.equal(done.status, 204);
      assert.equal(done.text, '');
      assert.deepEqual(await world.pendingOf(who), []);
      assert.deepEqual((await actions(world, id, who)).executed, 'authorise');
      refused(await world.patch(who, id, 'authorise'), 409, 'approval_not_allowed');
      refused(await world.patch(who, id, 'reject'), 409, 'approval_not_allowed');
    }
    const payment = await world.payment(id);
    const last = world.person(names[needed - 1] as string);
    assert.equal(payment.status, VALIDATING);
    assert.equal(payment.authorised_by, last.id);
    assert.match(payment.authorised_date, /[+]0\d:00$/);
    assert.equal(payment.approvals_workflow.n_eyes_plus_status, 'Approved');
    assert.equal(payment.approvals_workflow.minimum_remaining_authorisations, 0);
    assert.deepEqual(
      payment.approvals_workflow.authorisations.map((each: Shown) => [
        each.contact_id,
        each.contact_name,
        each.status,
        each.level,
      ]),
      names.slice(0, needed).map((name) => [world.person(name).id, name, 1, 1]),
    );
    assert.deepEqual(await world.notified(id), ['CREATED', 'PENDING_OF_AUTHORIZATION', 'AUTHORIZED']);
    const { rows } = await service.query(
      "select actor from audit where entity = 'payment' and entity_id = $1 and action = 'action' order by id",
      [id],
    );
    assert.deepEqual(
      rows.map((row) => row.actor),
      names.slice(0, needed).map((name) => `contact:${world.person(name).id}`),
    );
  });
}

test('any approver rejects; the list, the dates and the notification say so', async () => {
  const world = await approvalsWorld(service, ['ann', 'bob', 'cat'], { authorisation_workflow: '6-eyes' });
  const [ann, bob, cat] = [world.person('ann'), world.person('bob'), world.person('cat')];
  const id = await world.create();
  await world.patch(ann, id, 'authorise');
  assert.equal((await world.patch(bob, id, 'reject')).status, 204);
  const payment = await world.payment(id, bob);
  assert.equal(payment.status, 'Payment rejected');
  assert.equal(payment.rejected_by, bob.id);
  assert.match(payment.rejected_date, /[+]0\d:00$/);
  assert.deepEqual(
    payment.approvals_workflow.authorisations.map((each: Shown) => [each.contact_id, each.status]),
    [
      [ann.id, 1],
      [bob.id, 2],
    ],
  );
  assert.equal(payment.approvals_workflow.n_eyes_plus_status, 'Rejected');
  assert.equal(payment.approvals_workflow.minimum_remaining_authorisations, 0);
  assert.deepEqual(payment.approvals_workflow.contact_authorisation_actions, { allowed: [], executed: 'reject' });
  assert.deepEqual(await world.notified(id), ['CREATED', 'PENDING_OF_AUTHORIZATION', 'REJECTED']);
  for (const who of [ann, bob, cat]) assert.deepEqual(await world.pendingOf(who), []);
  refused(await world.patch(cat, id, 'authorise'), 409, 'approval_not_allowed');
  refused(await world.ask(cat, 'DELETE', `/payments/${id}`), 409, 'transition_not_allowed');
});

test('who may not: without the permission 403, in the wrong state 409, unknown 404, a bad action 400', async () => {
  const world = await approvalsWorld(service, ['ann'], { authorisation_workflow: '4-eyes' });
  const clerk = await world.hire('clerk', ['can_manage_payments']);
  const reader = await world.hire('reader', []);
  const ann = world.person('ann');
  const id = await world.create();
  refused(await world.patch(clerk, id, 'authorise'), 403, 'permission_denied');
  refused(await world.patch(reader, id, 'reject'), 403, 'permission_denied');
  refused(await world.patch(reader, 'PAY-none', 'nonsense'), 403, 'permission_denied');
  refused(await act(id, 'authorise', clerk.id), 403, 'permission_denied');
  for (const action of ['', 'cancel', 'AUTHORISE', 'authorise&action=reject']) {
    const bad = await world.patch(ann, id, action);
    refused(bad, 400, 'invalid_parameter');
    assert.match(bad.body.details, /^query\.action: /);
  }
  refused(await world.ask(ann, 'PATCH', `/payments/${id}`), 400, 'missing_parameter');
  refused(await world.patch(ann, 'PAY-none', 'authorise'), 404, 'payment_not_found');
  refused(await world.patch(ann, 'PAY%00', 'authorise'), 404, 'payment_not_found');
  refused(await world.ask(ann, 'DELETE', '/payments/PAY-none'), 404, 'payment_not_found');
  const other = await approvalsWorld(service, ['eve'], { authorisation_workflow: '4-eyes' });
  refused(await other.patch(other.person('eve'), id, 'authorise'), 404, 'payment_not_found');
  refused(await other.ask(other.person('eve'), 'GET', `/payments/${id}/approvals`), 404, 'payment_not_found');
  assert.equal((await world.patch(ann, id, 'authorise')).status, 204);
  refused(await world.patch(ann, id, 'authorise'), 409, 'approval_not_allowed');
  refused(await act(id, 'authorise', ann.id), 409, 'transition_not_allowed');
});

test('cancel: the creator or who may manage payments, until it is sent', async () => {
  const world = await approvalsWorld(service, ['ann'], { authorisation_workflow: '4-eyes' });
  const approver = await world.hire('approver', ['can_authorise_payments']);
  const ann = world.person('ann');
  await grant(world, world.owner, []);
  const id = await world.create();
  refused(await world.ask(approver, 'DELETE', `/payments/${id}`), 403, 'permission_denied');
  assert.deepEqual((await actions(world, id, approver)).allowed, ['authorise', 'reject']);
  assert.deepEqual(await actions(world, id, world.owner), { allowed: ['cancel'], executed: null });
  const gone = await world.ask(world.owner, 'DELETE', `/payments/${id}`);
  assert.equal(gone.status, 204);
  assert.equal(gone.text, '');
  const payment = await world.payment(id);
  assert.equal(payment.status, 'Payment cancelled');
  assert.equal(payment.cancelled_by, world.owner.id);
  assert.equal(payment.approvals_workflow.n_eyes_plus_status, 'Cancelled');
  assert.equal(payment.approvals_workflow.minimum_remaining_authorisations, 0);
  assert.deepEqual(payment.approvals_workflow.contact_authorisation_actions, { allowed: [], executed: 'cancel' });
  assert.deepEqual(await world.pendingOf(ann), []);
  assert.deepEqual(await world.notified(id), ['CREATED', 'PENDING_OF_AUTHORIZATION', 'CANCELLED']);
  refused(await world.ask(world.owner, 'DELETE', `/payments/${id}`), 409, 'transition_not_allowed');
  refused(await world.patch(ann, id, 'authorise'), 409, 'approval_not_allowed');

  const second = await world.create();
  await world.patch(ann, second, 'authorise');
  await act(second, 'validate');
  assert.deepEqual((await actions(world, second, ann)).allowed, ['cancel']);
  await act(second, 'send');
  assert.deepEqual((await actions(world, second, ann)).allowed, []);
  refused(await world.ask(ann, 'DELETE', `/payments/${second}`), 409, 'transition_not_allowed');
  const third = await world.create();
  await world.patch(ann, third, 'authorise');
  assert.equal((await world.ask(ann, 'DELETE', `/payments/${third}`)).status, 204);
  assert.equal((await world.payment(third)).approvals_workflow.n_eyes_plus_status, 'Cancelled');
});

test('a ruleset takes the place of the eyes; the threshold and the rate decide, and are frozen with the version', async () => {
  const world = await approvalsWorld(service, ['ann', 'bob', 'cat'], { authorisation_workflow: '10-eyes' });
  const [ann, bob, cat] = [world.person('ann'), world.person('bob'), world.person('cat')];
  await service.operator('PUT', '/exchange-rates', { base_currency: 'EUR', rates: { USD: 1.25 } });
  const made = await world.configure({ staff: ['ann', 'bob'], boss: ['cat'] }, [
    [100, [['staff']]],
    [1000, [['staff']], [['boss']]],
  ]);
  assert.equal(made.status, 200, made.text);
  const below = await world.payment(await world.create('99.99'));
  assert.equal(below.status, VALIDATING);
  const one = await world.payment(await world.create(100));
  assert.equal(one.approvals_workflow.minimum_remaining_authorisations, 1);
  const id = await world.create('1250', { payment_currency: 'USD' });
  assert.equal((await world.payment(id)).approvals_workflow.minimum_remaining_authorisations, 2);
  const just = await world.payment(await world.create('1249.99', { payment_currency: 'USD' }));
  assert.equal(just.approvals_workflow.minimum_remaining_authorisations, 1);
  const missing = await world.pay({ amount: 5, payment_currency: 'SEK' });
  refused(missing, 409, 'exchange_rate_missing');

  // A new rate and a new configuration govern new payments only.
  await service.operator('PUT', '/exchange-rates', { base_currency: 'EUR', rates: { USD: 2 } });
  await world.configure({ all: ['ann', 'bob', 'cat'] }, [[0, [['all', 'all', 'all']]]]);
  const explained = await world.ask(ann, 'GET', `/payments/${id}/approvals`);
  assert.equal(explained.status, 200, explained.text);
  assert.deepEqual(explained.body.rule, {
    version: 1,
    index: 1,
    minimum_threshold: 1000,
    currency: 'EUR',
    payment_amount: 1250,
    payment_currency: 'USD',
    rate: 0.8,
    converted_amount: 1000,
  });
  assert.equal(explained.body.governed_by, 'ruleset');
  assert.deepEqual(explained.body.levels, [
    {
      level: 1,
      met: false,
      one_of: [{ all_of: ['staff'] }],
      alternative: 0,
      places: [{ group: 'staff', contact_id: null, contact_name: null }],
    },
    {
      level: 2,
      met: false,
      one_of: [{ all_of: ['boss'] }],
      alternative: 0,
      places: [{ group: 'boss', contact_id: null, contact_name: null }],
    },
  ]);
  assert.deepEqual(
    explained.body.next.map((each: { contact_id: string }) => each.contact_id),
    [ann.id, bob.id, cat.id],
  );
  assert.equal((await world.patch(cat, id, 'authorise')).status, 204);
  const half = (await world.ask(ann, 'GET', `/payments/${id}/approvals`)).body;
  assert.equal(half.minimum_remaining_authorisations, 1);
  assert.deepEqual(
    half.levels.map((level: { met: boolean }) => level.met),
    [false, true],
  );
  assert.deepEqual(half.levels[1].places, [{ group: 'boss', contact_id: cat.id, contact_name: 'cat' }]);
  assert.deepEqual(
    half.next.map((each: { contact_id: string; actions: string[] }) => [each.contact_id, each.actions]),
    [
      [ann.id, ['authorise', 'reject']],
      [bob.id, ['authorise', 'reject']],
    ],
  );
  assert.equal((await world.patch(ann, id, 'authorise')).status, 204);
  const done = await world.payment(id);
  assert.equal(done.status, VALIDATING);
  assert.deepEqual(
    done.approvals_workflow.authorisations.map((each: Shown) => [each.contact_id, each.level]),
    [
      [cat.id, 2],
      [ann.id, 1],
    ],
  );
  const last = (await world.ask(ann, 'GET', `/payments/${id}/approvals`)).body;
  assert.deepEqual([last.n_eyes_plus_status, last.next], ['Approved', []]);
});

test('an empty list of rules asks for nobody, whatever the eyes', async () => {
  const world = await approvalsWorld(service, ['ann'], { authorisation_workflow: '4-eyes' });
  assert.equal((await world.configure({}, [])).status, 200);
  const id = await world.create();
  const payment = await world.payment(id);
  assert.equal(payment.status, VALIDATING);
  const explained = await world.ask(world.owner, 'GET', `/payments/${id}/approvals`);
  assert.equal(explained.body.governed_by, 'none');
  assert.equal(explained.body.n_eyes_plus_status, 'Approved');
});

test('levels, alternatives and distinct people: only an approval that brings it further is allowed', async () => {
  const world = await approvalsWorld(service, ['ann', 'bob', 'cat', 'dan']);
  const person = world.person;
  // Level 1: one of staff. Level 2: the boss, or two of staff besides.
  await world.configure({ staff: ['ann', 'bob', 'cat'], boss: ['ann'] }, [
    [0, [['staff']], [['boss'], ['staff', 'staff']]],
  ]);
  const id = await world.create();
  assert.deepEqual((await actions(world, id, person('dan'))).allowed, ['cancel']);
  refused(await world.patch(person('dan'), id, 'authorise'), 409, 'approval_not_allowed');
  refused(await world.patch(person('dan'), id, 'reject'), 409, 'approval_not_allowed');
  assert.equal((await world.patch(person('bob'), id, 'authorise')).status, 204);
  // ann as the boss completes it; cat would not bring it further (bob, cat and a third of staff are one more).
  const waiting = await world.payment(id, person('cat'));
  assert.equal(waiting.approvals_workflow.minimum_remaining_authorisations, 1);
  assert.deepEqual(waiting.approvals_workflow.contact_authorisation_actions.allowed, ['reject', 'cancel']);
  refused(await world.patch(person('cat'), id, 'authorise'), 409, 'approval_not_allowed');
  assert.deepEqual(await world.pendingOf(person('cat')), []);
  assert.deepEqual(await world.pendingOf(person('cat'), 'pending_others_approval'), [id]);
  assert.deepEqual(await world.pendingOf(person('ann')), [id]);
  assert.deepEqual(await world.pendingOf(person('ann'), 'pending_others_approval'), []);
  assert.equal((await world.patch(person('ann'), id, 'authorise')).status, 204);
  const levels = (await world.payment(id)).approvals_workflow.authorisations.map((each: Shown) => [
    each.contact_name,
    each.level,
  ]);
  assert.deepEqual(levels, [
    ['bob', 1],
    ['ann', 2],
  ]);
});

test('creation counts where the client lets it, the creator is in a named group and was permitted when it created', async () => {
  const world = await approvalsWorld(service, ['ann', 'bob'], { payment_creator_approval_enabled: true });
  world.people.owner = world.owner;
  await world.configure({ staff: ['owner', 'ann'], boss: ['bob'] }, [
    [0, [['staff']]],
    [100, [['staff']], [['boss']]],
    [1000, [['boss']]],
  ]);
  const alone = await world.create(1);
  const payment = await world.payment(alone);
  assert.equal(payment.status, VALIDATING);
  assert.equal(payment.authorised_by, world.owner.id);
  assert.deepEqual(
    payment.approvals_workflow.authorisations.map((each: Shown) => [each.contact_id, each.status, each.level]),
    [[world.owner.id, 1, 1]],
  );
  assert.deepEqual(await world.notified(alone), ['CREATED', 'AUTHORIZED']);
  const half = await world.payment(await world.create(100));
  assert.equal(half.approvals_workflow.minimum_remaining_authorisations, 1);
  assert.deepEqual(await world.pendingOf(world.person('ann')), []);
  assert.deepEqual(await world.pendingOf(world.person('bob')), [half.payment_id]);
  const unnamed = await world.payment(await world.create(1000));
  assert.deepEqual([unnamed.status, unnamed.approvals_workflow.authorisations], [PENDING, []]);

  await grant(world, world.owner, ['can_manage_payments', 'can_manage_permissions']);
  const unpermitted = await world.create(1);
  assert.equal((await world.payment(unpermitted)).status, PENDING);
  await grant(world, world.owner, ['can_authorise_payments', 'can_manage_payments', 'can_manage_permissions']);
  // The operator's call looks at the database; a client's session may be a second behind.
  refused(await act(unpermitted, 'authorise', world.owner.id), 409, 'approval_not_allowed');
  assert.deepEqual(await world.pendingOf(world.person('ann')), [unpermitted]);

  await service.operator('PATCH', `/clients/${world.clientId}`, { payment_creator_approval_enabled: false });
  assert.equal((await world.payment(await world.create(1))).status, PENDING);
});

test('who may act follows permissions, disabling, leaving and joining; payments under way keep what they require', async () => {
  const world = await approvalsWorld(service, ['ann', 'bob', 'cat'], { authorisation_workflow: '6-eyes' });
  const [ann, bob] = [world.person('ann'), world.person('bob')];
  const ids = [await world.create(), await world.create(), await world.create()];
  await world.patch(ann, ids[0] as string, 'authorise');
  const [first, ...others] = ids;
  assert.deepEqual(await world.pendingOf(ann), others);
  assert.deepEqual(await world.pendingOf(bob), ids);

  await grant(world, bob, ['can_manage_payments']);
  assert.deepEqual(await world.pendingOf(bob), []);
  assert.deepEqual(await world.pendingOf(bob, 'pending_others_approval'), ids);
  assert.deepEqual((await actions(world, first as string, bob)).allowed, ['cancel']);
  refused(await world.patch(bob, first as string, 'authorise'), 403, 'permission_denied');
  await grant(world, bob, ['can_authorise_payments']);
  assert.deepEqual(await world.pendingOf(bob), ids);

  const listed = async (who: Person) =>
    Number(
      (await service.query('select count(*) from payment_approvers where contact_id = $1', [who.id])).rows[0].count,
    );
  await grant(world, bob, null, { status: 'disabled' });
  assert.equal(await listed(bob), 0);
  refused(await act(first as string, 'authorise', bob.id), 403, 'permission_denied');
  await grant(world, bob, null, { status: 'enabled' });
  assert.equal(await listed(bob), 3);
  await service.operator('PATCH', `/contacts/${bob.id}`, { clients: [] });
  assert.equal(await listed(bob), 0);
  const dan = await world.hire('dan');
  assert.deepEqual(await world.pendingOf(dan), ids);

  // An approval stays counted when its giver loses the permission.
  await grant(world, ann, []);
  assert.equal((await world.patch(dan, first as string, 'authorise')).status, 204);
  assert.equal((await world.payment(first as string)).status, VALIDATING);
  // Settings and a new ruleset change nothing for payments under way.
  await service.operator('PATCH', `/clients/${world.clientId}`, {
    payment_approvals_enabled: false,
    authorisation_workflow: '4-eyes',
  });
  await world.configure({ boss: ['cat'] }, [[0, [['boss']]]]);
  assert.deepEqual(await world.pendingOf(dan), others);
  const kept = await world.payment(others[0] as string);
  assert.deepEqual([kept.status, kept.approvals_workflow.minimum_remaining_authorisations], [PENDING, 2]);
});

test('when nobody is left who could complete it, the explanation says so', async () => {
  const world = await approvalsWorld(service, ['ann', 'bob']);
  await world.configure({ boss: ['ann'] }, [[0, [['boss']]]]);
  const id = await world.create();
  await grant(world, world.person('ann'), []);
  const explained = (await world.ask(world.owner, 'GET', `/payments/${id}/approvals`)).body;
  assert.deepEqual(
    [explained.can_be_completed, explained.next, explained.minimum_remaining_authorisations],
    [false, [], 1],
  );
  assert.equal((await world.payment(id)).status, PENDING);
});
