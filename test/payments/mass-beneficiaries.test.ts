import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type ApprovalsWorld, approvalsWorld } from '../world/approvals.ts';
import { startTestService, type TestService } from '../world/service.ts';

let service: TestService;
let world: ApprovalsWorld;
before(async () => {
  service = await startTestService();
  world = await approvalsWorld(service, []);
});
after(() => service.stop());

const error = (index: number) => ({
  code: 'invalid_iban',
  message: 'The IBAN is not valid',
  details: `beneficiaries[${index}].iban`,
  request_index: index,
});
const many = (from: number, count: number) => Array.from({ length: count }, (_, index) => error(from + index));
const create = (more: object = {}) =>
  service.operator('POST', '/mass-beneficiaries', { client_id: world.clientId, ...more });
const patch = (id: string, body: object) => service.operator('PATCH', `/mass-beneficiaries/${id}`, body);
const list = (id: string, query = '') =>
  world.ask(world.owner, 'GET', `/mass-beneficiaries/${id}/errors`, undefined, query);

test('errors are listed as far as they have been reported, and all of them once it is created', async () => {
  const made = await create();
  assert.equal(made.status, 201, made.text);
  assert.deepEqual([made.body.client_id, made.body.status, made.body.errors], [world.clientId, 'queued', []]);
  const id: string = made.body.mass_beneficiary_id;
  const empty = await list(id);
  assert.deepEqual([empty.status, empty.body, empty.headers.get('x-total-count')], [200, [], '0']);
  assert.equal((await patch(id, { status: 'processing', errors: [error(3)] })).status, 200);
  assert.deepEqual((await list(id)).body, [error(3)]);
  assert.equal((await patch(id, { client_id: world.clientId, errors: many(0, 2) })).body.error_count, 2);
  assert.deepEqual((await list(id)).body, many(0, 2));
  assert.equal((await patch(id, { status: 'processing', add_errors: [error(7), error(5)] })).status, 200);
  const last = await patch(id, { status: 'created' });
  assert.deepEqual([last.body.status, last.body.error_count], ['created', 4]);
  const all = await list(id);
  assert.deepEqual(all.body, [error(0), error(1), error(7), error(5)]);
  assert.equal(all.headers.get('x-total-count'), '4');
});

test('pages: 50 by default, 1 to 1000, empty past the end with the true total', async () => {
  const { body } = await create({ status: 'processing', errors: many(0, 120) });
  const id = body.mass_beneficiary_id;
  const page = await list(id);
  assert.deepEqual([page.body.length, page.headers.get('x-total-count')], [50, '120']);
  assert.deepEqual((await list(id, '&page=3')).body, many(100, 20));
  assert.deepEqual((await list(id, '&page=4&page_size=7')).body, many(21, 7));
  assert.equal((await list(id, '&page_size=1000')).body.length, 120);
  const past = await list(id, '&page=2147483647');
  assert.deepEqual([past.status, past.body, past.headers.get('x-total-count')], [200, [], '120']);
  for (const [query, name] of [
    ['&page=0', 'page'],
    ['&page=2147483648', 'page'],
    ['&page=x', 'page'],
    ['&page_size=0', 'page_size'],
    ['&page_size=1001', 'page_size'],
    ['&page_size=1.5', 'page_size'],
    ['&page=1&page=2', 'page'],
  ]) {
    const bad = await list(id, query);
    assert.equal(bad.status, 400, query);
    assert.equal(bad.body.code, 'invalid_parameter');
    assert.equal(bad.body.details.split(': ')[0], `query.${name}`);
  }
});

test('10,000 errors fit into one request, to create it and to change it; a body of more than 8 MiB does not', async () => {
  const long = many(0, 10_000).map((each) => ({ ...each, message: 'x'.repeat(350), details: 'y'.repeat(350) }));
  const made = await create({ errors: long });
  assert.deepEqual([made.status, made.body.error_count], [201, 10_000], made.text.slice(0, 200));
  const id = made.body.mass_beneficiary_id;
  const more = await patch(id, { add_errors: long });
  assert.deepEqual([more.status, more.body.error_count], [200, 20_000], more.text.slice(0, 200));
  const tooLong = long.map((each) => ({ ...each, details: 'y'.repeat(500) }));
  for (const answer of [await create({ errors: tooLong }), await patch(id, { errors: tooLong })]) {
    assert.deepEqual([answer.status, answer.body.code], [413, 'payload_too_large']);
    assert.equal(answer.body.details, 'body: must be at most 8388608 bytes');
  }
  const other = await service.operator('POST', '/clients', { client_name: 'x'.repeat(1_048_576) });
  assert.equal(other.body.details, 'body: must be at most 1048576 bytes');
});

test('the status moves queued -> processing -> created or failed; every other move is 409 and changes nothing', async () => {
  const statuses = ['queued', 'processing', 'created', 'failed'];
  const legal: Record<string, string[]> = {
    queued: ['queued', 'processing'],
    processing: ['processing', 'created', 'failed'],
    created: [],
    failed: [],
  };
  for (const from of statuses) {
    for (const to of statuses) {
      const { body } = await create({ status: from, errors: [error(1)] });
      const answer = await patch(body.mass_beneficiary_id, { status: to, errors: [] });
      if (legal[from]?.includes(to)) {
        assert.deepEqual([answer.status, answer.body.status], [200, to], `${from} -> ${to}`);
        continue;
      }
      assert.equal(answer.status, 409, `${from} -> ${to}`);
      assert.equal(answer.body.code, 'transition_not_allowed');
      assert.deepEqual((await list(body.mass_beneficiary_id)).body, [error(1)]);
    }
  }
});

test('unknown ones, other clients’ and garbage are 404', async () => {
  const { body } = await create({ errors: [error(1)] });
  const id = body.mass_beneficiary_id;
  const other = await approvalsWorld(service, []);
  const foreign = await other.ask(other.owner, 'GET', `/mass-beneficiaries/${id}/errors`);
  assert.deepEqual([foreign.status, foreign.body.code], [404, 'mass_beneficiary_not_found']);
  for (const unknown of [randomUUID(), 'nonsense', '1', '%00']) {
    assert.equal((await list(unknown)).body.code, 'mass_beneficiary_not_found');
    assert.equal((await patch(unknown, { status: 'processing' })).body.code, 'mass_beneficiary_not_found');
  }
  assert.equal((await patch(id, { client_id: other.clientId })).body.code, 'mass_beneficiary_not_found');
});

test('bad bodies name the field; an id is used once; the same key creates one', async () => {
  for (const [body, path, code] of [
    [{ client_id: 'CLI-none' }, 'body.client_id', 'client_not_found'],
    [{ status: 'done' }, 'body.status', 'invalid_body'],
    [{ mass_beneficiary_id: 'x' }, 'body.mass_beneficiary_id', 'invalid_body'],
    [{ errors: [{ code: 'a' }] }, 'body.errors[0].message', 'invalid_body'],
    [{ errors: [{ ...error(1), request_index: -1 }] }, 'body.errors[0].request_index', 'invalid_body'],
    [{ errors: [error(1), { ...error(2), request_index: 1.5 }] }, 'body.errors[1].request_index', 'invalid_body'],
  ] as const) {
    const answer = await create(body);
    assert.equal(answer.body.code, code, answer.text);
    assert.equal(answer.body.details.split(': ')[0], path);
  }
  const id = randomUUID();
  assert.equal((await create({ mass_beneficiary_id: id })).body.mass_beneficiary_id, id);
  assert.equal((await create({ mass_beneficiary_id: id })).body.code, 'already_exists');
  const headers = { 'idempotency-key': randomUUID() };
  const body = { client_id: world.clientId };
  const [first, second] = await Promise.all(
    [0, 1].map(() => service.operator('POST', '/mass-beneficiaries', body, { headers })),
  );
  assert.equal(first?.text, second?.text);
});
