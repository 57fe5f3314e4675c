import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Agent, request } from 'undici';
import { SANDBOX_CLIENT_SUBJECT } from '../../src/embedded/test-subject.ts';
import { accessToken } from '../world/access-token.ts';
import { createSubscriber } from '../world/graphql.ts';
import { pageSession } from '../world/page-session.ts';
import { call, startTestService, type TestService } from '../world/service.ts';
import { createApplication } from '../world/visitor.ts';

/** A UUID in capitals is the same UUID: in the paths, queries and bodies of every listener. */

let service: TestService;
let world: Awaited<ReturnType<typeof createSubscriber>>;
let token: string;
let certified: Agent;
before(async () => {
  service = await startTestService();
  world = await createSubscriber(service);
  const permissions = ['can_manage_webhooks', 'can_create_payments', 'can_manage_multipayments'];
  const clients = [{ client_id: world.clientId, permissions }];
  await good(operator('PATCH', `/contacts/${world.contactId}`, { clients }));
  const { id } = await createApplication(service, { certificate_subjects: [SANDBOX_CLIENT_SUBJECT] });
  token = await accessToken(service, world.contactId, undefined, { application: id });
  const file = (name: string) => readFileSync(join(service.config.dataDir, 'tls', name));
  certified = new Agent({ connect: { ca: file('ca.pem'), cert: file('client.pem'), key: file('client-key.pem') } });
  await operator('POST', '/currency-accounts', { client_id: world.clientId, currency: 'EUR' });
});
after(async () => {
  await certified.close();
  await service.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: a document of another standard, and what a test reads of an answer
type Json = any;
interface Answered {
  status: number;
  body: Json;
  text: string;
}
type Ask = (method: string, path: string, body?: object, headers?: Record<string, string>) => Promise<Answered>;

const operator: Ask = (method, path, body) => service.operator(method, path, body);
const asClient = (path: string) => `${path}${path.includes('?') ? '&' : '?'}client_id=${world.clientId}`;
const client: Ask = (method, path, body, headers = {}) =>
  service.client(token, method, asClient(path), { body, headers });
const trusted: Ask = async (method, path, body, headers = {}) => {
  const answer = await request(`${service.service.addresses.trusted}${asClient(path)}`, {
    method: method as 'GET',
    dispatcher: certified,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, text, body: text === '' ? undefined : JSON.parse(text) };
};

const upper = () => randomUUID().toUpperCase();

async function good(asked: Promise<Answered>): Promise<Json> {
  const { status, text, body } = await asked;
  assert.ok(status < 300, `${status} ${text}`);
  return body;
}

async function graphql(query: string): Promise<Json> {
  const answer = await world.graphql(query);
  assert.equal(answer.errors, undefined, answer.text);
  return answer.data;
}

const importPayment = (fields: object) =>
  call(`${service.operatorUrl}/imports/payments?notify=false`, 'POST', {
    raw: `${JSON.stringify({ ...world.base, ...fields })}\n`,
    token: service.operatorToken,
    headers: { 'content-type': 'application/x-ndjson' },
  });

/** Records whose UUID is given or told in capitals. */
const make = {
  async account(id = upper()): Promise<string> {
    const account = { client_id: world.clientId, currency: 'EUR', account_id: id };
    assert.equal((await good(operator('POST', '/accounts', account))).account_id, id.toLowerCase());
    return id;
  },
  async accountDetails(fields: object = {}): Promise<string> {
    const route = { account_number: 'GB33BUKB20201555555555', account_number_type: 'IBAN' };
    const bank = { country: 'GB', financial_institution_name: 'Bank', account_holder_name: 'Ashdown Ltd' };
    const given = { client_id: world.clientId, currency: 'EUR', ...bank, international: route, ...fields };
    return (await good(operator('POST', '/account-details', given))).account_details_id.toUpperCase();
  },
  /** @returns its path */
  async statementFile(): Promise<string> {
    const id = await make.account();
    const period = { from_value_datetime: '2026-01-01T00:00:00Z', to_value_datetime: '2026-01-31T00:00:00Z' };
    const { url } = await good(client('POST', `/accounts/${id}/statements/file?format=csv`, period));
    return new URL(url).pathname.replace(/\/accounts\/[^/]+/, `/accounts/${id}`);
  },
  async mass(id = upper()): Promise<string> {
    const instruction = { client_id: world.clientId, mass_beneficiary_id: id };
    assert.equal(
      (await good(operator('POST', '/mass-beneficiaries', instruction))).mass_beneficiary_id,
      id.toLowerCase(),
    );
    return id;
  },
  async multipayment(id = upper(), massPaymentId = upper()): Promise<string> {
    const { client_id, contact_id, trade_id: _, ...payment } = world.base;
    const trade = { buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: 500, rate: 1.17 };
    const payments = [{ ...payment, trade: 0, mass_payment_id: massPaymentId }];
    const multi = { client_id, contact_id, multipayment_unique_id: id, trades: [trade], payments };
    assert.equal((await good(operator('POST', '/multipayments', multi))).multipayment_unique_id, id.toLowerCase());
    return id;
  },
  async massPayment(id = upper()): Promise<string> {
    assert.equal((await world.pay({ mass_payment_id: id })).status, 201);
    return id;
  },
  /** A file that was judged. */
  async file(): Promise<string> {
    const id = upper();
    await service.query(
      `insert into mass_payments (mass_payment_id, client_id, external_reference_id, status, auto_commit, sell_currency, reason, created_by,
         created_at, received) values ($1, $2, $4, 'Processed', false, 'EUR', 'other', $3, now(), 0)`,
      [id, world.clientId, world.contactId, id],
    );
    return id;
  },
  async payment(): Promise<string> {
    return (await world.pay()).body.uuid.toUpperCase();
  },
  async subscription(fields: object = {}): Promise<string> {
    return (await world.subscribe(fields)).toUpperCase();
  },
  async notification(): Promise<string> {
    const subscription = await world.subscribe({ active: true });
    await world.history(subscription, 1);
    const { rows } = await service.query('select id from notifications where subscription_id = $1', [subscription]);
    return rows[0].id.toUpperCase();
  },
  async stream(): Promise<string> {
    const made = '{subscription: {types: [TRADE_STATUS_CHANGE], delivery: STREAM}}';
    const data = await graphql(`mutation { createSubscription(input: ${made}) { subscription { id } } }`);
    return data.createSubscription.subscription.id.toUpperCase();
  },
  async statement(): Promise<string> {
    const period = { date_from: '2026-01-01', date_to: '2026-01-31' };
    const { headers } = await service.client(token, 'POST', asClient('/statements/accounts'), { body: period });
    return new URL(headers.get('location') as string).pathname.split('/').at(-1)?.toUpperCase() ?? '';
  },
  async importId(): Promise<string> {
    const { headers } = await importPayment({});
    return (headers.get('import-id') as string).toUpperCase();
  },
  async operatorToken(): Promise<string> {
    return (await good(operator('POST', '/operator-tokens', { name: randomUUID(), role: 'core' }))).id.toUpperCase();
  },
  async erasure(): Promise<string> {
    const { contactId } = await world.hire('Erased', { status: 'disabled' });
    return (await good(operator('POST', `/contacts/${contactId}/erase`))).erasure_id.toUpperCase();
  },
};

const shows = async (ask: Ask, list: string, count: number) =>
  assert.equal((await good(ask('GET', list))).length, count, list);
const reads = (ask: Ask, path: (id: string) => string, record: keyof typeof make) => async () =>
  good(ask('GET', path(await make[record]())));

/** The operations of the client API that take a UUID; the trusted address has them too. */
const clientSends = (ask: Ask): Record<string, () => Promise<unknown>> => ({
  'GET /accounts/{account_id} path.account_id': reads(ask, (id) => `/accounts/${id}`, 'account'),
  'GET /accounts/{account_id}/balances path.account_id': reads(ask, (id) => `/accounts/${id}/balances`, 'account'),
  'GET /accounts/{account_id}/transactions path.account_id': reads(
    ask,
    (id) => `/accounts/${id}/transactions`,
    'account',
  ),
  'GET /accounts/{account_id}/transactions/{transaction_id} path.account_id': async () => {
    const { body } = await ask('GET', `/accounts/${await make.account()}/transactions/none`);
    assert.equal(body.code, 'transaction_not_found');
  },
  'POST /accounts/{account_id}/statements/file path.account_id': make.statementFile,
  'GET /accounts/{account_id}/statements/{statement_id}/file path.account_id': async () =>
    good(client('GET', await make.statementFile())),
  'GET /trades query.mass_payment_id': async () => shows(ask, `/trades?mass_payment_id=${upper()}`, 0),
  'GET /payments query.mass_payment_id': async () =>
    shows(ask, `/payments?mass_payment_id=${await make.massPayment()}`, 1),
  'GET /mass-payments query.mass_payment_id': async () =>
    shows(ask, `/mass-payments?mass_payment_id=${await make.file()}`, 1),
  'GET /mass-payments/{mass_payment_id} path.mass_payment_id': reads(ask, (id) => `/mass-payments/${id}`, 'file'),
  'GET /mass-payments/{mass_payment_id}/errors path.mass_payment_id': reads(
    ask,
    (id) => `/mass-payments/${id}/errors`,
    'file',
  ),
  'GET /mass-payments/{mass_payment_id}/payments-received path.mass_payment_id': reads(
    ask,
    (id) => `/mass-payments/${id}/payments-received`,
    'file',
  ),
  'DELETE /mass-payments/{mass_payment_id} path.mass_payment_id': async () =>
    good(ask('DELETE', `/mass-payments/${await make.file()}`)),
  'POST /mass-payments/{mass_payment_id}/confirm path.mass_payment_id': async () =>
    good(ask('POST', `/mass-payments/${await make.file()}/confirm`)),
  'POST /mass-payments/{mass_payment_id}/challenges path.mass_payment_id': async () => {
    const { body } = await ask('POST', `/mass-payments/${await make.file()}/challenges`);
    assert.equal(body.code, 'second_factor_missing');
  },
  ...Object.fromEntries(
    ['', '/errors', '/beneficiaries'].map((path) => [
      `GET /mass-beneficiaries/{mass_beneficiary_id}${path} path.mass_beneficiary_id`,
      reads(ask, (id) => `/mass-beneficiaries/${id}${path}`, 'mass'),
    ]),
  ),
  'GET /statements/requests/{id} path.id': reads(ask, (id) => `/statements/requests/${id}`, 'statement'),
  'POST /webhooks/ping/{subscription_id} path.subscription_id': async () =>
    good(ask('POST', `/webhooks/ping/${await make.subscription()}`)),
  'GET /webhooks/stream query.subscription_id': async () => {
    // The stream is found, and so its cursor is looked at; an open stream would not end.
    const path = `/webhooks/stream?subscription_id=${await make.stream()}`;
    const { status, text, body } = await ask('GET', path, undefined, { 'last-event-id': 'unknown' });
    assert.equal(status, 400, text);
    assert.match(body.details, /^header\.Last-Event-ID:/);
  },
});

const operatorSends: Record<string, () => Promise<unknown>> = {
  'DELETE /operator-tokens/{id} path.id': async () =>
    good(operator('DELETE', `/operator-tokens/${await make.operatorToken()}`)),
  'GET /erasures/{erasure_id} path.erasure_id': reads(operator, (id) => `/erasures/${id}`, 'erasure'),
  'POST /payments body.mass_payment_id': make.massPayment,
  'GET /payments query.uuid': async () => shows(operator, `/payments?uuid=${await make.payment()}`, 1),
  'GET /payments query.mass_payment_id': async () => {
    const id = await make.massPayment();
    await shows(operator, `/payments?client_id=${world.clientId}&mass_payment_id=${id}`, 1);
  },
  'GET /mass-payments query.mass_payment_id': async () =>
    shows(operator, `/mass-payments?mass_payment_id=${await make.file()}`, 1),
  'GET /mass-payments/{mass_payment_id} path.mass_payment_id': reads(operator, (id) => `/mass-payments/${id}`, 'file'),
  'GET /mass-payments/{mass_payment_id}/errors path.mass_payment_id': reads(
    operator,
    (id) => `/mass-payments/${id}/errors`,
    'file',
  ),
  'POST /multipayments body.multipayment_unique_id': make.multipayment,
  'POST /multipayments body.payments[].mass_payment_id': async () => {
    const id = upper();
    await make.multipayment(undefined, id);
    await shows(client, `/payments?mass_payment_id=${id}`, 1);
  },
  'POST /mass-beneficiaries body.mass_beneficiary_id': make.mass,
  'GET /mass-beneficiaries/{mass_beneficiary_id} path.mass_beneficiary_id': reads(
    operator,
    (id) => `/mass-beneficiaries/${id}`,
    'mass',
  ),
  'PATCH /mass-beneficiaries/{mass_beneficiary_id} path.mass_beneficiary_id': async () => {
    const errors = [{ code: 'c', message: 'm', details: 'd', request_index: 1 }];
    await good(operator('PATCH', `/mass-beneficiaries/${await make.mass()}`, { status: 'processing', errors }));
  },
  'POST /accounts body.account_id': make.account,
  'GET /accounts/{account_id} path.account_id': reads(operator, (id) => `/accounts/${id}`, 'account'),
  'PATCH /accounts/{account_id} path.account_id': async () =>
    good(operator('PATCH', `/accounts/${await make.account()}`, { status: 'Disabled' })),
  'POST /account-details body.account_id': async () => {
    const account_id = await make.account();
    const id = await make.accountDetails({ account_id });
    assert.equal((await good(operator('GET', `/account-details/${id}`))).account_id, account_id.toLowerCase());
  },
  'GET /account-details/{account_details_id} path.account_details_id': reads(
    operator,
    (id) => `/account-details/${id}`,
    'accountDetails',
  ),
  'PATCH /account-details/{account_details_id} path.account_details_id': async () =>
    good(operator('PATCH', `/account-details/${await make.accountDetails()}`, { status: 'pending' })),
  'PATCH /account-details/{account_details_id} body.account_id': async () => {
    const account_id = await make.account();
    await good(operator('PATCH', `/account-details/${await make.accountDetails()}`, { account_id }));
  },
  'GET /imports/{import_id} path.import_id': reads(operator, (id) => `/imports/${id}`, 'importId'),
  'POST /subscriptions/{id}/replay path.id': async () =>
    good(operator('POST', `/subscriptions/${await make.subscription()}/replay`, { since: '2026-01-01T00:00:00Z' })),
  'GET /notifications query.subscription_id': async () => {
    const id = await make.subscription();
    await world.history(id, 2);
    await shows(operator, `/notifications?subscription_id=${id}`, 2);
  },
  'GET /notifications/{id} path.id': reads(operator, (id) => `/notifications/${id}`, 'notification'),
  'POST /notifications/{id}/redeliver path.id': async () =>
    good(operator('POST', `/notifications/${await make.notification()}/redeliver`)),
  'GET /statements/{id} path.id': reads(operator, (id) => `/statements/${id}`, 'statement'),
  'POST /statements/{id}/send path.id': async () => {
    const id = await make.statement();
    await service.query("update statement_deliveries set status = 'failed' where statement_id = $1", [id]);
    await good(operator('POST', `/statements/${id}/send`));
  },
};

const changes = (name: string, fields: (id: string) => string, record: 'subscription' | 'notification') => async () =>
  graphql(`mutation { ${name}(input: {${fields(await make[record]())}}) { clientMutationId } }`);
/** What a filter of GraphQL finds by an id in capitals, which is what it finds by the same one in lower case. */
const filters =
  (operation: string, list = false) =>
  async () => {
    const id = await make.subscription();
    const count = async (value: string) => {
      const filter = `{id: {${operation}: ${list ? `["${value}"]` : `"${value}"`}}}`;
      return (await graphql(`{ subscriptions(filter: ${filter}) { totalCount } }`)).subscriptions.totalCount;
    };
    assert.equal(await count(id), await count(id.toLowerCase()));
  };
const ORDERED = ['lessThan', 'lessThanOrEqualTo', 'greaterThan', 'greaterThanOrEqualTo'];
const graphqlSends: Record<string, () => Promise<unknown>> = {
  ...Object.fromEntries(['equalTo', 'notEqualTo', ...ORDERED].map((name) => [`UUIDFilter.${name}`, filters(name)])),
  ...Object.fromEntries(['in', 'notIn'].map((name) => [`UUIDFilter.${name}`, filters(name, true)])),
  'UpdateSubscriptionInput.id': changes(
    'updateSubscription',
    (id) => `id: "${id}", patch: {active: true}`,
    'subscription',
  ),
  'DeleteSubscriptionInput.id': changes('deleteSubscription', (id) => `id: "${id}"`, 'subscription'),
  'RedeliverNotificationInput.id': changes('redeliverNotification', (id) => `id: "${id}"`, 'notification'),
  'ReplayNotificationsInput.subscriptionId': changes(
    'replayNotifications',
    (id) => `subscriptionId: "${id}", since: "2026-01-01T00:00:00Z"`,
    'subscription',
  ),
};

const isUuid = (schema: Json): boolean => schema?.format === 'uuid' || (schema?.anyOf?.some(isUuid) ?? false);

/** The places of a body's schema that take a UUID. */
function* uuidsIn(document: Json, given: Json, place: string): Generator<string> {
  const schema = given?.$ref ? document.components.schemas[given.$ref.split('/').at(-1)] : given;
  if (isUuid(schema)) yield place;
  if (schema?.items) yield* uuidsIn(document, schema.items, `${place}[]`);
  for (const [name, inner] of Object.entries(schema?.properties ?? {}))
    yield* uuidsIn(document, inner, `${place}.${name}`);
}

/** The places of a listener's operations that take a UUID, as its description says. */
async function described(address: string): Promise<string[]> {
  const { body: document } = await call(`${address}/openapi.json`, 'GET');
  const found: string[] = [];
  for (const [path, item] of Object.entries<Json>(document.paths))
    for (const [method, operation] of Object.entries<Json>(item)) {
      const at = `${method.toUpperCase()} ${path}`;
      for (const { in: place, name, schema, description = '' } of operation.parameters ?? []) {
        if (isUuid(schema)) found.push(`${at} ${place}.${name}`);
        else assert.doesNotMatch(description, /UUID/, `${at} ${name}: has no format`);
      }
      for (const { schema } of Object.values<Json>(operation.requestBody?.content ?? {}))
        for (const place of uuidsIn(document, schema, 'body')) found.push(`${at} ${place}`);
    }
  return found.sort();
}

const LISTENERS: [string, () => string, Ask, Record<string, () => Promise<unknown>>][] = [
  ['operator interface', () => service.operatorUrl, operator, operatorSends],
  ['client API', () => service.api, client, clientSends(client)],
  ['trusted address', () => service.api, trusted, clientSends(trusted)],
  ['authorization server', () => service.auth, operator, {}],
];

for (const [name, address, ask, sends] of LISTENERS)
  describe(name, () => {
    test('every UUID of its description is sent below', async () => {
      assert.deepEqual(await described(address()), Object.keys(sends).sort());
    });
    for (const [place, send] of Object.entries(sends)) test(`${place} in capitals`, async () => void (await send()));

    test('a path whose text is no UUID names nothing, as one whose UUID is unknown: 404', async () => {
      for (const place of Object.keys(sends)) {
        const [, method = '', path = ''] = /^(\w+) (\S+) path\./.exec(place) ?? [];
        if (path === '') continue;
        const since = '2026-01-01T00:00:00Z';
        const needed = path.endsWith('/replay')
          ? { since }
          : path.endsWith('/file')
            ? { from_value_datetime: since }
            : {};
        const body = method === 'GET' ? undefined : needed;
        const answers = [randomUUID(), 'x', '%00', `${randomUUID()}0`].map(async (id) => {
          const answer = await ask(method, path.replace(/\{\w+\}/, id), body);
          return [answer.status, answer.body.code];
        });
        const [unknown, ...others] = await Promise.all(answers);
        // Whoever has no second factor is told so before anything else.
        assert.equal(unknown?.[0], path.endsWith('/challenges') ? 403 : 404, place);
        for (const other of others) assert.deepEqual(other, unknown, place);
      }
    });
  });

describe('GraphQL', () => {
  test('every UUID of its schema is sent below', async () => {
    const { text } = await call(`${service.api}/webhooks/graphql/schema.graphql`, 'GET');
    const inputs = [...text.matchAll(/^input (\w+)[^{]*\{([^}]*)\}/gm)];
    const found = inputs.flatMap(([, input, fields = '']) =>
      [...fields.matchAll(/^ {2}(\w+): \[?UUID\b/gm)].map(([, field]) => `${input}.${field}`),
    );
    assert.deepEqual(found.sort(), Object.keys(graphqlSends).sort());
    assert.doesNotMatch(text, /\w+\([^)]*: UUID\b/, 'an argument of its own');
  });
  for (const [place, send] of Object.entries(graphqlSends))
    test(`${place} in capitals`, async () => void (await send()));
});

describe('what no description has', () => {
  test('a line of an import', async () => {
    const uetr = upper();
    const massId = upper();
    const { body } = await importPayment({ uuid: uetr, mass_payment_id: massId });
    assert.equal(body.accepted, 1, JSON.stringify(body));
    await shows(operator, `/payments?uuid=${uetr}`, 1);
    await shows(client, `/payments?mass_payment_id=${massId}`, 1);
    const again = { ...world.base, uuid: uetr.toLowerCase() };
    const { body: second } = await importPayment(again);
    assert.equal(second.errors[0].code, 'already_exists');
  });

  test('a multi payment by its UUID, where a number may stand', async () => {
    await good(client('DELETE', `/multipayments/${await make.multipayment()}`));
  });

  test('the data of the pages', async () => {
    const { call: page } = await pageSession(service, world.contactId);
    const found = await page('GET', asClient(`/app/data/receiver-health?subscription_id=${await make.subscription()}`));
    assert.equal(found.status, 200, found.text);
    const { body: sessions } = await page('GET', '/app/sessions');
    assert.equal((await page('DELETE', `/app/sessions/${sessions[0].id.toUpperCase()}`)).status, 204);
  });

  test('and nothing is written in capitals', async () => {
    for (const table of ['audit', 'change_versions']) {
      const { rows } = await service.query(`select entity_id from ${table} where entity_id ~ '[0-9A-F]{8}-.*[A-F]'`);
      assert.deepEqual(rows, [], table);
    }
  });
});
