import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { PATIENCE } from '../../src/process/patience.ts';
import { createWorld } from '../world/client.ts';
import { lombard, PORTS, printed } from '../world/command.ts';
import { createDatabase, type TestDatabase } from '../world/database.ts';
import { type Answer, call, startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';
import { beginUpload } from '../world/upload.ts';

/** Imports have an id, and one that was interrupted goes on where it was (docs/imports.md). */

let database: TestDatabase;
let service: TestService;
let account: number;
let client: string;
const patience = { ...PATIENCE };

before(async () => {
  database = await createDatabase();
  service = await startTestService({}, database, patience);
  const world = await createWorld(service);
  client = world.clientId;
  const opened = await service.operator('POST', '/currency-accounts', { client_id: client, currency: 'EUR' });
  account = opened.body.account_id;
});
after(() => service.stop());

/** Bookings without identifiers of their own: what is imported twice is there twice. Their references tell which is which. */
function bookings(count: number, run = randomUUID()): { lines: string[]; stored: () => Promise<string[]> } {
  const lines = Array.from({ length: count }, (_, index) =>
    JSON.stringify({
      client_id: client,
      currency_account_id: account,
      kind: 'CREDIT_TRANSACTION',
      amount: { amount: '1.00', currency: 'EUR' },
      transaction_reference: `${run}/${index + 1}`,
    }),
  );
  const stored = async () => {
    const { rows } = await service.query(
      'select transaction_reference as reference from transactions where transaction_reference like $1 order by id',
      [`${run}/%`],
    );
    return rows.map((row) => row.reference as string);
  };
  return { lines, stored };
}

function send(lines: string[], headers: Record<string, string> = {}, path = '/imports/transactions'): Promise<Answer> {
  return call(`${service.operatorUrl}${path}`, 'POST', {
    raw: `${lines.join('\n')}\n`,
    token: service.operatorToken,
    headers: { 'content-type': 'application/x-ndjson', ...headers },
  });
}

const find = async (id: string | null | undefined) => (await service.operator('GET', `/imports/${id}`)).body;
const references = (lines: string[]) => lines.map((line) => JSON.parse(line).transaction_reference);

test('an import can be looked up, with its counts and its refused lines', async () => {
  const { lines } = bookings(3);
  const answer = await send([...lines, '{"client_id":"nobody"}', '']);
  const id = answer.headers.get('import-id');
  assert.ok(id);
  const found = await find(id);
  const { started_at, ended_at, ...counts } = found;
  assert.deepEqual(Object.keys(found), [
    ...[
      'import_id',
      'kind',
      'state',
      'lines_read',
      'accepted',
      'unchanged',
      'rejected',
      'errors',
      'started_at',
      'ended_at',
    ],
  ]);
  assert.deepEqual(counts, {
    import_id: id,
    kind: 'transactions',
    state: 'done',
    lines_read: 5,
    accepted: 3,
    unchanged: 0,
    rejected: 1,
    errors: answer.body.errors,
  });
  assert.ok(Date.parse(ended_at) >= Date.parse(started_at));
  const list = await service.operator('GET', '/imports?kind=transactions&state=done');
  const { errors: _, ...listed } = found;
  assert.deepEqual(
    list.body.find((one: { import_id: string }) => one.import_id === id),
    listed,
  );
  assert.ok(Number(list.headers.get('x-total-count')) >= 1);
  const none = await service.operator('GET', '/imports/nothing');
  assert.deepEqual([none.status, none.body.code], [404, 'import_not_found']);
});

test('a connection that breaks: sent again with its key, the import goes on, and another file is refused', async () => {
  const { lines, stored } = bookings(12_500);
  const key = randomUUID();
  const broken = beginUpload(service, '/imports/transactions', { 'idempotency-key': key });
  broken.request.on('error', () => {});
  broken.request.write(`${lines.slice(0, 11_000).join('\n')}\n`);
  await until(async () => (await stored()).length >= 10_000);
  broken.request.destroy();
  const { rows } = await service.query('select import_id from imports where idempotency_key = $1', [key]);
  const id = rows[0].import_id;
  const found = await until(async () => {
    const one = await find(id);
    return one.state === 'interrupted' && one;
  });
  assert.deepEqual([found.lines_read, found.accepted], [10_000, 10_000]);
  assert.ok(found.ended_at);

  const headers = { 'idempotency-key': key };
  const other = await send(lines.with(6_000, lines[0] as string), headers);
  assert.deepEqual([other.status, other.body.code], [409, 'idempotency_conflict']);
  assert.match(other.body.details, /^header\.Idempotency-Key: /);
  const shorter = await send(lines.slice(0, 9_000), headers);
  assert.deepEqual([shorter.status, shorter.body.code], [409, 'idempotency_conflict']);
  const elsewhere = await send(lines, headers, '/imports/transactions?notify=true');
  assert.deepEqual([elsewhere.status, elsewhere.body.code], [409, 'idempotency_conflict']);
  const single = await service.operator('POST', '/clients', { client_name: 'x' }, { headers });
  assert.deepEqual([single.status, single.body.code], [409, 'idempotency_conflict']);

  const again = await send([...lines, 'nonsense'], headers);
  assert.equal(again.headers.get('import-id'), id);
  assert.deepEqual([again.status, again.body.accepted, again.body.rejected], [200, 12_500, 1], again.text);
  assert.equal(again.body.errors[0].line, 12_501);
  assert.deepEqual(await stored(), references(lines), 'each once, in the order of the lines');
  assert.deepEqual([(await find(id)).state, (await find(id)).lines_read], ['done', 12_501]);
  const replayed = await send([...lines, 'nonsense'], headers);
  assert.equal(replayed.headers.get('idempotency-replayed'), 'true');
  assert.equal(replayed.headers.get('import-id'), id);
  assert.equal(replayed.text, again.text);
});

test('a caller who stops sending: 408, and the rest is sent again', async () => {
  patience.paceMs = 500;
  const { lines, stored } = bookings(6_000);
  const key = randomUUID();
  const slow = beginUpload(service, '/imports/transactions', { 'idempotency-key': key });
  slow.request.write(`${lines.slice(0, 5_500).join('\n')}\n`);
  const answer = await slow.answer;
  patience.paceMs = 30_000;
  assert.equal(answer.status, 408, answer.text);
  const id = answer.headers['import-id'] as string;
  assert.deepEqual([(await find(id)).state, (await find(id)).lines_read], ['interrupted', 5_000]);
  const again = await send(lines, { 'idempotency-key': key });
  assert.deepEqual([again.status, again.body.accepted], [200, 6_000], again.text);
  assert.deepEqual(await stored(), references(lines));
});

test('an import that ended at its first refused line stays ended', async () => {
  const { lines, stored } = bookings(10);
  const key = randomUUID();
  const file = lines.with(4, 'nonsense');
  const answer = await send(file, { 'idempotency-key': key }, '/imports/transactions?on_error=stop');
  assert.deepEqual([answer.body.accepted, answer.body.rejected], [4, 1]);
  assert.equal((await find(answer.headers.get('import-id'))).lines_read, 5);
  // As if the process had died after the last batch and before the answer.
  await service.query(
    `update idempotency_keys set request_sha256 = decode(repeat('00', 32), 'hex'), status = null, body = null where key = $1`,
    [key],
  );
  const again = await send(file, { 'idempotency-key': key }, '/imports/transactions?on_error=stop');
  assert.equal(again.text, answer.text);
  assert.equal((await stored()).length, 4);
});

test('the service stops: the import goes on for a while, then 503 says from which line to go on', async () => {
  const impatient = { ...PATIENCE, interruptedMs: 9_000 };
  const stopping = await startTestService({}, { ...database, drop: async () => {} }, impatient);
  const { lines, stored } = bookings(12_000);
  const key = randomUUID();
  const upload = beginUpload(stopping, '/imports/transactions', { 'idempotency-key': key });
  upload.request.write(`${lines.slice(0, 3_000).join('\n')}\n`);
  await until(async () => (await service.operator('GET', '/imports?state=running')).body.length > 0);
  const stopped = stopping.stop();
  upload.request.write(`${lines.slice(3_000, 7_000).join('\n')}\n`);
  const answer = await upload.answer;
  assert.equal(answer.status, 503, answer.text);
  assert.deepEqual(JSON.parse(answer.text), {
    code: 'interrupted',
    message: 'The service cannot do the request now',
    details: 'line 5001: go on from here',
  });
  await stopped;
  assert.deepEqual(
    [(await find(answer.headers['import-id'] as string)).state, (await stored()).length],
    ['interrupted', 5_000],
  );
  const again = await send(lines, { 'idempotency-key': key });
  assert.deepEqual([again.status, again.body.accepted], [200, 12_000], again.text);
  assert.equal(again.headers.get('import-id'), answer.headers['import-id']);
  assert.deepEqual(await stored(), references(lines));
});

test('a process that is killed: another one knows, and goes on', async () => {
  const { lines, stored } = bookings(30_000);
  const key = randomUUID();
  const environment = {
    ...PORTS,
    DATABASE_URL: database.url,
    LOMBARD_DATA_DIR: service.config.dataDir,
    LOMBARD_OPERATOR_TOKEN: service.operatorToken,
    LOMBARD_ROLES: 'operator',
  };
  const process = lombard(['serve'], environment);
  try {
    const [, operatorUrl = ''] = await printed(process, /"operator":"([^"]+)".*"msg":"ready"/);
    const upload = beginUpload({ operatorUrl, operatorToken: service.operatorToken }, '/imports/transactions', {
      'idempotency-key': key,
    });
    upload.request.on('error', () => {});
    upload.request.write(`${lines.join('\n')}\n`);
    await until(async () => (await stored()).length > 0);
    assert.equal((await service.operator('GET', '/imports?state=running')).body.length, 1);
  } finally {
    process.child.kill('SIGKILL');
  }
  const { rows } = await service.query('select import_id from imports where idempotency_key = $1', [key]);
  const one = await until(async () => {
    const found = await find(rows[0].import_id);
    return found.state === 'interrupted' && found;
  });
  assert.ok(one.ended_at);
  const read = (await stored()).length;
  assert.deepEqual([one.lines_read, one.accepted], [read, read], 'its counts are committed with its lines');
  const again = await send(lines, { 'idempotency-key': key });
  assert.deepEqual([again.status, again.body.accepted], [200, 30_000], again.text);
  assert.equal(again.headers.get('import-id'), one.import_id);
  assert.deepEqual(await stored(), references(lines));
});
