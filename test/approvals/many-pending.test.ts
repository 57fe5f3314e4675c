import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ApproverRefresher } from '../../src/approvals/refresher.ts';
import { type ApprovalsWorld, approvalsWorld, copyPayment, type Person } from '../world/approvals.ts';
import { connectTo, poolOfClient } from '../world/cells.ts';
import { log } from '../world/database.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/**
 * A change of permissions at a client with very many pending payments: the permission works at once, and the worker brings the
 * approvers of the payments up to date later. The worker runs only where a test starts it.
 */
const MANY = Number(process.env.LOMBARD_TEST_PENDING ?? 4_000);
const OTHER_RIGHTS = ['can_manage_payments'];

let service: TestService;
before(async () => {
  service = await startTestService({ LOMBARD_ROLES: 'api,auth,operator' });
});
after(() => service.stop());

/** A client of two eyes more with many copies of a payment that waits for them. */
async function crowded(): Promise<{ world: ApprovalsWorld; ann: Person; bob: Person; one: string }> {
  const world = await approvalsWorld(service, ['ann', 'bob', 'cat'], { authorisation_workflow: '6-eyes' });
  const one = await world.create();
  await copyPayment(service, one, MANY - 1);
  return { world, ann: world.person('ann'), bob: world.person('bob'), one };
}

async function permit(world: ApprovalsWorld, who: Person, permissions: string[]): Promise<void> {
  const clients = [{ client_id: world.clientId, permissions }];
  const answer = await service.operator('PATCH', `/contacts/${who.id}`, { clients });
  assert.equal(answer.status, 200, answer.text);
}

/** The total of a search, and its first payments. */
async function found(world: ApprovalsWorld, who: Person, status: string): Promise<[total: number, shown: number]> {
  const answer = await world.ask(who, 'GET', '/payments', undefined, `&status=${status}&page_size=50`);
  assert.equal(answer.status, 200, answer.text);
  return [Number(answer.headers.get('x-total-count')), answer.body.length];
}

const count = async (text: string, values: unknown[]): Promise<number> =>
  Number((await service.query(`select count(*) as n from ${text}`, values)).rows[0].n);
const listed = (who: Person) => count('payment_approvers where contact_id = $1', [who.id]);
const waiting = (world: ApprovalsWorld) => count('approver_refreshes where client_id = $1', [world.clientId]);

/** Runs `work` beside the worker, and then the worker until it has done everything. */
async function withWorker(world: ApprovalsWorld, work: () => Promise<void> = async () => {}): Promise<void> {
  const { backgroundPool: pool, clock } = service.service.context;
  const backgroundPool = await poolOfClient(pool, world.clientId);
  const refresher = new ApproverRefresher({ backgroundPool, clock, log });
  refresher.start();
  try {
    await work();
    await until(async () => (await waiting(world)) === 0, { seconds: 120 });
  } finally {
    await refresher.stop();
  }
}

/** Of eyes: everybody who is permitted may act on each pending payment that it neither created nor has acted on, and nobody else. */
async function assertTrue(world: ApprovalsWorld): Promise<void> {
  const { rows } = await service.query(
    `with wanted as (
       select a.payment_id, cc.contact_id from payment_approvals a join payments p on p.id = a.payment_id
       join contact_clients cc on cc.client_id = a.client_id and cc.can_authorise_payments and cc.contact_id <> p.contact_id
       where a.client_id = $1 and a.status = 'Pending approval' and a.authorisations::text not like '%"' || cc.contact_id || '"%'),
     kept as (select payment_id, contact_id from payment_approvers where client_id = $1 and may_authorise and may_reject)
     (select 'missing' as fault, * from wanted except select 'missing', * from kept)
     union all (select 'too many', * from kept except select 'too many', * from wanted)
     union all select 'wrong', payment_id, contact_id from payment_approvers where client_id = $1 and not (may_authorise and may_reject)`,
    [world.clientId],
  );
  assert.deepEqual(rows, []);
}

test('a contact that loses the permission sees and does nothing more, before anything is cleared', async () => {
  const { world, ann, bob, one } = await crowded();
  assert.deepEqual(await found(world, ann, 'pending_your_approval'), [MANY, 50]);
  await permit(world, ann, OTHER_RIGHTS);
  assert.equal(await listed(ann), MANY, 'nothing is cleared yet');
  assert.equal(await count("audit where entity_id = $1 and action = 'update'", [ann.id]), 1);

  assert.deepEqual(await found(world, ann, 'pending_your_approval'), [0, 0]);
  assert.deepEqual(await found(world, ann, 'pending_others_approval'), [MANY, 50]);
  const named = await world.ask(ann, 'GET', '/payments', undefined, `&status=pending_your_approval&payment_ids=${one}`);
  assert.deepEqual(named.body, []);
  const shown = (await world.payment(one, ann)).approvals_workflow.contact_authorisation_actions;
  assert.deepEqual(shown.allowed, ['cancel']);
  const next = (await world.ask(bob, 'GET', `/payments/${one}/approvals`)).body.next;
  assert.ok(!next.some((each: { contact_id: string }) => each.contact_id === ann.id));
  assert.equal((await world.patch(ann, one, 'authorise')).status, 403);
  assert.deepEqual(await found(world, bob, 'pending_your_approval'), [MANY, 50]);

  await withWorker(world);
  assert.equal(await listed(ann), 0);
  await assertTrue(world);
  assert.deepEqual(await found(world, bob, 'pending_your_approval'), [MANY, 50]);

  await permit(world, ann, ['can_authorise_payments']);
  // The operator's call looks at the database; a client's session may be a second behind.
  const approved = await service.operator('POST', `/payments/${one}/actions`, {
    action: 'authorise',
    contact_id: ann.id,
  });
  assert.ok(approved.status < 300, `it may approve before its list is full: ${approved.text}`);
  await withWorker(world);
  await assertTrue(world);
  assert.deepEqual(await found(world, ann, 'pending_your_approval'), [MANY - 1, 50]);
});

test('payments that are created and acted on meanwhile, one that is held, and a further change: all is true at the end', async () => {
  const { world, ann, bob, one } = await crowded();
  const holder = await connectTo(service, world.clientId);
  const hold = `select from payment_approvals where client_id = $1 and payment_id = any(array(
    select id from payments where client_id = $1 and payment_id in ($2 || '-7', $2 || '-3999')))  for update`;
  try {
    await holder.query('begin');
    await holder.query(hold, [world.clientId, one]);
    await permit(world, ann, OTHER_RIGHTS);
    await withWorker(world, async () => {
      for (const index of [10, 1_500, 3_900]) {
        assert.equal((await world.patch(bob, `${one}-${index}`, 'authorise')).status, 204);
        assert.equal((await world.ask(world.owner, 'DELETE', `/payments/${one}-${index + 1}`)).status, 204);
        await world.create();
      }
      await until(async () => (await listed(ann)) === 2, { seconds: 60 });
      assert.equal(await waiting(world), 1, 'it waits for the two that are held');
      await holder.query('commit');
    });
    assert.equal(await listed(ann), 0);
    await assertTrue(world);

    await permit(world, ann, ['can_authorise_payments']);
    await withWorker(world, async () => {
      await until(async () => (await listed(ann)) > 0);
      await permit(world, bob, []);
      await permit(world, ann, []);
    });
    assert.deepEqual([await listed(ann), await listed(bob)], [0, 0]);
    await assertTrue(world);
  } finally {
    await holder.end();
  }
});

test('meanwhile the client creates, approves and searches as ever', async (t) => {
  const { world, ann, bob, one } = await crowded();
  const slowest: Record<string, number> = {};
  const timed = async (what: string, work: () => Promise<{ status: number; text: string }>, status: number) => {
    const began = performance.now();
    const answer = await work();
    slowest[what] = Math.max(slowest[what] ?? 0, Math.round(performance.now() - began));
    assert.equal(answer.status, status, `${what}: ${answer.text}`);
  };
  const search = (who: Person, status: string) => () =>
    world.ask(who, 'GET', '/payments', undefined, `&status=${status}&page_size=50`);
  for (const permissions of [OTHER_RIGHTS, ['can_authorise_payments']]) {
    const clients = [{ client_id: world.clientId, permissions }];
    await timed('the change', () => service.operator('PATCH', `/contacts/${ann.id}`, { clients }), 200);
    const began = performance.now();
    let next = permissions === OTHER_RIGHTS ? 1 : MANY / 2;
    await withWorker(world, async () => {
      for (let rounds = 0; rounds < 5 || (await waiting(world)) > 0; rounds += 1) {
        next += 1;
        await Promise.all([
          timed('a creation', () => world.pay(), 201),
          timed('an approval', () => world.patch(bob, `${one}-${next}`, 'authorise'), 204),
          timed('a search', search(bob, 'pending_your_approval'), 200),
          timed('a search', search(ann, 'pending_others_approval'), 200),
        ]);
      }
    });
    t.diagnostic(
      `${MANY} payments took ${Math.round(performance.now() - began)} ms; slowest ms: ${JSON.stringify(slowest)}`,
    );
  }
  await assertTrue(world);
});

test('a change that concerns nobody who approves leaves the payments alone', async () => {
  const { world, ann } = await crowded();
  assert.equal((await service.operator('PATCH', `/contacts/${ann.id}`, { name: 'Ann Other' })).status, 200);
  await permit(world, ann, ['can_authorise_payments']);
  assert.equal(
    (await service.operator('PATCH', `/clients/${world.clientId}`, { payment_creator_approval_enabled: true })).status,
    200,
  );
  assert.equal(await waiting(world), 0);
});

test('when others become necessary, the payments change for them and in the feed', async () => {
  const world = await approvalsWorld(service, ['ann', 'bob', 'cat']);
  await world.configure({ boss: ['ann'], staff: ['bob', 'cat'] }, [[0, [['boss'], ['staff', 'staff']]]]);
  const one = await world.create();
  await copyPayment(service, one, MANY - 1);
  const bob = world.person('bob');
  assert.deepEqual(await found(world, bob, 'pending_your_approval'), [0, 0]);
  await permit(world, world.person('ann'), OTHER_RIGHTS);
  assert.equal((await world.ask(bob, 'GET', `/payments/${one}/approvals`)).body.minimum_remaining_authorisations, 2);
  await withWorker(world);
  assert.deepEqual(await found(world, bob, 'pending_your_approval'), [MANY, 50]);
  assert.equal((await world.payment(one)).approvals_workflow.minimum_remaining_authorisations, 2);
  const told = "change_versions where entity = 'payment' and entity_id like $1 || '%' and version = 2";
  assert.equal(await count(told, [one]), MANY);
});
