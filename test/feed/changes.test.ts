import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { noteChange } from '../../src/audit/change.ts';
import { auditSteps } from '../../src/audit/record.ts';
import { transaction } from '../../src/database/database.ts';
import { londonDay } from '../../src/values/calendar.ts';
import { poolOfClient } from '../world/cells.ts';
import { published } from '../world/change-feed.ts';
import { createWorld } from '../world/client.ts';
import { createSubscriber } from '../world/graphql.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';
import { beginUpload } from '../world/upload.ts';

let service: TestService;
let world: Awaited<ReturnType<typeof createWorld>>;
before(async () => {
  service = await startTestService();
  world = await createWorld(service, 'Acme Ltd', { payment_approvals_enabled: true, authorisation_workflow: '4-eyes' });
});
after(() => service.stop());

interface Change {
  cursor: string;
  at: string;
  entity: string;
  entity_id: string;
  client_id: string | null;
  version: number;
  action: string;
  actor: string;
  request_id: string;
  // biome-ignore lint/suspicious/noExplicitAny: each entity has its own record
  data: any;
}

/** Lines that make a batch, which has at most 4 MiB. */
const LINE_BYTES = 60_000;
const BATCH_LINES = 70;

const post = (path: string, body: unknown) => service.operator('POST', path, body);
const changes = (query = '') => service.operator('GET', `/changes?${query}`);
/** Where the feed ends now. */
async function end(): Promise<string> {
  await settled();
  return (await changes('after=now')).body.cursor;
}
/** Everything that has been committed is published. */
const settled = () => published(service);
async function since(cursor: string, query = ''): Promise<Change[]> {
  await settled();
  const { status, body, text } = await changes(`after=${cursor}&limit=1000${query}`);
  assert.equal(status, 200, text);
  assert.equal(body.more, false);
  return body.changes;
}
const outline = (list: Change[]) => list.map((each) => `${each.entity} ${each.version} ${each.action}`);

test('a record is in the feed as the operator reads it, once for each change', async () => {
  const start = await end();
  const made = await post('/clients', { client_name: 'Fed', statement_push_secret: 'a-secret-of-the-client' });
  const id = made.body.client_id;
  await service.operator('PATCH', `/clients/${id}`, { client_name: 'Fed well' });
  await service.operator('PATCH', `/clients/${id}`, { client_name: 'Fed well' });
  const read = await service.operator('GET', `/clients/${id}`);
  const list = await since(start);
  assert.deepEqual(outline(list), ['client 1 create', 'client 2 update']);
  assert.deepEqual(list[0]?.data, made.body);
  assert.deepEqual(list[1]?.data, read.body);
  assert.equal(list[1]?.actor, 'token:configured');
  assert.equal(list[0]?.request_id, made.headers.get('x-request-id'));
  assert.doesNotMatch(JSON.stringify(list), /a-secret/);
});

test('an approval: the payment first, then the decision, one next to the other', async () => {
  const approver = await world.hire('Approver');
  const start = await end();
  const payment = (await world.pay()).body.payment_id;
  const act = { action: 'authorise', contact_id: approver.contactId, reason: 'Seen the invoice' };
  const moved = await post(`/payments/${payment}/actions`, act);
  assert.equal(moved.status, 200, moved.text);
  const list = await since(start);
  assert.deepEqual(outline(list), [
    'payment 1 create',
    'trade 2 update',
    'payment 2 authorise',
    'approval 1 authorise',
  ]);
  const read = await service.operator('GET', `/payments/${payment}`);
  assert.deepEqual(list[2]?.data, read.body);
  assert.equal(list[3]?.entity_id, `${payment}/${approver.contactId}`);
  const { level, at, ...decision } = list[3]?.data ?? {};
  assert.deepEqual(decision, {
    payment_id: payment,
    contact_id: approver.contactId,
    decision: 'authorise',
    reason: 'Seen the invoice',
    on_behalf_by: 'configured',
  });
  assert.equal(level, 1);
  assert.equal(at, list[3]?.at);
});

test('a booking changes its currency account', async () => {
  const account = await post('/currency-accounts', { client_id: world.clientId, currency: 'EUR' });
  const start = await end();
  const body = { client_id: world.clientId, currency_account_id: account.body.account_id, kind: 'CREDIT_TRANSACTION' };
  await post('/transactions', { ...body, amount: { amount: '12.50', currency: 'EUR' } });
  const list = await since(start);
  assert.deepEqual(outline(list), ['transaction 1 create', 'currency_account 2 update']);
  assert.equal(list[0]?.data.amount.amount, '12.50');
  assert.equal(list[1]?.data.balance, '12.50');
});

test('filters: a client with its contacts, entities; cursors sort and page as the changes do', async () => {
  await settled();
  const other = await createWorld(service, 'Other Ltd');
  await settled();
  const own = (await changes(`client_id=${other.clientId}&limit=1000`)).body.changes as Change[];
  assert.deepEqual(outline(own), ['client 1 create', 'contact 1 create', 'beneficiary 1 create', 'trade 1 create']);
  const trades = (await changes('entities=trade,beneficiary&limit=1000')).body.changes as Change[];
  assert.deepEqual([...new Set(trades.map((each) => each.entity))].sort(), ['beneficiary', 'trade']);
  const all = (await changes('limit=1000')).body.changes as Change[];
  const paged: Change[] = [];
  for (let page = await changes('limit=3'); ; page = await changes(`limit=3&after=${page.body.cursor}`)) {
    paged.push(...page.body.changes);
    if (!page.body.more) break;
  }
  assert.deepEqual(paged, all);
  const cursors = all.map((each) => each.cursor);
  assert.deepEqual([...cursors].sort(), cursors);
  assert.equal(new Set(cursors).size, cursors.length);
});

test('an import gives one change a record, and one for each other record that it alters', async () => {
  const start = await end();
  const account = (await post('/currency-accounts', { client_id: world.clientId, currency: 'USD' })).body.account_id;
  const line = { client_id: world.clientId, currency_account_id: account, kind: 'CREDIT_TRANSACTION' };
  const lines = Array.from({ length: 30 }, (_, n) =>
    JSON.stringify({
      ...{ ...line, transaction_id: `T${n}`, amount: { amount: '1.00', currency: 'USD' } },
      ...{ creditor_account: { iban: 'DE89370400440532013000' }, booking_datetime: '2026-03-28T12:00:00.123456+01:00' },
    }),
  );
  const imported = await service.operator('POST', '/imports/transactions', undefined, {
    raw: lines.join('\n'),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  assert.equal(imported.body.accepted, 30, imported.text);
  const list = await since(start);
  assert.equal(list.length, 32);
  assert.deepEqual(
    list.slice(1, 31).map((each) => `${each.entity_id} ${each.version} ${each.action}`),
    lines.map((_, n) => `T${n} 1 import`),
  );
  assert.deepEqual(outline(list.slice(31)), ['currency_account 2 import']);
  assert.equal(list[31]?.data.balance, '30.00');
  const read = async (path: string) => (await service.operator('GET', path)).body;
  assert.deepEqual(list[30]?.data, await read(`/transactions/${list[30]?.entity_id}`));
  // What is held of an account is no part of the record.
  const { held, available, ...record } = await read(`/currency-accounts/${account}`);
  assert.deepEqual([list[31]?.data, held, available], [record, '0.00', '30.00']);
});

test('each step of a transaction has its changes, however soon the first one is answered', async () => {
  const account = (await post('/currency-accounts', { client_id: world.clientId, currency: 'SEK' })).body.account_id;
  const start = await end();
  const steps = Array.from({ length: 6 }, (_, n) => ({
    now: new Date(),
    actor: 'operator:test',
    requestId: `step-${n}`,
  }));
  await transaction(await poolOfClient(service.service.context.pool, world.clientId), async (tx) => {
    auditSteps(
      tx,
      steps.map((act) => ({
        ...{ act, entries: [] },
        note: () =>
          noteChange(tx, act, {
            ...{ entity: 'currency_account', id: String(account), clientId: world.clientId, action: 'update' },
            known: () => ({ text: JSON.stringify({ account_id: account }) }),
          }),
      })),
    );
    // The first steps are over before the transaction ends.
    await tx.query('select pg_sleep(0.05)');
  });
  const list = await since(start);
  assert.deepEqual(
    list.map(({ version, request_id: request }) => [version, request]),
    steps.map(({ requestId }, n) => [n + 2, requestId]),
  );
});

test('a trade changes with each further beneficiary of its payments, and never for one that it has', async () => {
  const own = await createWorld(service, 'Beneficiaries');
  const names = ['B-2', 'B-10', 'B-1'];
  for (const beneficiary_id of names)
    await post('/beneficiaries', { client_id: own.clientId, beneficiary_id, beneficiary_name: beneficiary_id });
  const start = await end();
  await own.pay();
  await own.pay({ beneficiary_id: 'B-2' });
  await own.pay({ beneficiary_id: 'B-2' });
  const lines = ['B-2', 'B-10', 'B-1', 'B-10'].map((beneficiary_id) => JSON.stringify({ ...own.base, beneficiary_id }));
  for (let time = 0; time < 2; time += 1) {
    const imported = await service.operator('POST', '/imports/payments', undefined, { raw: lines.join('\n') });
    assert.equal(imported.body.accepted, 4, imported.text);
  }
  const list = await since(start, '&entities=trade');
  assert.deepEqual(outline(list), ['trade 2 update', 'trade 3 update', 'trade 4 import']);
  const lists = list.map((each) => each.data.beneficiaries);
  const first = own.base.beneficiary_id;
  assert.deepEqual(lists, [[first], [first, 'B-2'].sort(), [first, ...names].sort()]);
  assert.deepEqual(list[2]?.data, (await service.operator('GET', `/trades/${own.base.trade_id}`)).body);
});

test('a trade that an import changes batch by batch is as the operator reads it, whatever happens in between', async () => {
  const own = await createWorld(service, 'Batches');
  const { trade_id, beneficiary_id: first } = own.base;
  const names = ['b-1', 'B.1', 'B-1', 'a', 'B_1', 'evil', 'Z', 'c'].map((name) => `${name}-of-batches`);
  for (const beneficiary_id of names)
    await post('/beneficiaries', { client_id: own.clientId, beneficiary_id, beneficiary_name: beneficiary_id });
  const start = await end();
  const { request, answer } = beginUpload(service, '/imports/payments');
  const seen: Change[] = [];
  /** Sends a batch of such payments, and waits until the feed has what it made of the trade. */
  const send = async (beneficiaries: string[]) => {
    const lines = Array.from({ length: BATCH_LINES }, (_, n) =>
      JSON.stringify({ ...own.base, beneficiary_id: beneficiaries[n] ?? first, reference: beneficiaries[n] }),
    );
    const known = seen.length;
    request.write(lines.map((line) => `${line.padEnd(LINE_BYTES)}\n`).join(''));
    await until(async () => {
      seen.splice(0, seen.length, ...(await since(start, '&entities=trade')));
      return seen.length > known;
    });
    const now = await service.operator('GET', `/trades/${trade_id}`);
    assert.deepEqual(seen.at(-1)?.data, now.body);
  };
  await send([names[0] as string]);
  await send(names.slice(1, 4));
  await service.operator('PATCH', `/trades/${trade_id}`, { status: 'Closed' });
  seen.splice(0, seen.length, ...(await since(start, '&entities=trade')));
  await send(names.slice(4, 5));
  await service.query(`create function public.refuse_evil_batch() returns trigger language plpgsql as $$
    begin if new.reference = 'evil-of-batches' then raise exception 'evil' using errcode = '22000'; end if; return new; end $$`);
  await service.query(
    'create trigger refuse_evil_batch before insert on payments for each row execute function refuse_evil_batch()',
  );
  await send(names.slice(5, 7));
  await service.query('drop trigger refuse_evil_batch on payments');
  await send(names.slice(7));
  request.end();
  const { accepted, rejected } = JSON.parse((await answer).text);
  assert.deepEqual([accepted, rejected], [5 * BATCH_LINES - 1, 1]);
  const actions = ['import', 'import', 'update', 'import', 'import', 'import'];
  assert.deepEqual(
    outline(seen),
    actions.map((action, n) => `trade ${n + 2} ${action}`),
  );
  const all = [first, ...names.filter((name) => !name.startsWith('evil'))];
  assert.deepEqual(seen.at(-1)?.data.beneficiaries, all.sort());
});

test('imported payments are in the feed as the operator reads them', async () => {
  const start = await end();
  const { clientId: client_id, contactId, base } = world;
  const plain = await createWorld(service, 'Without approvals');
  const at = '2026-03-28T23:30:00.100Z';
  const lines = [
    { ...plain.base, payment_id: 'IMP1', fee_amount: -0, created_date: at },
    {
      ...plain.base,
      payment_id: 'IMP2',
      uuid: 'A0EEBC99-9C0B-4EF8-8B6D-6BB9BD380A11',
      status: 'Payment complete',
      created_date: at,
    },
    {
      ...plain.base,
      payment_id: 'IMP3',
      status: 'Payment cancelled',
      cancelled_by: 'core "x"',
      cancelled_date: '2026-07-01',
      amount: '0010.500',
    },
    {
      ...plain.base,
      status: 'Payment rejected',
      rejected_by: 'L\u00e9a\n\u2028',
      rejected_date: at,
      scheme: 'TARGET2',
      fee_amount: 1.25,
      fee_currency: 'GBP',
    },
    {
      ...plain.base,
      status: 'Waiting for payment date',
      authorised_by: 'CON',
      authorised_date: at,
      charges: 'OUR',
      reference: 'a\tb\\',
      invoice_required: true,
    },
    { ...base, payment_id: 'IMP4', client_id, contact_id: contactId },
  ];
  const imported = await service.operator('POST', '/imports/payments', undefined, {
    raw: lines
      .map((line) => JSON.stringify(line))
      .join('\n')
      .replace('"fee_amount":0', '"fee_amount":-0'),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  assert.equal(imported.body.accepted, lines.length, imported.text);
  const list = (await since(start, '&entities=payment')).filter(({ action }) => action === 'import');
  assert.equal(list.length, lines.length);
  const feed = (await changes(`after=${start}&limit=1000&entities=payment`)).text;
  for (const { entity_id: id } of list) {
    const { text } = await service.operator('GET', `/payments/${id}`);
    assert.ok(feed.includes(`"data":${text}}`), `${id} is in the feed exactly as ${text}`);
  }
});

test('an erasure is an update of the contact, and a replay is no change of the subscription', async () => {
  const { contactId, subscribe } = await createSubscriber(service);
  const subscriptionId = await subscribe();
  const start = await end();
  const replayed = await post(`/subscriptions/${subscriptionId}/replay`, { since: '2026-01-01T00:00:00Z' });
  assert.equal(replayed.status, 202, replayed.text);
  await service.operator('PATCH', `/contacts/${contactId}`, { status: 'disabled' });
  const erased = await post(`/contacts/${contactId}/erase`, {});
  assert.equal(erased.status, 202, erased.text);
  assert.deepEqual(outline(await since(start, '&entities=contact,subscription')), [
    'contact 2 update',
    'contact 3 update',
  ]);
});

test('wait answers as soon as there is a change, and after its time without one', async () => {
  const start = await end();
  const waiting = changes(`after=${start}&wait=20&entities=beneficiary`);
  await post('/clients', { client_name: 'Not what is waited for' });
  const made = await post('/beneficiaries', { client_id: world.clientId, beneficiary_name: 'Awaited' });
  const answer = await waiting;
  assert.deepEqual(
    answer.body.changes.map((each: Change) => each.entity_id),
    [made.body.beneficiary_id],
  );
  // The change of another cell may get its place later.
  const cursor = await end();
  const none = await changes(`after=${cursor}&wait=1`);
  assert.deepEqual(none.body, { changes: [], cursor, more: false });
});

test('a wrong cursor, entity, limit or wait names the parameter', async () => {
  const cursor = await end();
  const forged = `${String(Number(cursor.slice(0, 16)) - 1).padStart(16, '0')}${cursor.slice(16)}`;
  for (const [query, field] of [
    [`after=${forged}`, 'query.after'],
    ['after=yesterday', 'query.after'],
    ['entities=payments', 'query.entities'],
    ['limit=1001', 'query.limit'],
    ['wait=31', 'query.wait'],
    ['colour=red', 'query.colour'],
  ]) {
    const { status, body } = await changes(query);
    assert.deepEqual([status, body.code, body.details.split(':')[0]], [400, 'invalid_parameter', field]);
  }
});

test('the feed needs the scope changes', async () => {
  const support = await post('/operator-tokens', { name: 'support', role: 'support' });
  const refused = await service.operator('GET', '/changes', undefined, { token: support.body.token });
  assert.deepEqual([refused.status, refused.body.details], [403, 'token: needs the scope changes']);
});

test('consumers acknowledge forwards, and rewind only when they say so', async () => {
  const first = (await changes('limit=1')).body.cursor;
  const last = await end();
  const put = (name: string, cursor: string, query = '') =>
    service.operator('PUT', `/change-consumers/${name}${query}`, { cursor });
  const made = await put('core', first);
  assert.equal(made.status, 200, made.text);
  assert.ok(made.body.lag_changes > 10);
  assert.equal((await changes('consumer=core&limit=1')).body.changes[0].version, 1);
  assert.equal((await put('core', last)).body.lag_changes, 0);
  const back = await put('core', first);
  assert.deepEqual([back.status, back.body.code], [409, 'cursor_behind']);
  assert.equal((await put('core', first, '?rewind=true')).status, 200);
  const wrong = await put('core', 'x');
  assert.deepEqual(
    [wrong.status, wrong.body.code, wrong.body.details.split(':')[0]],
    [400, 'invalid_parameter', 'body.cursor'],
  );
  const listed = await service.operator('GET', '/change-consumers');
  assert.deepEqual(
    listed.body.map((each: { name: string }) => each.name),
    ['core'],
  );
  const metrics = await service.operator('GET', '/metrics');
  assert.match(metrics.text, /lombard_change_consumer_lag\{consumer="core"\} \d+/);
  assert.match(metrics.text, /lombard_changes_unpublished_age_seconds \d/);
  const both = await changes(`consumer=core&after=${last}`);
  assert.deepEqual([both.status, both.body.details.split(':')[0]], [400, 'query.after']);
  const reason = { 'x-reason': 'no%20longer%20used' };
  const forgotten = await service.operator('DELETE', '/change-consumers/core', undefined, { headers: reason });
  assert.equal(forgotten.status, 204);
  const audited = (await service.operator('GET', '/audit?entity=change_consumer&entity_id=core')).body;
  assert.deepEqual(
    audited.map((row: Record<string, unknown>) => [row.action, row.before, row.after, row.reason]),
    [
      ['create', null, { cursor: first }, null],
      ['update', { cursor: last }, { cursor: first }, null],
      ['delete', { cursor: first }, null, 'no longer used'],
    ],
  );
  const gone = await changes('consumer=core');
  assert.deepEqual([gone.status, gone.body.code], [404, 'consumer_not_found']);
});

test('the reconciliation of the day agrees with the feed', async () => {
  await settled();
  const { body } = await service.operator('GET', `/reconciliation?date=${londonDay(new Date())}`);
  const own = body.filter((each: { client_id: string }) => each.client_id === world.clientId);
  assert.deepEqual(own, [
    {
      client_id: world.clientId,
      currency: 'EUR',
      created: { count: 2, sum: '200' },
      moved: { 'Validating beneficiary information': { count: 1, sum: '100' } },
      transactions: { CREDIT_TRANSACTION: { count: 1, sum: '12.50' } },
    },
    {
      client_id: world.clientId,
      currency: 'USD',
      moved: {},
      transactions: { CREDIT_TRANSACTION: { count: 30, sum: '30.00' } },
    },
  ]);
  const wrong = await service.operator('GET', '/reconciliation?date=2026-02-30');
  assert.deepEqual([wrong.status, wrong.body.details.split(':')[0]], [400, 'query.date']);
});

test('a change whose row of the feed is refused, by its statement or by the commit, is not made', async () => {
  const start = await end();
  const list = `/beneficiaries?client_id=${world.clientId}`;
  const before = (await service.operator('GET', list)).body;
  const make = () => post('/beneficiaries', { client_id: world.clientId, beneficiary_name: 'Refused' });
  await service.query(
    `create function public.refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`,
  );
  await service.query('create trigger refused after insert on changes for each row execute function refuse()');
  const byStatement = await make();
  await service.query('drop trigger refused on changes');
  await service.query(
    'create constraint trigger refused after insert on changes deferrable initially deferred for each row execute function refuse()',
  );
  const byCommit = await make();
  await service.query('drop trigger refused on changes');
  await service.query('drop function public.refuse()');
  assert.deepEqual([byStatement.status, byCommit.status], [502, 502]);
  assert.deepEqual((await service.operator('GET', list)).body, before);
  assert.equal((await make()).status, 201);
  assert.deepEqual(outline(await since(start)), ['beneficiary 1 create']);
});

test('a call that moves a payment several times gives a change for each move', async () => {
  const made = await createWorld(service, 'Moved', {
    payment_approvals_enabled: true,
    authorisation_workflow: '4-eyes',
  });
  await made.hire('Approver');
  const payment = (await made.pay()).body.payment_id;
  const token = await made.signIn();
  const start = await end();
  const path = `/sandbox/payments/${payment}/advance?client_id=${made.clientId}`;
  const advanced = await service.client(token, 'POST', path, { body: { to: 'Payment complete' } });
  assert.equal(advanced.status, 200, advanced.text);
  const list = await since(start, '&entities=payment');
  assert.deepEqual(
    list.map(({ version, action, data }) => `${version} ${action}: ${data.status}`),
    [
      '2 authorise: Validating beneficiary information',
      '3 validate: Waiting for payment date',
      '4 send: Executing Payment',
      '5 complete: Payment complete',
    ],
  );
  const { body } = await service.operator('GET', `/reconciliation?date=${londonDay(new Date())}`);
  const own = body.find((each: { client_id: string }) => each.client_id === made.clientId);
  assert.equal(Object.keys(own.moved).length, 4);
});

test('a reset is one change of the client, before those of what it removes', async () => {
  const made = await createWorld(service, 'To be reset');
  const token = await made.signIn();
  const start = await end();
  const reset = await service.client(token, 'POST', `/sandbox/reset?client_id=${made.clientId}`);
  assert.equal(reset.status, 204, reset.text);
  const list = await since(start);
  assert.deepEqual(outline(list), ['client 2 reset', 'trade 2 delete', 'beneficiary 2 delete']);
  assert.equal(list[1]?.data.trade_id, made.tradeId);
});

test('what is too old is gone, a cursor before it too; a consumer holds it for longer', async () => {
  const old = (await changes('limit=1')).body.cursor;
  await service.operator('PUT', '/change-consumers/slow', { cursor: old });
  const day = 86_400;
  await service.operator('PUT', '/clock', { advance_seconds: 31 * day });
  assert.equal((await changes(`after=${old}&limit=1`)).body.changes.length, 1);
  await service.operator('DELETE', '/change-consumers/slow');
  const expired = await changes(`after=${old}`);
  assert.deepEqual([expired.status, expired.body.code], [410, 'cursor_expired']);
  const fresh = await changes();
  assert.equal(fresh.status, 200);
  assert.deepEqual(fresh.body.changes, []);
});
