import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessToken } from '../../world/access-token.ts';
import { createWorld } from '../../world/client.ts';
import { type Answer, startTestService, type TestService } from '../../world/service.ts';

/** Idempotency-Key on the POSTs of the client API. */

let service: TestService;
let world: Awaited<ReturnType<typeof createWorld>>;
let token: string;
before(async () => {
  service = await startTestService();
  world = await createWorld(service);
  await service.operator('POST', '/currency-accounts', { client_id: world.clientId, currency: 'EUR' });
  token = await accessToken(service, world.contactId);
});
after(() => service.stop());

const PERIOD = '{"date_from": "2026-07-01", "date_to": "2026-07-31"}';

function request(key: string | undefined, raw: string, { by = token, query = '' } = {}): Promise<Answer> {
  return service.client(by, 'POST', `/statements/accounts?client_id=${world.clientId}${query}`, {
    raw,
    headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) },
  });
}

async function requested(): Promise<number> {
  const { rows } = await service.query('select from statement_requests where client_id = $1', [world.clientId]);
  return rows.length;
}

test('a request that is sent again gets its answer again, and is done once', async () => {
  const before = await requested();
  const first = await request('once', PERIOD);
  assert.deepEqual([first.status, first.headers.get('idempotency-replayed')], [202, null], first.text);
  const second = await request('once', PERIOD);
  assert.deepEqual([second.status, second.text], [first.status, first.text]);
  assert.equal(second.headers.get('location'), first.headers.get('location'));
  assert.match(second.headers.get('content-type') ?? '', /^application\/json/);
  assert.equal(second.headers.get('idempotency-replayed'), 'true');
  assert.equal((await requested()) - before, 1);
  assert.equal((await request(undefined, PERIOD)).headers.get('idempotency-replayed'), null);
  assert.equal((await requested()) - before, 2);
});

test('another request under the key is refused before its body is looked at', async () => {
  await request('another', PERIOD);
  for (const [raw, query] of [
    [PERIOD.replace(' ', ''), ''],
    ['{"date_from": 1}', ''],
    ['{"date_from": ', ''],
    ['{"a": "\\u0000"}', ''],
    ['', ''],
    [PERIOD, '&page=1'],
  ] as const) {
    const refused = await request('another', raw, { query });
    assert.deepEqual([refused.status, refused.body.code], [409, 'idempotency_conflict'], `${raw}: ${refused.text}`);
    assert.match(refused.body.details, /^header\.Idempotency-Key: /);
  }
});

test('a refusal leaves the key free', async () => {
  for (const raw of ['{"date_from": 1}', '{"date_from": '])
    assert.deepEqual((await request('free', raw)).body.code, 'invalid_body', raw);
  assert.equal((await request('free', PERIOD)).status, 202);
});

test('a key belongs to client, contact and address', async () => {
  const { contactId } = await world.hire('Colleague');
  const colleague = await accessToken(service, contactId);
  const before = await requested();
  assert.equal((await request('own', PERIOD)).status, 202);
  const other = await request('own', PERIOD.replace(' ', ''), { by: colleague });
  assert.deepEqual([other.status, other.headers.get('idempotency-replayed')], [202, null], other.text);
  assert.equal((await requested()) - before, 2);
  const made = await service.operator(
    'POST',
    '/clients',
    { client_name: 'Own' },
    { headers: { 'idempotency-key': 'own' } },
  );
  assert.equal(made.status, 201, made.text);
  const payment = () =>
    service.client(token, 'POST', `/sandbox/payments?client_id=${world.clientId}`, {
      headers: { 'idempotency-key': 'own' },
    });
  const [one, two] = [await payment(), await payment()];
  assert.deepEqual([one.status, two.status], [201, 201], one.text);
  assert.equal(two.body.payment_id, one.body.payment_id);
  assert.equal(two.headers.get('location'), one.headers.get('location'));
});

test('two at once: one executes, and both have its answer', async () => {
  const before = await requested();
  const answers = await Promise.all(Array.from({ length: 8 }, () => request('at-once', PERIOD)));
  assert.deepEqual(
    new Set(answers.map(({ status, text }) => `${status} ${text}`)),
    new Set([`202 ${answers[0]?.text}`]),
  );
  assert.deepEqual(
    [...new Set(answers.map(({ status, headers }) => `${status} ${headers.get('location')}`))].length,
    1,
  );
  assert.equal(answers.filter(({ headers }) => headers.get('idempotency-replayed') === null).length, 1);
  assert.equal((await requested()) - before, 1);
});

test('a stored answer is forgotten after a day', async () => {
  const first = await request('a-day', PERIOD);
  await service.query(
    `update idempotency_keys set created_at = created_at - interval '25 hours' where key like '%a-day'`,
  );
  const second = await request('a-day', PERIOD);
  assert.deepEqual([first.status, second.status], [202, 202], first.text);
  assert.notEqual(second.headers.get('location'), first.headers.get('location'));
});

test('a key that is none is refused; an answer without a body is given again', async () => {
  for (const key of ['', 'a b', 'ü', 'x'.repeat(256)]) {
    const refused = await request(Buffer.from(key).toString('latin1'), PERIOD);
    assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_parameter'], `${key}: ${refused.text}`);
  }
  assert.equal((await request('x'.repeat(255), PERIOD)).status, 202);
  const reset = () =>
    service.client(token, 'POST', `/sandbox/reset?client_id=${world.clientId}`, {
      headers: { 'idempotency-key': '!~' },
    });
  assert.deepEqual([(await reset()).status, (await reset()).headers.get('idempotency-replayed')], [204, 'true']);
});
