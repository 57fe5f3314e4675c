import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createWorld } from '../../world/client.ts';
import { createSubscriber } from '../../world/graphql.ts';
import { startTestService, type TestService } from '../../world/service.ts';
import { until } from '../../world/until.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service?.stop());

const get = (path: string) => service.operator('GET', path);
const ids = (rows: Record<string, string>[], name: string) => rows.map((row) => row[name]);

describe('payments', () => {
  test('of one client as the client searches, each with its client', async () => {
    const world = await createWorld(service);
    const made = [(await world.pay()).body, (await world.pay({ amount: 500 })).body];
    assert.equal(made[0].client_id, world.clientId);
    const list = await get(`/payments?client_id=${world.clientId}&amount=100&amount_range=over`);
    assert.deepEqual(list.body, [made[1]], list.text);
    assert.equal(list.headers.get('x-total-count'), '1');
    const one = await get(`/payments/${made[0].payment_id}`);
    assert.deepEqual(one.body, made[0]);
  });

  test('without a client by identifier, UETR or reference; else client_id is required', async () => {
    const reference = randomUUID();
    const worlds = [await createWorld(service), await createWorld(service), await createWorld(service)];
    const made: Record<string, string>[] = [];
    for (const world of worlds) for (let n = 0; n < 2; n += 1) made.push((await world.pay({ reference })).body);
    const all = await get(`/payments?reference=${reference}`);
    assert.deepEqual(all.body, made);
    for (let page = 1; page <= 4; page += 1) {
      const part = await get(`/payments?reference=${reference}&page_size=2&page=${page}`);
      assert.deepEqual(part.body, made.slice(page * 2 - 2, page * 2), `page ${page}`);
      assert.equal(part.headers.get('x-total-count'), '6');
    }
    const [first, , third] = made as [Record<string, string>, unknown, Record<string, string>];
    const named = await get(`/payments?payment_ids=${third.payment_id},${first.payment_id}`);
    assert.deepEqual(named.body, [first, third]);
    assert.deepEqual((await get(`/payments?uuid=${third.uuid}`)).body, [third]);
    assert.deepEqual((await get(`/payments?uuid=${third.uuid}&client_id=${worlds[0]?.clientId}`)).body, []);
    assert.deepEqual((await get(`/payments?uuid=${randomUUID()}`)).body, []);
    const bare = await get('/payments?status=pending');
    assert.deepEqual([bare.status, bare.body.code], [400, 'missing_parameter']);
  });

  test('a timeline has everything that happened, in order', async () => {
    const world = await createSubscriber(service, 'Timeline');
    await service.operator('PATCH', `/clients/${world.clientId}`, {
      payment_approvals_enabled: true,
      authorisation_workflow: '4-eyes',
    });
    await world.subscribe({ types: ['PAYMENT_STATUS_CHANGE'], active: true, url: 'https://127.0.0.1:9/' });
    const approver = await world.hire('Approver');
    const { payment_id: id } = (await world.pay()).body;
    await service.operator('POST', `/payments/${id}/actions`, { action: 'authorise', contact_id: approver.contactId });
    await service.operator('POST', `/payments/${id}/actions`, { action: 'validate' });
    const seen = async () => (await get(`/payments/${id}/timeline`)).body as { at: string; kind: string }[];
    await until(async () => (await seen()).filter(({ kind }) => kind === 'notification').length >= 3);
    const timeline = await seen();
    assert.deepEqual(
      timeline.map(({ kind }) => kind).filter((kind) => kind !== 'notification' && kind !== 'attempt'),
      ['audit', 'action', 'approval', 'action'],
    );
    assert.equal(timeline.filter(({ kind }) => kind === 'notification').length, 3);
    assert.deepEqual(
      timeline.map(({ at }) => at).toSorted(),
      timeline.map(({ at }) => at),
    );
    const told = await get(`/notifications?payment_id=${id}`);
    assert.equal(told.body.length, 3, told.text);
    assert.ok(told.body.every(({ body }: { body: string }) => body.includes(id)));
    assert.deepEqual((await get('/notifications?payment_id=none')).body, []);
    assert.equal((await get('/payments/none/timeline')).body.code, 'payment_not_found');
  });
});

test('a period is of instants or of days in UTC, the last one included', async () => {
  const world = await createWorld(service);
  const account = await service.operator('POST', '/currency-accounts', { client_id: world.clientId, currency: 'EUR' });
  const book = (at: string) =>
    service.operator('POST', '/transactions', {
      client_id: world.clientId,
      currency_account_id: account.body.account_id,
      kind: 'CREDIT_TRANSACTION',
      amount: { amount: '1', currency: 'EUR' },
      transaction_reference: at,
      booking_datetime: at,
    });
  const moments = ['2026-07-01T23:59:59Z', '2026-07-02T00:00:00Z', '2026-07-02T23:59:59Z', '2026-07-03T00:00:00Z'];
  for (const at of moments) assert.equal((await book(at)).status, 201);
  const found = async (period: string) =>
    ids((await get(`/transactions?client_id=${world.clientId}&${period}`)).body, 'transaction_reference').reverse();
  assert.deepEqual(await found('from=2026-07-02&to=2026-07-02'), moments.slice(1, 3));
  assert.deepEqual(await found('from=2026-07-02T00:00:00Z&to=2026-07-03T00:00:00Z'), moments.slice(1, 3));
  assert.deepEqual(await found('to=2026-07-01'), moments.slice(0, 1));
  assert.deepEqual(await found('from=2026-07-03'), moments.slice(3));
  for (const list of [
    '/transactions',
    '/requests',
    '/sign-ins',
    '/statements',
    '/notifications',
    '/audit',
    '/audit/heads',
    '/audit/verify',
  ]) {
    for (const name of ['from', 'to']) {
      assert.equal((await get(`${list}?${name}=9999-12-31`)).status, 200, list);
      const refused = await get(`${list}?${name}=2026-02-30`);
      assert.deepEqual([refused.status, refused.body.details.split(':')[0]], [400, `query.${name}`], list);
    }
  }
});

test('the timeline of an imported payment has what its record says, and then what happened', async () => {
  const world = await createWorld(service, 'Imported', {
    payment_approvals_enabled: true,
    authorisation_workflow: '4-eyes',
  });
  const approver = await world.hire('Approver');
  const order = {
    client_id: world.clientId,
    contact_id: world.contactId,
    trade_id: world.tradeId,
    beneficiary_id: world.beneficiaryId,
    amount: 10,
    payment_currency: 'EUR',
    payment_date: '2026-03-09',
    created_date: '2026-03-02T10:00:00Z',
  };
  const [sent, open] = [randomUUID(), randomUUID()];
  const lines = [
    {
      ...order,
      payment_id: sent,
      status: 'Payment complete',
      authorised_by: 'Bo',
      authorised_date: '2026-03-03T09:00:00Z',
    },
    { ...order, payment_id: open },
  ];
  Object.assign(lines[0] as object, { sent_date: '2026-03-09T08:00:00Z' });
  const imported = await service.operator('POST', '/imports/payments', undefined, {
    raw: lines.map((line) => JSON.stringify(line)).join('\n'),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  assert.equal(imported.body.accepted, 2, imported.text);
  const told = async (id: string) =>
    (await get(`/payments/${id}/timeline`)).body.map((entry: Record<string, string>) =>
      [entry.kind, entry.action ?? entry.decision, entry.source, entry.contact_name, entry.at].join(' '),
    );
  assert.deepEqual(await told(sent), [
    'action create record Owner of Imported 2026-03-02T10:00:00.000Z',
    'action authorise record Bo 2026-03-03T09:00:00.000Z',
    'action send record  2026-03-09T08:00:00.000Z',
  ]);
  await service.operator('POST', `/payments/${open}/actions`, { action: 'authorise', contact_id: approver.contactId });
  assert.deepEqual(
    (await told(open)).map((entry: string) => entry.split(' ').slice(0, 3).join(' ')),
    ['action create record', 'action authorise ', 'approval authorise '],
  );
});

describe('lists and single records', () => {
  test('transactions: newest first, filtered, one by one', async () => {
    const world = await createWorld(service);
    const open = async (currency: string) =>
      (await service.operator('POST', '/currency-accounts', { client_id: world.clientId, currency })).body.account_id;
    const accounts = { EUR: await open('EUR'), GBP: await open('GBP') };
    const booked: Record<string, string>[] = [];
    for (const [index, currency] of (['EUR', 'GBP', 'EUR'] as const).entries()) {
      const answer = await service.operator('POST', '/transactions', {
        client_id: world.clientId,
        currency_account_id: accounts[currency],
        kind: index === 2 ? 'DEBIT_TRANSACTION' : 'CREDIT_TRANSACTION',
        amount: { amount: '10.50', currency },
        booking_datetime: `2026-07-0${index + 1}T12:00:00Z`,
      });
      booked.unshift(answer.body);
    }
    const list = await get(`/transactions?client_id=${world.clientId}`);
    assert.deepEqual(ids(list.body, 'transaction_id'), ids(booked, 'transaction_id'));
    assert.equal(list.headers.get('x-total-count'), '3');
    const { client_id, kind, payment_id } = list.body[0];
    assert.deepEqual([client_id, kind, payment_id], [world.clientId, 'DEBIT_TRANSACTION', null]);
    // What the booking answered is the whole record.
    assert.deepEqual(list.body[0], booked[0]);
    const paged = await get(`/transactions?client_id=${world.clientId}&page=2&page_size=2`);
    assert.deepEqual(ids(paged.body, 'transaction_id'), [booked[2]?.transaction_id]);
    const ofAccount = await get(`/transactions?client_id=${world.clientId}&currency_account_id=${accounts.GBP}`);
    assert.deepEqual(ids(ofAccount.body, 'transaction_id'), [booked[1]?.transaction_id]);
    const days = `from=2026-07-02T00:00:00Z&to=2026-07-03T00:00:00Z`;
    assert.equal((await get(`/transactions?client_id=${world.clientId}&${days}`)).body.length, 1);
    assert.deepEqual((await get(`/transactions/${booked[0]?.transaction_id}`)).body, list.body[0]);
    assert.equal((await get('/transactions/none')).body.code, 'transaction_not_found');
    const account = await get(`/currency-accounts/${accounts.GBP}`);
    assert.deepEqual(account.body, {
      account_id: accounts.GBP,
      currency: 'GBP',
      client_id: world.clientId,
      balance: '10.50',
      held: '0.00',
      available: '10.50',
    });
    for (const unknown of ['999999', 'GBP', '99999999999999999999', '1.5', '-1']) {
      const { status, body } = await get(`/currency-accounts/${unknown}`);
      assert.deepEqual([status, body.code], [404, 'currency_account_not_found'], unknown);
    }
  });

  test('contacts by email, clients by a part of the name, trades by status', async () => {
    const world = await createWorld(service, `100% Ünique ${randomUUID()}`);
    const found = await get(`/contacts?email=${encodeURIComponent(world.email.toUpperCase())}`);
    assert.deepEqual(ids(found.body, 'contact_id'), [world.contactId]);
    assert.deepEqual((await get('/contacts?email=nobody@example.com')).body, []);
    assert.equal((await get(`/contacts?email=${world.email}&client_id=none`)).body.length, 0);
    const clients = await get(`/clients?q=${encodeURIComponent('0% üniq')}`);
    assert.deepEqual(ids(clients.body, 'client_id'), [world.clientId]);
    assert.deepEqual((await get('/clients?q=_____%25zzz')).body, []);
    const trades = (status: string) => get(`/trades?client_id=${world.clientId}&status=${encodeURIComponent(status)}`);
    assert.deepEqual(ids((await trades('Created')).body, 'trade_id'), [world.tradeId]);
    assert.deepEqual((await trades('Closed')).body, []);
    assert.equal((await trades('Lost')).status, 400);
  });

  test('mass beneficiaries, statements and approvals configurations, one by one', async () => {
    const world = await createWorld(service);
    const mass = await service.operator('POST', '/mass-beneficiaries', { client_id: world.clientId });
    const read = await get(`/mass-beneficiaries/${mass.body.mass_beneficiary_id}`);
    assert.deepEqual(read.body, mass.body);
    assert.equal((await get('/mass-beneficiaries/none')).body.code, 'mass_beneficiary_not_found');
    const configuration = await get(`/approvals-configurations/${world.clientId}`);
    assert.deepEqual(configuration.body, { client_id: world.clientId, version: 0, groups: [], ruleset: null });
    assert.equal((await get('/approvals-configurations/none')).body.code, 'client_not_found');
    await service.operator('POST', '/currency-accounts', { client_id: world.clientId, currency: 'EUR' });
    const token = await world.signIn();
    const asked = await service.client(token, 'POST', `/statements/accounts?client_id=${world.clientId}`, {
      body: { date_from: '2026-07-01', date_to: '2026-07-02' },
    });
    assert.equal(asked.status, 202, asked.text);
    const [statement] = (await get(`/statements?client_id=${world.clientId}`)).body;
    const record = (await get(`/statements/${statement.id}`)).body;
    const own = (await service.client(token, 'GET', `/statements/requests/${statement.id}?client_id=${world.clientId}`))
      .body;
    assert.equal(record.id, own.id);
    assert.ok(['queued', 'running', 'sent'].includes(record.state), 'the state has the names that the client reads');
    assert.equal(Date.parse(own.requested_at), Math.floor(Date.parse(record.requested_at) / 1000) * 1000);
    assert.equal(record.ended_at === null, record.state !== 'sent');
    assert.equal((await get('/statements/none')).body.code, 'statement_not_found');
  });

  test('an unknown filter is a 400 that names it', async () => {
    for (const path of ['/contacts?mail=a', '/clients?client_id=a', '/payments?client=a', '/notifications?payment=a']) {
      const answer = await get(path);
      const name = path.split(/[?=]/)[1];
      assert.equal(answer.status, 400, path);
      assert.ok(answer.body.details.startsWith(`query.${name}: `), answer.body.details);
    }
  });

  test('an unknown filter of a list below a record is a 400 that names it, before the record is searched for', async () => {
    const world = await createWorld(service);
    const { payment_id: id } = (await world.pay()).body;
    for (const path of [`/payments/${id}/timeline`, `/mass-payments/${randomUUID()}/errors`]) {
      const answer = await get(`${path}?foo=1`);
      assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_parameter'], path);
      assert.ok(answer.body.details.startsWith('query.foo: is not a filter of this list'), answer.body.details);
      assert.equal((await service.operator('HEAD', `${path}?foo=1`)).status, 400, path);
    }
    assert.equal((await get(`/payments/${id}/timeline`)).status, 200);
    assert.equal((await get(`/payments/${id}?foo=1`)).status, 200, 'a record is no list');
  });

  test('without a client, more than 10,000 entries are not counted', async () => {
    await service.query(
      `insert into clients (client_id, client_name, status, fx_enabled, mass_payments_customer, authorisation_workflow,
         payment_approvals_enabled, payment_creator_approval_enabled, created_at)
       select 'MANY-' || n, 'Many', 'enabled', true, false, 'simple', false, false, now() from generate_series(1, 10000) n`,
    );
    const all = await get('/clients?page_size=1');
    assert.equal(all.headers.get('x-total-count'), null);
    const many = await get('/clients?q=MANY-&page_size=1');
    assert.equal(many.headers.get('x-total-count'), '10000');
  });

  test('this holds for payments, subscriptions and applications too', async () => {
    const world = await createWorld(service);
    const totalOf = async (path: string) => {
      const answer = await get(`${path}page_size=1`);
      assert.deepEqual([answer.status, answer.body.length], [200, 1], answer.text);
      return answer.headers.get('x-total-count');
    };
    const lines = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) =>
        JSON.stringify({ ...world.base, payment_id: `BULK-${from + index}`, reference: 'BULK', amount: 1 }),
      ).join('\n');
    const load = async (from: number, to: number) => {
      const headers = { 'content-type': 'application/x-ndjson' };
      const loaded = await service.operator('POST', '/imports/payments', undefined, { raw: lines(from, to), headers });
      assert.equal(loaded.body.accepted, to - from, loaded.text.slice(0, 500));
    };
    await load(0, 10_000);
    assert.equal(await totalOf('/payments?reference=BULK&'), '10000');
    await load(10_000, 10_001);
    assert.equal(await totalOf('/payments?reference=BULK&'), null);
    assert.equal(await totalOf(`/payments?reference=BULK&client_id=${world.clientId}&`), '10001');

    await service.query(
      `insert into subscriptions (client_id, contact_id, url, active, types, created_at, updated_at)
       select $1, $2, 'https://receiver.example', false, '{PAYMENT_STATUS_CHANGE}', now(), now() from generate_series(1, 10001)`,
      [world.clientId, world.contactId],
    );
    assert.equal(await totalOf('/subscriptions?'), null);
    assert.equal(await totalOf(`/subscriptions?client_id=${world.clientId}&`), '10001');

    await service.query(
      `insert into applications (client_id, name, redirect_uris, refresh_token_days, created_at)
       select 'MANY-' || n, 'Many', '{https://many.example/}', 28, now() from generate_series(1, 10001) n`,
    );
    assert.equal(await totalOf('/applications?'), null);
  });
});

test('clients, contacts and applications are listed by their status', async () => {
  const world = await createWorld(service);
  const { contactId } = await world.hire('Left');
  const made = await service.operator('POST', '/applications', {
    ...{ name: 'Old', redirect_uris: ['https://old.example/callback'] },
  });
  const application = made.body.client_id;
  for (const [path, list, key] of [
    [`/contacts/${contactId}`, '/contacts', 'contact_id'],
    [`/applications/${application}`, '/applications', 'client_id'],
    [`/clients/${world.clientId}`, '/clients', 'client_id'],
  ] as const) {
    await service.operator('PATCH', path, { status: 'disabled' });
    const disabled = await get(`${list}?status=disabled`);
    assert.deepEqual(ids(disabled.body, key), [path.split('/').at(-1)]);
    assert.equal(disabled.headers.get('x-total-count'), '1');
    assert.ok(!ids((await get(`${list}?status=enabled&page_size=1000`)).body, key).includes(path.split('/').at(-1)));
    assert.equal((await get(`${list}?status=gone`)).status, 400);
  }
});
