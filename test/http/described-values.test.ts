import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ensureDemonstration } from '../../src/sandbox/demonstration/demonstration.ts';
import { DEMO_APPLICATION } from '../../src/sandbox/demonstration/institution.ts';
import { accessToken } from '../world/access-token.ts';
import { type Answer, call, startTestService, type TestService } from '../world/service.ts';

/** A value is refused by the service where its description refuses it, and nowhere else. */

let service: TestService;
let token: string;
before(async () => {
  service = await startTestService();
  await ensureDemonstration(service.service.context);
  token = await accessToken(service, 'CON000001');
});
after(() => service.stop());

// biome-ignore lint/suspicious/noExplicitAny: a document of another standard
type Json = any;

const DAY = /^(\d{4})-(\d{2})-(\d{2})/;
const isDay = (text: string) => {
  const [, year = 0, month = 0, day = 0] = (DAY.exec(text) ?? []).map(Number);
  const date = new Date(Date.UTC(year, month - 1, day));
  return year > 99 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
};
const formats = {
  date: (text: string) => text.length === 10 && isDay(text),
  uri: (text: string) => /^[a-z][a-z0-9+.-]*:[!-~]+$/.test(text),
  'date-time': (text: string) => isDay(text) && /^.{10}T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text),
};

interface Described {
  listener: 'api' | 'auth' | 'operatorUrl';
  operation: string;
  /** The schema of the value, in an operation. */
  schema: (operation: Json, document: Json) => Json;
  ask: (value: never) => Promise<Answer>;
  values: unknown[];
}

const inQuery = (name: string) => (operation: Json) =>
  operation.parameters.find((each: Json) => each.name === name).schema;
const inBody = (read: (body: Json) => Json) => (operation: Json, document: Json) => {
  const [{ schema }] = Object.values<Json>(operation.requestBody.content);
  return read(schema.$ref ? document.components.schemas[schema.$ref.split('/').at(-1)] : schema);
};
const client = (method: string, path: string, body?: unknown) =>
  call(`${service.api}${path}${path.includes('?') ? '&' : '?'}client_id=CLI000001`, method, {
    token,
    ...(body ? { body } : {}),
  });
const rates = (rest: object) =>
  service.operator('PUT', '/exchange-rates', { base_currency: 'GBP', rates: { USD: 1 }, ...rest });

const DAYS = ['2026-01-05', '2024-02-29', '2026-02-29', '2026-13-01', '0000-00-00', '2026-1-5', '', 5];
const MOMENTS = [
  '2026-07-01T10:15:00Z',
  '2026-07-01T10:15:00.5+01:00',
  '2026-02-30T10:15:00Z',
  '2026-07-01T10:15:00',
  'now',
  '',
];
const ADDRESSES = [
  'https://a.example/x?y=%C3%8F',
  'https://\u00cf',
  'https://a.example/a b',
  'https://a.example/\u00e9',
  'a.example',
];
const AMOUNTS = [250.5, 0.1, 1, 0, -1, 1e18, true];
const RATES = [
  1.25,
  '1.25',
  '0.10',
  '0.000000000001',
  '1'.repeat(18),
  '1'.repeat(19),
  '0',
  '0.00',
  '-1',
  'x',
  '',
  `1.${'1'.repeat(13)}`,
  0,
  -1,
];

const rows: Record<string, Described> = {
  'ids in a query': {
    listener: 'api',
    operation: 'get /payments',
    schema: inQuery('payment_ids'),
    ask: (value: string) => client('GET', `/payments?payment_ids=${encodeURIComponent(value)}`),
    values: ['PAY000001', 'PAY000001, PAY000002', 'what else', '', ' ', ',', 'a,,b', 'a,'],
  },
  'currencies in a query': {
    listener: 'api',
    operation: 'get /payments',
    schema: inQuery('payment_currency'),
    ask: (value: string) => client('GET', `/payments?payment_currency=${encodeURIComponent(value)}`),
    values: ['EUR', 'EUR, USD', 'eur', 'EURUSD', '', 'EUR,'],
  },
  'a day in a query': {
    listener: 'api',
    operation: 'get /payments',
    schema: inQuery('from_payment_date'),
    ask: (value: string) => client('GET', `/payments?from_payment_date=${value}`),
    values: DAYS,
  },
  'a day in a body': {
    listener: 'api',
    operation: 'post /statements/accounts',
    schema: inBody((body) => body.properties.date_from),
    ask: (value: string) => client('POST', '/statements/accounts', { date_from: value, date_to: value }),
    values: DAYS,
  },
  'a day of a payment': {
    listener: 'api',
    operation: 'post /sandbox/payments',
    schema: inBody((body) => body.properties.payment_date),
    ask: (value: string) => client('POST', '/sandbox/payments', { payment_date: value }),
    values: DAYS,
  },
  'an amount in the sandbox': {
    listener: 'api',
    operation: 'post /sandbox/payments',
    schema: inBody((body) => body.properties.amount),
    ask: (value: number) => client('POST', '/sandbox/payments', { amount: value }),
    values: AMOUNTS,
  },
  'a document of GraphQL': {
    listener: 'api',
    operation: 'post /webhooks/graphql',
    schema: inBody((body) => body.properties.query),
    ask: (value: string) => client('POST', '/webhooks/graphql', { query: value }),
    values: ['{ webhookTypes }', '', 7],
  },
  'the operation of a document': {
    listener: 'api',
    operation: 'post /webhooks/graphql',
    schema: inBody((body) => body.properties.operationName),
    ask: (value: string) =>
      client('POST', '/webhooks/graphql', { query: 'query all { webhookTypes }', operationName: value }),
    values: ['all', null, '', 7],
  },
  'sample amounts that nobody asks about': {
    listener: 'api',
    operation: 'post /approvals-workflow/config',
    schema: inBody((body) => body.properties.sample_amounts),
    ask: (value: unknown) =>
      client('POST', '/approvals-workflow/config', {
        groups: [{ name: 'A', users: [{ id: 'CON000001' }, { id: 'CON000003' }] }],
        ruleset: { currency: 'GBP', rules: [{ minimum_threshold: 0, groups: [{ one_of: [{ all_of: ['A'] }] }] }] },
        sample_amounts: value,
      }),
    values: [[1], ['1.50', { amount: 2, currency: 'EUR' }], ['x'], [-1], [{ currency: 'EUR' }], 7],
  },
  'an instant or a day in a query': {
    listener: 'operatorUrl',
    operation: 'get /transactions',
    schema: inQuery('from'),
    ask: (value: string) =>
      service.operator('GET', `/transactions?client_id=CLI000001&from=${encodeURIComponent(value)}`),
    values: [...MOMENTS, ...DAYS],
  },
  'an instant in a body': {
    listener: 'operatorUrl',
    operation: 'put /exchange-rates',
    schema: inBody((body) => body.properties.as_of),
    ask: (value: string) => rates({ as_of: value }),
    values: [...MOMENTS, '2026-07-01'],
  },
  'a rate': {
    listener: 'operatorUrl',
    operation: 'put /exchange-rates',
    schema: inBody((body) => body.properties.rates),
    ask: (value: unknown) => rates({ rates: value }),
    values: [...RATES.map((rate) => ({ USD: rate })), {}, { USD: 1, usd: 1 }],
  },
  'an address for statements': {
    listener: 'operatorUrl',
    operation: 'patch /clients/{client_id}',
    schema: inBody((body) => body.properties.statement_push_url),
    ask: (value: string) => service.operator('PATCH', '/clients/CLI000001', { statement_push_url: value }),
    values: ADDRESSES,
  },
  'addresses of an application': {
    listener: 'operatorUrl',
    operation: `patch /applications/{client_id}`,
    schema: inBody((body) => body.properties.post_logout_redirect_uris),
    ask: (value: unknown) => service.operator('PATCH', '/applications/demo-app', { post_logout_redirect_uris: value }),
    values: ADDRESSES.map((address) => [address]),
  },
  'a reason': {
    listener: 'operatorUrl',
    operation: 'put /fx-availability',
    schema: inQuery('X-Reason'),
    ask: (value: string) =>
      call(`${service.operatorUrl}/fx-availability`, 'PUT', {
        token: service.operatorToken,
        body: { mode: 'open' },
        headers: { 'x-reason': value },
      }),
    values: [
      'a reason',
      'caf%C3%A9',
      '%E4%B8%AD'.repeat(500),
      'x'.repeat(501),
      '%FF',
      '%',
      '%00',
      '%C3',
      '%ED%A0%80',
      '%F0%9F%99%82',
      'caf\u00e9',
    ],
  },
  'a field of a form': {
    listener: 'auth',
    operation: 'post /revoke',
    schema: inBody((body) => body.properties.token),
    ask: (value: string) =>
      call(`${service.auth}/revoke`, 'POST', {
        raw: new URLSearchParams({ token: value }).toString(),
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          authorization: `Basic ${btoa(`${DEMO_APPLICATION.client_id}:${DEMO_APPLICATION.client_secret}`)}`,
        },
      }),
    values: ['unknown', '', 'two\nlines', 'x'.repeat(4_096), 'x'.repeat(4_097)],
  },
};

for (const [name, { listener, operation: place, schema, ask, values }] of Object.entries(rows)) {
  test(`the service refuses what its description does: ${name}`, async () => {
    const { body: document } = await call(`${service[listener]}/openapi.json`, 'GET');
    const [method = '', path = ''] = place.split(' ');
    const found = schema(document.paths[path][method], document);
    const ajv = new Ajv2020({ strict: false, formats });
    ajv.addSchema({ $id: 'document', ...document });
    const described = ajv.compile(JSON.parse(JSON.stringify(found).replaceAll('"#/', '"document#/')));
    for (const value of values) {
      const answer = await ask(value as never);
      assert.ok([200, 201, 202, 400].includes(answer.status), `${value}: ${answer.status} ${answer.text}`);
      assert.equal(
        described(value),
        answer.status !== 400,
        `${String(value).slice(0, 40)}: ${answer.status} ${answer.text}`,
      );
    }
  });
}

test('a page past the end of any list is empty, however far', async () => {
  const lists: string[] = [];
  for (const [listener, bearer] of [
    ['api', token],
    ['operatorUrl', service.operatorToken],
  ] as const) {
    const { body: document } = await call(`${service[listener]}/openapi.json`, 'GET');
    for (const [path, { get }] of Object.entries<Json>(document.paths)) {
      const names: string[] = (get?.parameters ?? []).map((each: Json) => each.name);
      // The trail is read on by its positions, and says so.
      if (!names.includes('page') || path.includes('{') || path === '/audit') continue;
      lists.push(path);
      const needed = names.includes('currencies') ? '&currencies=EUR' : '';
      const of = (names.includes('client_id') ? '&client_id=CLI000001' : '') + needed;
      const answer = await call(`${service[listener]}${path}?page=2147483647&page_size=1000${of}`, 'GET', {
        token: bearer,
      });
      assert.deepEqual([answer.status, answer.body], [200, []], `${path}: ${answer.text}`);
    }
  }
  assert.ok(lists.length > 20, lists.join());
});
