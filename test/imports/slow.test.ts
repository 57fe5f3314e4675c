import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { PATIENCE } from '../../src/process/patience.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { beginUpload } from '../world/upload.ts';

/** Callers who send slowly, or not at all, hold up nobody (docs/imports.md, Limits). */

let service: TestService;
const patience = { ...PATIENCE };

before(async () => {
  service = await startTestService({}, undefined, patience);
});
after(() => service.stop());

const begin = (path: string, headers?: Record<string, string>) => beginUpload(service, path, headers);

test('three imports run; a fourth waits, and gets 429 with Retry-After where none ends', async () => {
  assert.equal(patience.turnMs, 10_000);
  patience.turnMs = 2_000;
  const slow = Array.from({ length: 3 }, () => begin('/imports/clients'));
  for (const one of slow) one.request.write('{"client_name":"slow"}\n');
  // Until the three have their turns, another one may have its own at once. It ends, so that none of the three waits long behind it.
  for (let status = 200; status !== 429; ) {
    const next = begin('/imports/clients');
    next.request.end('{"client_name":"fourth"}\n');
    status = (await next.answer).status;
  }
  patience.turnMs = 200;
  const refused = await begin('/imports/clients', { 'content-length': '10' }).answer;
  assert.equal(refused.status, 429, 'its body is not waited for');
  assert.equal(JSON.parse(refused.text).code, 'rate_limited');
  assert.ok(Number(refused.headers['retry-after']) > 0);
  patience.turnMs = 10_000;
  const waiting = begin('/imports/clients');
  waiting.request.end('{"client_name":"fifth"}\n');
  slow[0]?.request.end();
  assert.equal((await waiting.answer).status, 200, 'it gets the turn of one that ended');
  for (const one of slow) one.request.end();
  for (const one of slow) assert.equal((await one.answer).status, 200);
});

test('fewer than 1 KiB within the time: 408, which says how far the import got; a slow one that sends enough goes in', async () => {
  assert.equal(patience.paceMs, 30_000);
  patience.paceMs = 2_000;
  const idle = begin('/imports/clients');
  idle.request.write('{"client_name":"first"}\n{"client_na');
  const dribble = setInterval(() => idle.request.write(' '), 50);
  const answer = await idle.answer;
  clearInterval(dribble);
  assert.equal(answer.status, 408, answer.text);
  assert.equal(JSON.parse(answer.text).code, 'request_timeout');
  assert.match(JSON.parse(answer.text).details, /^body: fewer than 1024 bytes arrived/);
  const steady = begin('/imports/clients');
  const line = `${JSON.stringify({ client_name: 'x'.repeat(400) })}\n`;
  for (let count = 0; count < 12; count += 1) {
    steady.request.write(line.repeat(3));
    await pause(60);
  }
  steady.request.end();
  const done = await steady.answer;
  assert.equal(done.status, 200, done.text);
  assert.equal(JSON.parse(done.text).accepted, 36);
  patience.paceMs = 30_000;
});

test('a body of the operator interface that does not arrive: 408', async () => {
  assert.equal(patience.requestMs, 60_000);
  patience.requestMs = 200;
  const half = begin('/clients', { 'content-type': 'application/json', 'content-length': '100' });
  half.request.write('{"client_name":');
  const answer = await half.answer;
  assert.equal(answer.status, 408, answer.text);
  assert.equal(JSON.parse(answer.text).code, 'request_timeout');
  assert.ok(answer.headers['x-request-id']);
  patience.requestMs = 60_000;
});

test('a 401 comes before the body is read, and the connection ends although the caller goes on sending', async () => {
  patience.answeredMs = 200;
  for (const path of ['/clients', '/imports/clients']) {
    const stranger = begin(path, { authorization: 'Bearer nobody', 'transfer-encoding': 'chunked' });
    stranger.request.on('error', () => {});
    const answer = await stranger.answer;
    assert.equal(answer.status, 401, answer.text);
    const dribble = setInterval(() => stranger.request.write(' '), 50);
    await stranger.closed;
    clearInterval(dribble);
  }
});
