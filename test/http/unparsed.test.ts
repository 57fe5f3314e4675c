import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, METHODS } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { SANDBOX_CLIENT_SUBJECT } from '../../src/embedded/test-subject.ts';
import { answerUnparsed, UnreadRequests } from '../../src/http/server/unparsed.ts';
import { listening } from '../world/ports.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';
import { createApplication } from '../world/visitor.ts';

/** What never reaches a route: the HTTP parser refuses it, or nothing is served there (docs/decisions.md, 1). */

let service: TestService;
const listeners: Record<string, () => Duplex> = {};

before(async () => {
  service = await startTestService();
  await createApplication(service, { certificate_subjects: [SANDBOX_CLIENT_SUBJECT] });
  const plain = (address: string) => () => connect(Number(new URL(address).port), '127.0.0.1');
  listeners.api = plain(service.api);
  listeners.auth = plain(service.auth);
  listeners.operator = plain(service.operatorUrl);
  const file = (name: string) => readFileSync(join(service.config.dataDir, 'tls', name));
  const port = Number(new URL(service.service.addresses.trusted ?? '').port);
  listeners.trusted = () =>
    connectTls({ port, host: '127.0.0.1', ca: file('ca.pem'), cert: file('client.pem'), key: file('client-key.pem') });
});
after(() => service.stop());

interface Raw {
  status: number;
  headers: Map<string, string>;
  text: string;
}

/** Sends bytes on a connection of their own, and reads to its end. */
function send(listener: string, text: string): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const socket = listeners[listener]?.() as Duplex;
    let answer = '';
    socket.on('error', (error) => reject(new Error(`${listener}: ${error.message} after ${JSON.stringify(answer)}`)));
    socket.setEncoding('utf8').on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('close', () => {
      const [head = '', body = ''] = answer.split('\r\n\r\n');
      const [line = '', ...fields] = head.split('\r\n');
      const headers = new Map(
        fields.map((field) => field.split(/: ?/, 2).map((part) => part.toLowerCase()) as [string, string]),
      );
      resolve({ status: Number(line.split(' ')[1]), headers, text: body });
    });
    socket.write(text);
  });
}

const line = 'GET /payments HTTP/1.1\r\n';
const host = 'Host: x\r\n';
const requests: [string, string, number, string][] = [
  ['a method that does not exist', `FOO /payments HTTP/1.1\r\n${host}\r\n`, 400, 'malformed_request'],
  ['a version that does not exist', `GET /payments HTTP/9.9\r\n${host}\r\n`, 400, 'malformed_request'],
  ['no HTTP at all', 'GARBAGE\r\n\r\n', 400, 'malformed_request'],
  ['a header with a blank in its name', `${line}${host}a b: c\r\n\r\n`, 400, 'malformed_request'],
  ['two lengths', `${line}${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`, 400, 'malformed_request'],
  [
    'a length and chunks',
    `${line}${host}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
    400,
    'malformed_request',
  ],
  ['no host', `${line}Connection: close\r\n\r\n`, 400, 'malformed_request'],
  ['headers of 20 KiB', `${line}${host}a: ${'b'.repeat(20_480)}\r\n\r\n`, 431, 'headers_too_large'],
  ['an address of 20 KiB', `GET /${'a'.repeat(20_480)} HTTP/1.1\r\n${host}\r\n`, 431, 'headers_too_large'],
  ['an expectation', `${line}${host}Expect: a-miracle\r\nConnection: close\r\n\r\n`, 417, 'expectation_failed'],
  ['CONNECT', `CONNECT x:443 HTTP/1.1\r\n${host}\r\n`, 405, 'method_not_allowed'],
];

for (const [what, text, status, code] of requests) {
  test(`${what}: ${status} ${code} as an ErrorMessage with a request id, on every listener`, async () => {
    for (const listener of Object.keys(listeners)) {
      const answer = await send(listener, text);
      assert.equal(answer.status, status, `${listener}: ${answer.text}`);
      const body = JSON.parse(answer.text);
      assert.deepEqual(Object.keys(body), ['code', 'message', 'details'], listener);
      assert.equal(body.code, code, listener);
      assert.match(answer.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/, listener);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
      assert.equal(answer.headers.get('connection'), 'close');
      assert.equal(answer.headers.get('cache-control'), 'no-store', listener);
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff', listener);
    }
  });
}

test('an answer arrives however much of a refused request follows', async () => {
  const text = `${line}${host}a: ${'b'.repeat(200_000)}\r\n\r\n`;
  for (const listener of Object.keys(listeners))
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => send(listener, text)));
      assert.deepEqual(
        answers.map(({ status }) => status),
        Array(5).fill(431),
        listener,
      );
    }
});

test('whoever sends a whole body that is too large before reading gets the answer too', async () => {
  const body = Buffer.alloc(12_000_000, 'x');
  const asked: [string, string, string][] = [
    ['auth', '/token', 'Content-Type: application/x-www-form-urlencoded'],
    ['operator', '/clients', `Content-Type: application/json\r\nAuthorization: Bearer ${service.operatorToken}`],
  ];
  for (const [listener, path, fields] of asked) {
    const socket = listeners[listener]?.() as Duplex;
    let answer = '';
    socket.setEncoding('utf8').pause();
    for (const part of [`POST ${path} HTTP/1.1\r\n${host}${fields}\r\nContent-Length: ${body.length}\r\n\r\n`, body])
      await new Promise<void>((resolve, reject) => socket.write(part, (error) => (error ? reject(error) : resolve())));
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.resume();
    await until(() => answer.includes('\r\n\r\n'));
    assert.match(answer, /^HTTP\/1\.1 413 /, listener);
    socket.destroy();
  }
});

const BODIES = ['', 'Content-Length: 3\r\n\r\nabc', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'];

for (const listener of ['api', 'auth', 'operator', 'trusted'])
  test(`${listener}: a method that an address does not have is a 405 with Allow, an unknown address a 404, whatever the body is`, async () => {
    const known = listener === 'auth' ? '/token' : '/payments';
    for (const method of METHODS) {
      if (method === 'CONNECT') continue;
      for (const body of BODIES) {
        const sent = (path: string) =>
          send(listener, `${method} ${path} HTTP/1.1\r\n${host}Connection: close\r\n${body || '\r\n'}`);
        const codeOf = (text: string) => (method === 'HEAD' ? undefined : JSON.parse(text).code);
        const unknown = await sent('/nothing-is-here');
        assert.equal(unknown.status, 404, `${method} ${body}: ${unknown.text}`);
        assert.equal(codeOf(unknown.text), method === 'HEAD' ? undefined : 'not_found');
        const answer = await sent(known);
        const allowed = answer.headers.get('allow');
        const isAllowed =
          listener === 'auth' ? ['POST'] : ['GET', 'HEAD', ...(listener === 'operator' ? [] : ['PATCH']), 'POST'];
        if (isAllowed.includes(method)) continue;
        assert.equal(answer.status, 405, `${method} ${body}: ${answer.text}`);
        assert.equal(allowed, isAllowed.join(', ').toLowerCase(), method);
        assert.equal(codeOf(answer.text), method === 'HEAD' ? undefined : 'method_not_allowed');
      }
    }
  });

test("the caller's own request id is in the answer, as far as the parser has seen it", async () => {
  const answer = await send('api', `${line}X-Request-Id: my-own.1\r\na b: c\r\n\r\n`);
  assert.equal(answer.headers.get('x-request-id'), 'my-own.1');
  const expecting = await send(
    'trusted',
    `${line}${host}x-request-id: my-own.2\r\nExpect: x\r\nConnection: close\r\n\r\n`,
  );
  assert.equal(expecting.headers.get('x-request-id'), 'my-own.2');
});

test('what does not arrive in time: 408', async () => {
  // The listeners' own limits are a minute; the answer is the same function's.
  const server = createServer({ connectionsCheckingInterval: 20, headersTimeout: 50, requestTimeout: 100 });
  answerUnparsed(server, new UnreadRequests('impatient', service.service.context));
  const port = await listening(server);
  listeners.impatient = () => connect(port, '127.0.0.1');
  try {
    for (const text of [`${line}${host}`, `POST /x HTTP/1.1\r\n${host}Content-Length: 9\r\n\r\n`]) {
      const answer = await send('impatient', text);
      assert.equal(answer.status, 408, text);
      assert.equal(JSON.parse(answer.text).code, 'request_timeout');
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      assert.ok(answer.headers.get('x-request-id'));
    }
  } finally {
    delete listeners.impatient;
    server.closeAllConnections();
    server.close();
  }
});

describe('files below /docs', () => {
  for (const listener of ['api', 'operator'] as const) {
    for (const path of [
      '/docs/static/../x',
      '/docs/static/nope',
      '/docs/static/%2e%2e/x',
      '/docs/static/..%2fx',
      '/docs/static/a/b/c',
    ]) {
      test(`${listener}: ${path} is 404`, async () => {
        const answer = await send(listener, `GET ${path} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
        assert.equal(answer.status, 404, answer.text);
        assert.equal(JSON.parse(answer.text).code, 'not_found');
      });
    }
    test(`${listener}: another method there is 405`, async () => {
      const answer = await send(
        listener,
        `POST /docs/static/nope HTTP/1.1\r\n${host}Connection: close\r\nContent-Length: 0\r\n\r\n`,
      );
      assert.equal(answer.status, 405, answer.text);
    });
  }
  test('the explorer: a file that does not exist, or lies outside, is 404', async () => {
    for (const path of ['/explorer/ruru/../x', '/explorer/ruru/nope', '/explorer/ruru/..%2fx']) {
      const answer = await send('api', `GET ${path} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
      assert.equal(answer.status, 404, `${path}: ${answer.text}`);
    }
  });
});
