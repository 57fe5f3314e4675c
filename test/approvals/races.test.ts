import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { approvalState, rulesForAmount } from '../../src/approvals/rules/rules.ts';
import { validateConfiguration } from '../../src/approvals/rules/ruleset-reader.ts';
import { type ApprovalsWorld, approvalsWorld, configuration, type Person } from '../world/approvals.ts';
import { connectTo, sessionsWaiting } from '../world/cells.ts';
import { type Answer, startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

const VALIDATING = 'Validating beneficiary information';
const names = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`);
const counted = (answers: Answer[]) => {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const key = body?.code ? `${status} ${body.code}` : String(status);
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
};

for (const [workflow, needed] of [
  ['4-eyes', 1],
  ['10-eyes', 4],
] as const) {
  test(`twenty approvers at the same instant, ${workflow}: exactly ${needed} count, one transition, one AUTHORIZED`, async () => {
    const world = await approvalsWorld(service, names(20), { authorisation_workflow: workflow });
    for (let round = 0; round < 3; round += 1) {
      const id = await world.create();
      const answers = await Promise.all(names(20).map((name) => world.patch(world.person(name), id, 'authorise')));
      assert.deepEqual(counted(answers), { 204: needed, '409 approval_not_allowed': 20 - needed });
      const payment = await world.payment(id);
      assert.equal(payment.status, VALIDATING);
      const given = payment.approvals_workflow.authorisations.map((each: { contact_id: string }) => each.contact_id);
      assert.equal(new Set(given).size, needed);
      const winners = names(20).filter((_, index) => answers[index]?.status === 204);
      assert.deepEqual(given.toSorted(), winners.map((name) => world.person(name).id).toSorted());
      assert.deepEqual(await world.notified(id), ['CREATED', 'PENDING_OF_AUTHORIZATION', 'AUTHORIZED']);
    }
  });
}

test('twenty approvers at the same instant, a ruleset of two levels: distinct people, each for a level of its own', async () => {
  const world = await approvalsWorld(service, names(20));
  await world.configure({ staff: names(20), boss: ['p0', 'p1'] }, [[0, [['staff', 'staff']], [['boss']]]]);
  const id = await world.create();
  const answers = await Promise.all(names(20).map((name) => world.patch(world.person(name), id, 'authorise')));
  const won = answers.filter((answer) => answer.status === 204).length;
  assert.equal(won, 3);
  const payment = await world.payment(id);
  assert.equal(payment.status, VALIDATING);
  const levels = payment.approvals_workflow.authorisations.map((each: { level: number }) => each.level).toSorted();
  assert.deepEqual(levels, [1, 1, 2]);
  assert.equal((await world.notified(id)).filter((status) => status === 'AUTHORIZED').length, 1);
});

test('one contact that approves twenty times at the same instant counts once', async () => {
  const world = await approvalsWorld(service, ['ann', 'bob'], { authorisation_workflow: '6-eyes' });
  const id = await world.create();
  const answers = await Promise.all(names(20).map(() => world.patch(world.person('ann'), id, 'authorise')));
  assert.deepEqual(counted(answers), { 204: 1, '409 approval_not_allowed': 19 });
  assert.equal((await world.payment(id)).approvals_workflow.minimum_remaining_authorisations, 1);
});

test('approve and reject at the same instant: one wins', async () => {
  const world = await approvalsWorld(service, ['ann', 'bob'], { authorisation_workflow: '4-eyes' });
  for (let round = 0; round < 10; round += 1) {
    const id = await world.create();
    const [approve, reject] = await Promise.all([
      world.patch(world.person('ann'), id, 'authorise'),
      world.patch(world.person('bob'), id, 'reject'),
    ]);
    assert.deepEqual(counted([approve, reject]), { 204: 1, '409 approval_not_allowed': 1 });
    const status = (await world.payment(id)).status;
    assert.equal(status, approve.status === 204 ? VALIDATING : 'Payment rejected');
  }
});

test('an approval and a cancellation that wait for the same payment: the first wins, the other gets 409', async () => {
  const world = await approvalsWorld(service, ['ann'], { authorisation_workflow: '4-eyes' });
  const approve = (id: string) => world.patch(world.person('ann'), id, 'authorise');
  const cancel = (id: string) => world.ask(world.owner, 'DELETE', `/payments/${id}`);
  for (const order of [
    [approve, cancel],
    [cancel, approve],
  ]) {
    const id = await world.create();
    // The row is held until both wait for it: that is the same instant, whatever the machine is doing.
    const answers = await whileHeld(id, async () => {
      const given: Promise<Answer>[] = [];
      for (const [index, act] of order.entries()) {
        given.push(act(id));
        await waiting(index + 1);
      }
      return given;
    });
    const [first, second] = await Promise.all(answers);
    assert.equal(first?.status, 204);
    assert.equal(second?.status, 409);
    assert.equal(second?.body.code, order[1] === cancel ? 'transition_not_allowed' : 'approval_not_allowed');
    const payment = await world.payment(id);
    assert.equal(payment.status, order[0] === approve ? VALIDATING : 'Payment cancelled');
    assert.equal((await world.notified(id)).length, 3);
  }
});

test('an approval and a cancellation fired together never both fail, and what stands is what was answered', async () => {
  const world = await approvalsWorld(service, ['ann'], { authorisation_workflow: '4-eyes' });
  for (let round = 0; round < 10; round += 1) {
    const id = await world.create();
    const [approve, cancel] = await Promise.all([
      world.patch(world.person('ann'), id, 'authorise'),
      world.ask(world.owner, 'DELETE', `/payments/${id}`),
    ]);
    assert.ok(approve.status === 204 || cancel.status === 204);
    assert.equal((await world.payment(id)).status, cancel.status === 204 ? 'Payment cancelled' : VALIDATING);
  }
});

/** Holds a payment's row while `work` starts requests, and gives what it gave. */
async function whileHeld<T>(id: string, work: () => Promise<T>): Promise<T> {
  const { rows } = await service.query('select client_id from payments where payment_id = $1', [id]);
  const holder = await connectTo(service, rows[0].client_id);
  try {
    await holder.query('begin');
    await holder.query('select from payments where payment_id = $1 for update', [id]);
    const result = await work();
    await holder.query('commit');
    return result;
  } finally {
    await holder.end();
  }
}

/** Until so many sessions of this database wait for a lock. */
async function waiting(count: number): Promise<void> {
  await until(async () => (await sessionsWaiting(service)) >= count, { what: `${count} requests wait` });
}

/** Compares what is kept beside every pending payment with the rules, computed anew from what is permitted now. */
async function verify(world: ApprovalsWorld, config: ReturnType<typeof configuration>): Promise<number> {
  const { rows: pending } = await service.query(
    `select p.payment_id, p.amount, p.contact_id as creator, a.authorisations, a.remaining,
       a.requirement->>'creation_counts' as counts,
       (select coalesce(json_object_agg(v.contact_id, array[v.may_authorise, v.may_reject]), '{}') from payment_approvers v where v.payment_id = p.id) as approvers
     from payments p join payment_approvals a on a.payment_id = p.id where p.client_id = $1 and a.status = 'Pending approval'`,
    [world.clientId],
  );
  const permitted = new Set(
    (
      await service.query(
        `select contact_id from contact_clients join contacts using (contact_id) where client_id = $1 and can_authorise_payments and status = 'enabled'`,
        [world.clientId],
      )
    ).rows.map((row) => row.contact_id as string),
  );
  const parsed = validateConfiguration(config);
  for (const row of pending) {
    const state = approvalState(rulesForAmount(parsed, row.amount), {
      approvals: row.authorisations
        .filter((each: { contact_id: string }) => each.contact_id !== row.creator)
        .map((each: { contact_id: string }) => each.contact_id),
      creator: row.creator,
      creatorApprovalEnabled: row.counts === 'true',
      permitted,
    });
    const wanted = Object.fromEntries(state.mayReject.map((id) => [id, [state.mayAuthorise.includes(id), true]]));
    assert.deepEqual(row.approvers, wanted, row.payment_id);
    assert.equal(row.remaining, state.remaining, row.payment_id);
  }
  const orphans = await service.query(
    `select count(*)::int as n from payment_approvers v where v.client_id = $1 and not exists (
       select from payments p where p.id = v.payment_id and p.status = 'Payment pending of authorization')`,
    [world.clientId],
  );
  assert.equal(orphans.rows[0].n, 0);
  return pending.length;
}

test('payments created, approved and cancelled while permissions change: at the end everything that is kept is true', async (t) => {
  const people = names(8);
  const world = await approvalsWorld(service, people, { payment_creator_approval_enabled: true });
  world.people.owner = world.owner;
  const groups = { staff: ['p0', 'p1', 'p2', 'p3', 'owner'], boss: ['p3', 'p4'], board: ['p5', 'p6', 'p7'] };
  const rules: [number, ...string[][][]][] = [
    [0, [['staff', 'staff']]],
    [100, [['staff']], [['boss'], ['board', 'board']]],
    [
      1000,
      [
        ['boss', 'board'],
        ['staff', 'staff', 'staff'],
      ],
      [['board']],
    ],
  ];
  // As the service reads it.
  const config = JSON.parse(JSON.stringify(configuration(groups, rules, 'EUR', (name) => world.person(name).id)));
  assert.equal((await world.configure(groups, rules)).status, 200);
  let seed = Number(process.env.LOMBARD_TEST_SEED ?? Date.now() % 2 ** 31);
  t.diagnostic(`seed ${seed}`);
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((seed / 0x80000000) * below);
  };
  const someone = (): Person => world.person(people[random(people.length)] as string);
  const ids: string[] = [];
  const some = () => ids[random(ids.length)] as string;
  const unexpected: string[] = [];
  const note = (allowed: number[]) => (answer: Answer) => {
    if (!allowed.includes(answer.status)) unexpected.push(`${answer.status} ${answer.text}`);
  };
  for (let n = 0; n < 10; n += 1) ids.push(await world.create([10, 150, 2000][random(3)]));
  const all = ['can_authorise_payments', 'can_manage_payments', 'can_manage_permissions'];
  const actions: (() => Promise<void>)[] = [
    async () => void ids.push(await world.create([10, 150, 2000][random(3)])),
    async () => void ids.push(await world.create([10, 150, 2000][random(3)], { contact_id: someone().id })),
    () => world.patch(someone(), some(), 'authorise').then(note([204, 403, 409, 401, 404])),
    () => world.patch(someone(), some(), 'authorise').then(note([204, 403, 409, 401, 404])),
    () => world.patch(someone(), some(), 'authorise').then(note([204, 403, 409, 401, 404])),
    async () => {
      if (random(4) === 0) note([204, 403, 409])(await world.ask(world.owner, 'DELETE', `/payments/${some()}`));
    },
    () =>
      service
        .operator('PATCH', `/contacts/${someone().id}`, {
          clients: [{ client_id: world.clientId, permissions: random(2) ? all : [] }],
        })
        .then(note([200])),
    () =>
      service
        .operator('PATCH', `/contacts/${someone().id}`, { status: random(3) ? 'enabled' : 'disabled' })
        .then(note([200])),
    () =>
      service
        .operator('PATCH', `/clients/${world.clientId}`, { client_name: `Name ${random(1000)}` })
        .then(note([200])),
  ];
  for (let round = 0; round < 12; round += 1) {
    await Promise.all(Array.from({ length: 14 }, () => (actions[random(actions.length)] as () => Promise<void>)()));
    await verify(world, config);
  }
  assert.deepEqual(unexpected, []);
  assert.ok((await verify(world, config)) > 0);
  // What the search shows each contact is what is kept.
  for (const name of people) {
    await service.operator('PATCH', `/contacts/${world.person(name).id}`, {
      status: 'enabled',
      clients: [{ client_id: world.clientId, permissions: all }],
    });
  }
  await verify(world, config);
  for (const name of people) {
    const who = world.person(name);
    const { rows } = await service.query(
      `select p.payment_id from payment_approvers v join payments p on p.id = v.payment_id where v.client_id = $1 and v.contact_id = $2 and may_authorise
       order by v.created, p.id`,
      [world.clientId, who.id],
    );
    const wanted = rows.map((row) => row.payment_id);
    assert.deepEqual(await world.pendingOf(who), wanted);
    const others = await world.pendingOf(who, 'pending_others_approval');
    const both = await world.pendingOf(who, 'pending_to_authorise');
    assert.deepEqual(
      both.filter((id) => !wanted.includes(id)),
      others,
    );
  }
});
