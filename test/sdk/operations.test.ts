import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { decimal, Lombard, LombardError, type TokenSet, type WebhookType } from '../../sdk/src/index.ts';
import { type ApprovalsWorld, approvalsWorld, type Person } from '../world/approvals.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';
import { createApplication, tokensOf } from '../world/visitor.ts';

/** Every method of the SDK against the running service. */

let service: TestService;
let world: ApprovalsWorld;
let owner: Lombard;
let approver: Lombard;

before(async () => {
  service = await startTestService();
  world = await approvalsWorld(service, ['grace', 'alan'], { authorisation_workflow: '4-eyes' });
  owner = lombardOf(world.owner);
  approver = lombardOf(world.person('grace'));
});
after(() => service.stop());

function lombardOf(person: Person): Lombard {
  return new Lombard({ baseUrl: service.api, clientId: world.clientId, accessToken: person.token });
}

async function collect<T>(list: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of list) all.push(each);
  return all;
}

/** A LombardError with this status and code. */
const refused = (status: number, code: string) => (error: unknown) => {
  assert.ok(error instanceof LombardError, String(error));
  assert.deepEqual([error.status, error.code], [status, code], error.message);
  assert.match(error.requestId ?? '', /^[0-9a-f-]{36}$/);
  return true;
};

test('a search is lazy, complete, in order, and can be iterated again', async () => {
  const reference = 'paged';
  const ids: string[] = [];
  for (let n = 0; n < 7; n += 1) ids.push(await world.create(100 + n, { reference }));
  let requests = 0;
  const counted = new Lombard({
    baseUrl: service.api,
    clientId: world.clientId,
    accessToken: world.owner.token,
    fetch: (...given) => {
      requests += 1;
      return fetch(...given);
    },
  });
  const search = counted.payments.search({ reference, page_size: 3 });
  assert.equal(requests, 0);
  for (const requestsSoFar of [3, 6]) {
    assert.deepEqual(
      (await collect(search)).map((payment) => payment.payment_id),
      ids,
    );
    assert.equal(requests, requestsSoFar);
  }
  for await (const payment of search) {
    assert.equal(payment.payment_id, ids[0]);
    break;
  }
  assert.equal(requests, 7, 'who stops reads no further page');
  assert.equal(await search.total, 7);
  const first = await search.page();
  assert.deepEqual({ ...first, items: first.items.length }, { items: 3, total: 7, page: 1, pageSize: 3 });
  const third = await search.page(3);
  assert.deepEqual(
    third.items.map((payment) => payment.payment_id),
    ids.slice(6),
  );
  assert.deepEqual({ ...(await search.page(9)), total: 7 }, { items: [], total: 7, page: 9, pageSize: 3 });
  assert.deepEqual((await collect(counted.payments.search({ reference, page_size: 3, page: 2 }))).length, 4);
  assert.deepEqual(await collect(counted.payments.search({ reference: 'nobody has it' })), []);
  assert.equal((await counted.payments.search({ reference }).page()).pageSize, 50);
  // Full pages only: no further one is asked for.
  requests = 0;
  assert.equal(
    (await collect(counted.payments.search({ payment_ids: ids.slice(0, 6).join(','), page_size: 3 }))).length,
    6,
  );
  assert.equal(requests, 2);
});

test('parameters are as on the wire, and what is wrong with them is said', async () => {
  const newest = await owner.payments.search({ order: 'desc', page_size: 1 }).page();
  assert.equal(newest.items.length, 1);
  await assert.rejects(owner.payments.search({ page_size: 1_001 }).page(), refused(400, 'invalid_parameter'));
  await assert.rejects(owner.payments.search({ page_size: 1_001 }).page(), { details: /^query\.page_size/ });
  await assert.rejects(collect(owner.payments.search({ amount: 1 })), refused(400, 'missing_parameter'));
});

test('payments are read, approved, rejected, cancelled', async () => {
  const id = await world.create('1250.50');
  assert.equal((await approver.payments.get(id)).approvals_workflow.minimum_remaining_authorisations, 1);
  assert.equal((await approver.payments.approvals(id)).governed_by, 'eyes');
  assert.equal(await approver.payments.authorise(id), undefined);
  assert.equal((await approver.payments.get(id)).approvals_workflow.n_eyes_plus_status, 'Approved');
  await assert.rejects(approver.payments.authorise(id), refused(409, 'approval_not_allowed'));
  const other = await world.create();
  await approver.payments.reject(other);
  assert.equal((await owner.payments.get(other)).status, 'Payment rejected');
  const third = await world.create();
  await owner.payments.cancel(third);
  assert.equal((await owner.payments.get(third)).status, 'Payment cancelled');
  await assert.rejects(owner.payments.get('nothing/../here'), refused(404, 'payment_not_found'));
});

test('an amount is read with the digits that were sent, alone and in a list', async () => {
  for (const amount of ['123456789012345678.12345678', '0.10', '1250.50']) {
    const id = await world.create(amount);
    assert.equal(decimal(await owner.payments.get(id), 'amount'), amount);
    const [payment] = await collect(owner.payments.search({ payment_ids: id }));
    assert.ok(payment);
    assert.equal(decimal(payment, 'amount'), amount);
    assert.equal(payment.amount, Number(amount));
  }
});

test('accounts, FX, statements, documents', async () => {
  await service.operator('POST', '/currency-accounts', { client_id: world.clientId, currency: 'EUR' });
  const [account] = await owner.accounts.list();
  assert.equal(account?.currency, 'EUR');
  assert.ok(Number.isInteger(account?.account_id));
  const { body } = await service.operator('POST', '/accounts', { client_id: world.clientId, currency: 'EUR' });
  assert.equal((await owner.accounts.get(body.account_id)).status, 'Enabled');
  assert.equal(typeof (await owner.quotes.fxAvailable()), 'boolean');
  assert.match(await owner.statements.request({ date_from: '2026-07-01', date_to: '2026-07-31' }), /accepted/);
  await assert.rejects(
    owner.statements.request({ date_from: '2026-07-02', date_to: '2026-07-01' }),
    refused(400, 'invalid_body'),
  );
  const pdf = await owner.documents.get('tr', world.tradeId);
  assert.ok(pdf instanceof Uint8Array);
  assert.equal(new TextDecoder().decode(pdf.subarray(0, 5)), '%PDF-');
  await assert.rejects(owner.documents.get('pr', 'none'), refused(404, 'document_not_found'));
});

test('the approvals configuration is read, rehearsed, replaced, changed with its digits kept', async () => {
  assert.deepEqual(await owner.approvals.settings(), {
    payment_approvals_enabled: true,
    payment_creator_approval_enabled: false,
  });
  assert.equal((await owner.approvals.configuration()).ruleset, null);
  const group = { name: 'treasury', users: [{ id: world.person('grace').id }] };
  const levels = [{ one_of: [{ all_of: ['treasury'] }] }];
  const config = {
    groups: [group],
    ruleset: { currency: 'EUR', rules: [{ minimum_threshold: 100.25, groups: levels }] },
  };
  const rehearsed = await owner.approvals.rehearse({ ...config, sample_amounts: [5, '500'] });
  assert.deepEqual(
    rehearsed.samples.map((sample) => sample.minimum_authorisations),
    [0, 1],
  );
  assert.equal((await owner.approvals.configuration()).ruleset, null);
  const replaced = await owner.approvals.replace(config);
  assert.equal(replaced.ruleset?.rules[0]?.minimum_threshold, 100.25);
  assert.deepEqual(await owner.approvals.configuration(), replaced);
  const { groups, ruleset } = await owner.approvals.configuration({ version: 1 });
  assert.ok(ruleset);
  await owner.approvals.replace({ groups, ruleset: { ...ruleset, rules: [] } });
  assert.deepEqual(
    (await collect(owner.approvals.versions())).map(({ version }) => version),
    [2, 1],
  );
  assert.equal(await owner.approvals.versions().total, 2);
  const absent = { groups: [], ruleset: { currency: 'EUR', rules: [{ minimum_threshold: 0, groups: levels }] } };
  await assert.rejects(
    owner.approvals.replace(absent),
    (error: LombardError) => error.status === 400 && /^body\./.test(error.details),
  );
});

test('multi payments are rejected; errors of mass beneficiaries are listed', async () => {
  const { body: made } = await service.operator('POST', '/multipayments', {
    client_id: world.clientId,
    contact_id: world.contactId,
    trades: [{ buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: 100, rate: 1.17 }],
    payments: [
      {
        trade: 0,
        beneficiary_id: world.beneficiaryId,
        amount: 100,
        payment_currency: 'EUR',
        payment_date: '2026-12-01',
      },
    ],
  });
  await owner.multipayments.reject(made.multipayment_id);
  await assert.rejects(owner.multipayments.reject(made.multipayment_id), refused(409, 'already_rejected'));
  const errors = Array.from({ length: 3 }, (_, index) => ({
    code: 'invalid_iban',
    message: 'No',
    details: 'iban',
    request_index: index,
  }));
  const { body: mass } = await service.operator('POST', '/mass-beneficiaries', {
    client_id: world.clientId,
    status: 'processing',
    errors,
  });
  const list = owner.massBeneficiaries.errors(mass.mass_beneficiary_id, { page_size: 2 });
  assert.deepEqual(await collect(list), errors);
  assert.equal(await list.total, 3);
});

test('what was sent is listed over several pages, by what is asked for, and sent again', async () => {
  const given = { url: 'http://127.0.0.1:9/history', types: ['TRADE_STATUS_CHANGE' as WebhookType] };
  const [first, second] = [await owner.subscriptions.create(given), await owner.subscriptions.create(given)];
  const all = owner.webhooks.notifications();
  assert.deepEqual(await collect(all), []);
  for (let n = 0; n < 51; n += 1) await owner.subscriptions.ping(first.id);
  await owner.subscriptions.ping(second.id);
  const found = await collect(all);
  assert.deepEqual(
    found.map(({ subscriptionId, type }) => [subscriptionId, type]),
    [[second.id, 'PING'], ...Array(51).fill([first.id, 'PING'])],
  );
  assert.equal(new Set(found.map(({ id }) => id)).size, 52);
  const moments = found.slice(1).map(({ createdAt }) => Date.parse(createdAt));
  assert.deepEqual(
    moments,
    moments.toSorted((a, b) => b - a),
  );
  const [{ id, body, createdAt }] = found as [(typeof found)[0]];
  assert.equal(JSON.parse(body).ping.subscription_id, second.id);

  const ofSecond = { subscriptionId: second.id, type: 'PING' as const };
  const { attemptNumber, statusCode, reason } = await until(
    async () => (await collect(owner.webhooks.notifications({ ...ofSecond, status: 'pending' })))[0]?.lastAttempt,
    { what: 'an attempt of the ping' },
  );
  assert.deepEqual([attemptNumber, statusCode, reason], [1, null, 'connect']);
  for (const none of [{ status: 'delivered' as const }, { until: createdAt }, { since: new Date(Date.now() + 60_000) }])
    assert.deepEqual(await collect(owner.webhooks.notifications({ ...ofSecond, ...none })), []);
  assert.equal((await collect(owner.webhooks.notifications({ ...ofSecond, since: createdAt }))).length, 1);

  await owner.webhooks.redeliver(id);
  const since = new Date(Date.now() - 3_600_000);
  assert.equal(await owner.webhooks.replay(first.id, { since, until: new Date(), onlyFailed: true }), 0);
  assert.equal(await owner.webhooks.replay(first.id, { since: '2026-01-01T00:00:00Z' }), 0);
  const missing = '0f8fad5b-d9cb-469f-a165-70867728950e';
  const notFound = (error: unknown) => error instanceof LombardError && error.code === 'subscription_not_found';
  await assert.rejects(collect(owner.webhooks.notifications({ subscriptionId: missing })), notFound);
  await assert.rejects(owner.webhooks.replay(missing, { since }), notFound);
  await assert.rejects(
    owner.webhooks.redeliver(missing),
    (error) => (error as LombardError).code === 'notification_not_found',
  );
  for (const one of [first, second]) await owner.subscriptions.delete(one.id);
});

test('subscriptions are created, listed over several pages, changed, pinged, deleted', async () => {
  const given = {
    url: 'http://127.0.0.1:9/hook',
    types: ['PAYMENT_STATUS_CHANGE'] as const,
    secret: 'shh',
    extraHeaders: [{ name: 'x-tenant', value: 'a' }],
  };
  const created = await owner.subscriptions.create(given);
  const { id, createdAt, ...shown } = created;
  assert.deepEqual(shown, {
    ...given,
    clientId: world.clientId,
    contactId: world.contactId,
    active: false,
    disabledReason: null,
  });
  assert.ok(!Number.isNaN(Date.parse(createdAt)));
  assert.deepEqual(await owner.subscriptions.list(), [created]);
  const changed = await owner.subscriptions.update(id, { types: [], secret: 'new', previousSecretSeconds: 60 });
  assert.deepEqual(changed, { ...created, types: [], secret: 'new' });
  await owner.subscriptions.ping(id);

  const reader = await world.hire('reader', ['can_manage_payments']);
  const [seen] = await lombardOf(reader).subscriptions.list();
  assert.deepEqual([seen?.id, seen?.secret], [id, null]);
  await assert.rejects(lombardOf(reader).subscriptions.update(id, {}), refused(403, 'permission_denied'));
  await assert.rejects(lombardOf(reader).subscriptions.ping(id), refused(403, 'permission_denied'));

  for (let n = 0; n < 101; n += 1) await owner.subscriptions.create({ url: `http://127.0.0.1:9/${n}`, types: [] });
  const all = await owner.subscriptions.list();
  assert.deepEqual(
    all.map(({ url }) => url.split('/').at(-1)),
    ['hook', ...Array.from({ length: 101 }, (_, n) => String(n))],
  );
  await owner.subscriptions.delete(id);
  assert.equal((await owner.subscriptions.list()).length, 101);
  await assert.rejects(owner.subscriptions.delete(id), refused(200, 'subscription_not_found'));
  await assert.rejects(owner.subscriptions.create({ url: 'nowhere', types: [] }), (error: LombardError) =>
    /url/.test(error.details),
  );
});

test('any operation can be called, and any GraphQL document', async () => {
  const answer = await owner.call('GET /payments', { query: { page_size: 1 } });
  assert.equal(answer.status, 200);
  assert.equal(answer.body.length, 1);
  assert.ok(Number(answer.headers.get('x-total-count')) > 1);
  const config = await owner.call('GET /approvals-workflow/config');
  assert.equal(config.headers.get('x-configuration-version'), '2');
  const { webhookTypes } = await owner.graphql<{ webhookTypes: string[] }>('{ webhookTypes }');
  const types: Record<string, true> = {
    TRADE_STATUS_CHANGE: true,
    PAYMENT_STATUS_CHANGE: true,
    CREDIT_INCOMING_TRANSACTION: true,
    CREDIT_MARGIN_TRANSACTION: true,
    CREDIT_PAYMENT_RETURNED_TRANSACTION: true,
    CREDIT_TRANSACTION: true,
    DEBIT_TRANSACTION: true,
    ONBOARDING_STATUS_CHANGE: true,
    BENEFICIARY_STATUS_CHANGE: true,
    MASS_PAYMENT_STATUS_CHANGE: true,
    MASS_BENEFICIARY_STATUS_CHANGE: true,
  } satisfies Record<WebhookType, true>;
  assert.deepEqual(webhookTypes.toSorted(), Object.keys(types).sort());
});

test('tokens of a sign-in are refreshed at the authorization server, and used from then on', async () => {
  const application = await createApplication(service);
  const signedIn = await tokensOf(service, application, world);
  const tokens: TokenSet[] = [];
  const lombard = new Lombard({
    baseUrl: service.api,
    authUrl: service.auth,
    clientId: world.clientId,
    accessToken: 'spent',
    refreshToken: signedIn.refresh_token,
    application,
    onTokens: (set) => tokens.push(set),
  });
  await Promise.all([lombard.accounts.list(), lombard.approvals.settings(), lombard.subscriptions.list()]);
  assert.equal(tokens.length, 1);
  assert.notEqual(tokens[0]?.refreshToken, signedIn.refresh_token);
  const next = new Lombard({
    baseUrl: service.api,
    clientId: world.clientId,
    accessToken: tokens[0]?.accessToken ?? '',
  });
  await next.accounts.list();
  await assert.rejects(
    new Lombard({ baseUrl: service.api, clientId: world.clientId }).accounts.list(),
    refused(401, 'authentication_failed'),
  );
});
