import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type ApprovalsWorld, approvalsWorld } from '../world/approvals.ts';
import { connectTo, ONE_CELL } from '../world/cells.ts';
import { type Change, compareCopy, copyOf } from '../world/feed-copy.ts';
import { type Answer, startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** Payments that are created and moved at the same moment: calls share transactions, and nobody notices but the clock. */

let service: TestService;
/** Each payment of the first ones needs two approvers, and none of the others needs one. */
let worlds: ApprovalsWorld[];
before(async () => {
  service = await startTestService();
  worlds = await Promise.all(
    Array.from({ length: 6 }, async (_, n) => {
      const world = await approvalsWorld(service, ['Ann', 'Bob'], { payment_approvals_enabled: n < 3 });
      if (n < 3) await world.configure({ A: ['Ann'], B: ['Bob'] }, [['0', [['A']], [['B']]]]);
      return world;
    }),
  );
});
after(() => service.stop());

const worldOf = (n: number) => worlds[n % worlds.length] as ApprovalsWorld;

function create(n: number, fields: object = {}, key?: string): Promise<Answer> {
  const headers = key === undefined ? {} : { headers: { 'idempotency-key': key } };
  return service.operator('POST', '/payments', { ...worldOf(n).base, reference: `Invoice ${n}`, ...fields }, headers);
}

const act = (id: string, action: string, fields: object = {}) =>
  service.operator('POST', `/payments/${id}/actions`, { action, ...fields });

const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status);

/** How many transactions have written the rows of some payments. Several cells are read through views, which cannot tell. */
async function transactionsOf(table: 'payments' | 'audit', ids: readonly string[]): Promise<number> {
  const column = table === 'audit' ? 'entity_id' : 'payment_id';
  const { rows } = await service.query(
    `select count(distinct xmin::text)::int as count from ${table} where ${column} = any($1)`,
    [ids],
  );
  return rows[0].count;
}

/** The changes of the feed from its beginning, once it shows as many payments, with their last status. */
async function feed(newest: ReadonlyMap<string, string>): Promise<Change[]> {
  return until(async () => {
    const all: Change[] = [];
    for (let cursor = '', more = true; more; ) {
      const { body } = await service.operator('GET', `/changes?limit=1000${cursor && `&after=${cursor}`}`);
      all.push(...body.changes);
      ({ cursor, more } = body);
    }
    const copy = copyOf(all);
    return [...newest].every(([id, status]) => copy.get(`payment ${id}`)?.data.status === status) && all;
  });
}

test('each creation has its answer, its refusal, its key, its trail, its notifications and its step in the feed', async () => {
  const given = randomUUID();
  assert.equal((await create(0, { payment_id: given })).status, 201);
  const wanted: [fields: object, status: number, code?: string][] = [];
  for (let n = 0; n < 60; n += 1) {
    wanted.push([{}, 201]);
    if (n % 15 === 3) wanted.push([{ trade_id: 'none' }, 404, 'trade_not_found']);
    if (n % 15 === 6) wanted.push([{ amount: 0 }, 400, 'invalid_body']);
    if (n % 15 === 9) wanted.push([{ payment_currency: 'EUR', payment_date: '2026-02-30' }, 400, 'invalid_body']);
    if (n === 40) wanted.push([{ payment_id: given }, 409, 'already_exists']);
  }
  const answers = await Promise.all(wanted.map(([fields], n) => create(n, fields, `created-${n}`)));
  for (const [n, answer] of answers.entries()) {
    assert.equal(answer.status, wanted[n]?.[1], answer.text);
    assert.equal(answer.body.code, wanted[n]?.[2], answer.text);
  }
  const made = answers.flatMap(({ status, body }, n) => (status === 201 ? [{ n, body }] : []));
  for (const { n, body } of made) {
    const { clientId } = worldOf(n);
    assert.equal(body.reference, `Invoice ${n}`);
    assert.equal(body.client_id, clientId);
    assert.deepEqual((await service.operator('GET', `/payments/${body.payment_id}`)).body, body);
    const next = n % worlds.length < 3 ? 'PENDING_OF_AUTHORIZATION' : 'AUTHORIZED';
    assert.deepEqual(await worldOf(n).notified(body.payment_id), ['CREATED', next]);
  }
  const ids = made.map(({ body }) => body.payment_id);
  const { rows } = await service.query(
    `select count(*)::int as rows, count(distinct request_id)::int as requests from audit where entity = 'payment' and entity_id = any($1)`,
    [ids],
  );
  assert.deepEqual(rows, [{ rows: ids.length, requests: ids.length }]);
  if (!ONE_CELL) assert.ok((await transactionsOf('payments', ids)) < ids.length / 2, 'they share transactions');
  const changes = await feed(new Map(made.map(({ body }) => [body.payment_id, body.status])));
  const created = changes.filter(({ entity, entity_id: id }) => entity === 'payment' && ids.includes(id));
  assert.equal(new Set(created.map(({ request_id: id }) => id)).size, ids.length, 'each has a step of its own');
  await compareCopy(service, copyOf(changes));
  // Sent again: the same answers, and the keys of refused calls are free.
  const again = await Promise.all(wanted.map((_, n) => create(n, wanted[n]?.[0], `created-${n}`)));
  for (const { n } of made) {
    assert.equal(again[n]?.text, answers[n]?.text);
    assert.equal(again[n]?.headers.get('idempotency-replayed'), 'true');
  }
  const freed = answers.findIndex(({ status }) => status === 404);
  assert.equal((await create(freed, {}, `created-${freed}`)).status, 201);
});

test('payments to several beneficiaries of one new trade show the trade after each', async () => {
  const { base, clientId } = worldOf(4);
  const trade = { client_id: clientId, contact_id: base.contact_id, buy_currency: 'EUR', sell_currency: 'GBP' };
  const { body } = await service.operator('POST', '/trades', { ...trade, buy_amount: 1_000, rate: 1.17 });
  const payees = await Promise.all(
    Array.from({ length: 5 }, async (_, n) => {
      const payee = { client_id: clientId, beneficiary_name: `Payee ${n}`, account_number: `1234567${n}` };
      return (await service.operator('POST', '/beneficiaries', payee)).body.beneficiary_id as string;
    }),
  );
  const to = [...payees, ...payees].map((beneficiary_id) => ({ trade_id: body.trade_id, beneficiary_id }));
  const answers = await Promise.all(to.map((fields) => create(4, fields)));
  assert.deepEqual(new Set(statuses(answers)), new Set([201]));
  const changes = await feed(new Map(answers.map(({ body: made }) => [made.payment_id, made.status])));
  const shown = changes.flatMap(({ entity_id: id, data }) =>
    id === body.trade_id ? [data.beneficiaries?.length ?? 0] : [],
  );
  assert.deepEqual(shown, [0, 1, 2, 3, 4, 5]);
  await compareCopy(service, copyOf(changes));
});

test('each action has its answer, whatever becomes of the others', async () => {
  const made = await Promise.all(Array.from({ length: 24 }, (_, n) => create(n)));
  const ids = made.map(({ body }) => body.payment_id as string);
  const isPending = (n: number) => n % worlds.length < 3;
  const approver = (n: number, name: string) => ({ contact_id: worldOf(n).person(name).id });
  const first = await Promise.all(
    ids.flatMap((id, n) => [
      isPending(n) ? act(id, 'authorise', approver(n, 'Ann')) : act(id, 'validate'),
      act(id, 'complete'),
      act(`${id}-none`, 'validate'),
    ]),
  );
  const one = isPending(0) ? 200 : 0;
  assert.deepEqual(
    statuses(first),
    ids.flatMap(() => [one, 409, 404]),
  );
  const second = await Promise.all(
    ids.map((id, n) => (isPending(n) ? act(id, 'authorise', approver(n, 'Bob')) : act(id, 'send', { reason: `${n}` }))),
  );
  assert.deepEqual(new Set(statuses(second)), new Set([200]), JSON.stringify(second.map(({ text }) => text)));
  const expected = (n: number) => (isPending(n) ? 'Validating beneficiary information' : 'Executing Payment');
  const newest = new Map<string, string>();
  for (const [n, { body }] of second.entries()) {
    assert.equal(body.payment_id, ids[n]);
    assert.equal(body.status, expected(n));
    assert.deepEqual((await service.operator('GET', `/payments/${ids[n]}`)).body, body);
    assert.equal((await worldOf(n).notified(body.payment_id)).at(-1), isPending(n) ? 'AUTHORIZED' : 'SENT');
    newest.set(body.payment_id, body.status);
  }
  const { rows } = await service.query(
    `select entity_id, count(distinct request_id)::int as requests, max(reason) as reason from audit
     where entity = 'payment' and entity_id = any($1) group by entity_id`,
    [ids],
  );
  for (const row of rows) assert.equal(row.requests, 3, 'the creation and two actions are acts of their own');
  if (!ONE_CELL) assert.ok((await transactionsOf('payments', ids)) < ids.length / 2, 'they share transactions');
  const changes = await feed(newest);
  for (const id of ids)
    assert.equal(
      new Set(
        changes.filter((each) => each.entity === 'payment' && each.entity_id === id).map((each) => each.request_id),
      ).size,
      3,
    );
  await compareCopy(service, copyOf(changes));
});

test('of actions on one payment at the same moment, each sees what the one before it did', async () => {
  const { body } = await create(5);
  const answers = await Promise.all([
    ...['validate', 'validate', 'validate'].map((action) => act(body.payment_id, action)),
    ...Array.from({ length: 6 }, (_, n) => create(n)),
  ]);
  assert.deepEqual(statuses(answers.slice(0, 3)).toSorted(), [200, 409, 409]);
  assert.deepEqual(new Set(statuses(answers.slice(3))), new Set([201]));
  await act(body.payment_id, 'send');
  await act(body.payment_id, 'complete');
  await act(body.payment_id, 'start_return');
  const others = await Promise.all(Array.from({ length: 8 }, (_, n) => create(3 + (n % 3))));
  const ends = await Promise.all([
    ...others.map(({ body: other }) => act(other.payment_id, 'validate')),
    act(body.payment_id, 'return'),
    act(body.payment_id, 'return'),
  ]);
  assert.deepEqual(statuses(ends).toSorted(), [...Array(9).fill(200), 409]);
  const { rows } = await service.query(
    `select count(*)::int as credits from transactions where client_id = $1 and payment_id = $2`,
    [worldOf(5).clientId, body.payment_id],
  );
  assert.deepEqual(rows, [{ credits: 1 }], 'the return is credited once');
});

test('a payment that somebody holds keeps nobody waiting but its own calls', async (t) => {
  const made = await Promise.all(Array.from({ length: 8 }, () => create(3)));
  const ids = made.map(({ body }) => body.payment_id as string);
  const [held = '', ...free] = ids;
  const holder = await connectTo(service, worldOf(3).clientId);
  t.after(() => holder.end());
  await holder.query('begin');
  await holder.query('select from payments where client_id = $1 and payment_id = $2 for update', [
    worldOf(3).clientId,
    held,
  ]);
  let ended = false;
  const own = act(held, 'validate').then((answer) => {
    ended = true;
    return answer;
  });
  for (const action of ['validate', 'send', 'complete'])
    assert.deepEqual(new Set(statuses(await Promise.all(free.map((id) => act(id, action))))), new Set([200]));
  assert.equal(ended, false);
  await holder.query('rollback');
  assert.equal((await own).body.status, 'Waiting for payment date');
});

test('a client whose approvals somebody changes keeps nobody waiting but its own creations', async (t) => {
  const { clientId } = worldOf(0);
  const holder = await connectTo(service, clientId);
  t.after(() => holder.end());
  await holder.query('begin');
  await holder.query('select pg_advisory_xact_lock(hashtextextended($1, 3006))', [clientId]);
  let ended = 0;
  const own = [0, 6].map(async (n) => {
    const answer = await create(n);
    ended += 1;
    return answer;
  });
  for (let round = 0; round < 3; round += 1)
    assert.deepEqual(new Set(statuses(await Promise.all([1, 2, 3, 4, 5, 1, 2].map((n) => create(n))))), new Set([201]));
  assert.equal(ended, 0);
  await holder.query('rollback');
  assert.deepEqual(statuses(await Promise.all(own)), [201, 201]);
});
