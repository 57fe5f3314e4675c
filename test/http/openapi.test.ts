import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { STATUS } from '../../src/http/schemas/problem.ts';
import { MESSAGES } from '../../src/values/errors.ts';
import { TYPE_NAMES } from '../../src/webhooks/notification.ts';
import { call, startTestService, type TestService } from '../world/service.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

// biome-ignore lint/suspicious/noExplicitAny: a document of another standard
type Json = any;

const documents = {
  'client API': () => call(`${service.api}/openapi.json`, 'GET'),
  'operator interface': () => call(`${service.operatorUrl}/openapi.json`, 'GET'),
};
const everyDocument = { ...documents, 'authorization server': () => call(`${service.auth}/openapi.json`, 'GET') };
const METHODS = ['get', 'put', 'post', 'patch', 'delete'];

function* operations(document: Json): Generator<[string, Json]> {
  for (const [path, item] of Object.entries<Json>(document.paths)) {
    for (const method of METHODS) if (item[method]) yield [`${method.toUpperCase()} ${path}`, item[method]];
  }
}

const resolve = (document: Json, value: Json): Json =>
  value?.$ref
    ? value.$ref
        .slice(2)
        .split('/')
        .reduce((at: Json, key: string) => at[key], document)
    : value;

for (const [name, read] of Object.entries(documents)) {
  test(`${name}: every operation has a name of its own, a summary, a tag and a success answer`, async () => {
    const { body: document } = await read();
    const names = [...operations(document)].map(([, operation]) => operation.operationId);
    assert.equal(new Set(names).size, names.length);
    for (const [place, operation] of operations(document)) {
      assert.match(operation.operationId ?? '', /^[a-z][A-Za-z]+$/, place);
      assert.ok(operation.summary && operation.description, place);
      const tag = document.tags.find((each: Json) => each.name === operation.tags?.[0]);
      assert.ok(tag?.description, `${place}: its tag has no description`);
      const success = Object.entries<Json>(operation.responses).filter(([status]) => status.startsWith('2'));
      assert.ok(success.length > 0, `${place}: has no success answer`);
      for (const [status, answer] of success) {
        if (status === '204' || place === 'GET /ping') assert.equal(answer.content, undefined, place);
        else assert.ok(Object.values<Json>(answer.content ?? {})[0]?.schema, `${place}: ${status} has no body`);
      }
    }
  });

  test(`${name}: every error status has its codes, each with an example of its own`, async () => {
    const { body: document } = await read();
    for (const [place, operation] of operations(document)) {
      const open = operation.security?.length === 0;
      for (const [status, answer] of Object.entries<Json>(operation.responses)) {
        if (status === '503') continue; // Readiness says why in a body of its own.
        assert.ok(resolve(document, answer.headers?.['x-request-id']), `${place}: ${status}`);
        if (status.startsWith('2')) continue;
        const examples = answer.content?.['application/json']?.examples ?? {};
        assert.ok(Object.keys(examples).length > 0, `${place}: ${status} has no code`);
        for (const [code, example] of Object.entries<Json>(examples)) {
          assert.equal(example.value.code, code, place);
          assert.equal(STATUS[code as keyof typeof STATUS], Number(status), place);
          assert.equal(example.value.message, MESSAGES[code as keyof typeof MESSAGES]);
        }
      }
      if (open) continue;
      const parsed = operation.requestBody ? ['400', '413', '415'] : [];
      for (const status of ['401', '429', '502', ...parsed])
        assert.ok(operation.responses[status], `${place}: has no ${status}`);
      assert.ok(operation.responses['429'].headers['Retry-After'], place);
    }
  });

  test(`${name}: every example is one of its schema`, async () => {
    const { body: document } = await read();
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'document', ...document });
    let checked = 0;
    // Nearly all schemas are components: each is compiled once.
    const compiled = new Map<string, ValidateFunction>();
    const check = (pointer: string, schema: Json, example: Json, place: string) => {
      const target: string = schema.$ref ?? `#${pointer}`;
      const validate = compiled.get(target) ?? ajv.compile({ $ref: `document${target}` });
      compiled.set(target, validate);
      assert.ok(validate(example), `${place}: ${ajv.errorsText(validate.errors)}`);
      checked += 1;
    };
    const walk = (value: Json, pointer: string) => {
      if (typeof value !== 'object' || value === null) return;
      if (value.schema && 'example' in value) check(`${pointer}/schema`, value.schema, value.example, pointer);
      if (value.schema)
        for (const [code, each] of Object.entries<Json>(value.examples ?? {}))
          check(`${pointer}/schema`, value.schema, each.value, `${pointer} ${code}`);
      if (Array.isArray(value.examples) && value.type)
        for (const each of value.examples) check(pointer, value, each, pointer);
      for (const [key, inner] of Object.entries(value)) {
        if (key !== 'example' && key !== 'examples' && key !== 'default')
          walk(inner, `${pointer}/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`);
      }
    };
    walk(document, '');
    assert.ok(checked > 50, `${checked} examples`);
  });
}

/** Whether a schema has fields that nobody could name in a program: those of an object, also within a list or a choice. */
function isNameless(schema: Json): boolean {
  if (schema.$ref) return false;
  if (schema.type === 'array') return isNameless(schema.items);
  return [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].some(isNameless) || Boolean(schema.properties);
}

for (const [name, read] of Object.entries(everyDocument)) {
  test(`${name}: every JSON body of fields is a schema with a name`, async () => {
    const { body: document } = await read();
    const nameless: string[] = [];
    for (const [place, operation] of operations(document))
      for (const [what, { content }] of [
        ['request', operation.requestBody ?? {}],
        ...Object.entries(operation.responses),
      ])
        if (isNameless(content?.['application/json']?.schema ?? {})) nameless.push(`${place}: ${what}`);
    assert.deepEqual(nameless, []);
  });

  test(`${name}: the list of error codes is open, so that a new one breaks no strict client`, async () => {
    const { ErrorMessage, OAuthError } = (await read()).body.components.schemas;
    const code = ErrorMessage?.properties.code ?? OAuthError.properties.error;
    const validate = new Ajv2020({ strict: false }).compile(code);
    assert.ok(validate('of_a_later_version'));
    assert.ok(!validate(7));
    const known = code.anyOf?.find((each: Json) => each.enum)?.enum;
    assert.ok(known?.includes(ErrorMessage ? 'payment_not_found' : 'invalid_grant'));
  });
}

test('the body of an order is described with the nulls that count as left out', async () => {
  const { body: document } = await documents['client API']();
  const accepts = (method: string, path: string, body: object): boolean => {
    const { schema } = document.paths[path][method].requestBody.content['application/json'];
    return new Ajv2020({ strict: false, logger: false }).validate({ ...schema, components: document.components }, body);
  };
  const payment = { beneficiary_id: 'BEN1', amount: 1, payment_date: '2026-12-01', reference: 'Rent', charges: null };
  assert.ok(accepts('post', '/beneficiaries/search', { iban: null }));
  assert.ok(accepts('post', '/payments', { trade_id: 'TRD1', quote_id: null, payments: [payment] }));
  assert.ok(!accepts('post', '/payments', { trade_id: 'TRD1', payments: null }));
  assert.ok(!accepts('post', '/payments', { trade_id: 'TRD1', payments: [{ ...payment, amount: null }] }));
  assert.ok(!accepts('patch', '/payments/{payment_id}', { reason: null }));
});

test('the client API names its schemas, operations and security schemes as a programmer would', async () => {
  const { body: document } = await documents['client API']();
  for (const name of ['Payment', 'Trade', 'Account', 'CurrencyAccount', 'Transaction', 'ErrorMessage'])
    assert.ok(document.components.schemas[name], name);
  const named = Object.fromEntries([...operations(document)].map(([place, { operationId }]) => [place, operationId]));
  assert.equal(named['GET /payments'], 'searchPayments');
  assert.equal(named['GET /payments/{payment_id}'], 'getPayment');
  assert.equal(named['PATCH /payments/{payment_id}'], 'decidePayment');
  assert.equal(named['DELETE /payments/{payment_id}'], 'cancelPayment');
  const { openIdConnect, mutualTLS } = document.components.securitySchemes;
  assert.equal(openIdConnect.openIdConnectUrl, `${service.auth}/.well-known/openid-configuration`);
  assert.equal(mutualTLS.type, 'mutualTLS');
  const list = document.paths['/payments'].get.responses['200'];
  assert.deepEqual(list.content['application/json'].schema.items, { $ref: '#/components/schemas/Payment' });
  for (const header of ['x-total-count', 'x-request-id', 'RateLimit', 'RateLimit-Policy'])
    assert.ok(list.headers[header], header);
});

test('a body that may be left out is described as such, and every other one is required', async () => {
  const optional: string[] = [];
  for (const read of Object.values(documents))
    for (const [place, operation] of operations((await read()).body))
      if (operation.requestBody && operation.requestBody.required !== true) optional.push(place);
  assert.deepEqual(optional.sort(), [
    'DELETE /multipayments/{multipayment_id}',
    'DELETE /payments/{payment_id}',
    'PATCH /payments/{payment_id}',
    'POST /applications/{client_id}/secret',
    'POST /mass-payments/{mass_payment_id}/confirm',
    'POST /sandbox/payments',
    'POST /sandbox/payments/{payment_id}/advance',
    'POST /sandbox/trades/{trade_id}/advance',
  ]);
});

test('webhooks are keyed by the name that their header has, each with a schema and an example', async () => {
  const { body: document } = await documents['client API']();
  assert.deepEqual(Object.keys(document.webhooks).sort(), Object.values(TYPE_NAMES).sort());
  for (const [name, { post }] of Object.entries<Json>(document.webhooks)) {
    const { schema, example } = post.requestBody.content['application/json'];
    assert.ok(resolve(document, schema), name);
    assert.ok(example, name);
    assert.ok(post.parameters.some((each: Json) => each.name === 'X-Service-Webhook' && each.example === name));
  }
});

test('the operator interface names its records; a POST takes an idempotency key, and a change a reason', async () => {
  const { body: document } = await documents['operator interface']();
  for (const name of [
    'Client',
    'Contact',
    'Application',
    'Payment',
    'Trade',
    'Transaction',
    'Notification',
    'AuditRow',
  ])
    assert.ok(document.components.schemas[name], name);
  for (const [place, operation] of operations(document)) {
    const key = operation.parameters?.find((each: Json) => each.name === 'Idempotency-Key');
    assert.equal(Boolean(key), place.startsWith('POST'), place);
    const reason = operation.parameters?.find((each: Json) => each.name === 'X-Reason');
    assert.equal(Boolean(reason), !place.startsWith('GET'), place);
    if (reason) assert.ok(operation.responses[400], `${place} refuses a reason`);
    for (const parameter of operation.parameters ?? [])
      assert.ok(parameter.required || !('example' in parameter), `${place}: ${parameter.name} is filled in the page`);
  }
});

test('the authorization server describes every member of its discovery document', async () => {
  const { body: document } = await everyDocument['authorization server']();
  const { required, properties } = document.components.schemas.Metadata;
  const { body: metadata } = await call(`${service.auth}/.well-known/openid-configuration`, 'GET');
  const trusted = ['mtls_endpoint_aliases', 'tls_client_certificate_bound_access_tokens'];
  assert.deepEqual(Object.keys(properties).sort(), [...new Set([...Object.keys(metadata), ...trusted])].sort());
  assert.deepEqual(
    required,
    Object.keys(properties).filter((name) => !trusted.includes(name)),
  );
});

test('the authorization server describes its token operations and their errors', async () => {
  const { body: document } = await call(`${service.auth}/openapi.json`, 'GET');
  assert.equal(document.openapi, '3.1.0');
  assert.equal(document.servers[0].url, service.auth);
  assert.ok(document.components.schemas.OAuthError);
  const refused = await call(`${service.auth}/token`, 'POST', {
    raw: 'grant_type=authorization_code',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  const described = document.paths['/token'].post.responses[refused.status].content['application/json'].examples;
  assert.ok(described[refused.body.error], refused.text);
});
