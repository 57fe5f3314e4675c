import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { createServer as createTls } from 'node:https';
import { createServer as createTcp, type Socket, type Server as TcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { AddressRules } from '../../src/webhooks/sending/address.ts';
import { Egress } from '../../src/webhooks/sending/egress.ts';
import { type Outcome, succeeded } from '../../src/webhooks/sending/outcome.ts';
import type { ResolvedAddress } from '../../src/webhooks/sending/resolver.ts';
import { MAX_KEPT_BODY_BYTES } from '../../src/webhooks/sending/response.ts';
import { listening } from '../world/ports.ts';
import { Receiver } from '../world/receivers/receiver.ts';
import { until } from '../world/until.ts';

/** The egress alone: receivers that do every bad thing, for real. */

const LOOPBACK = [{ address: '127.0.0.1', prefix: 32 }];
const TIMEOUT = 600;
/** Of an attempt on a busy machine; without the deadline it would last for ever. */
const MAX_MS = 10_000;
const closers: (() => unknown)[] = [];
after(async () => {
  for (const close of closers) await close();
});

function egress(
  options: { resolve?: (name: string) => Promise<ResolvedAddress[]>; allow?: typeof LOOPBACK; timeout?: number } = {},
): Egress {
  const made = new Egress({ allow: LOOPBACK, timeoutMs: TIMEOUT, ...options });
  closers.push(() => made.close());
  return made;
}
const ours = egress();

async function receiver(...args: Parameters<typeof Receiver.start>): Promise<Receiver> {
  const made = await Receiver.start(...args);
  closers.push(() => made.stop());
  return made;
}

function post(url: string, through = ours): Promise<Outcome> {
  return through.send({
    method: 'POST',
    url: new URL(url),
    headers: ['content-type', 'application/json'],
    body: '{"a":1}',
  });
}

/** A TCP server that does something with each connection once a request has come. */
async function tcp(react: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server: TcpServer = createTcp((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => react(socket));
  });
  const port = await listening(server);
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${port}/`;
}

test('a 2xx is a success, with its headers and body', async () => {
  const to = await receiver((_got, response) => {
    response.writeHead(202, { 'x-a': '1', 'set-cookie': ['a=1', 'b=2'] });
    response.end('grüße\u0000');
  });
  const outcome = await post(to.url());
  assert.ok(succeeded(outcome));
  assert.deepEqual([outcome.statusCode, outcome.reason, outcome.body], [202, null, 'grüße\ufffd']);
  assert.deepEqual(outcome.headers?.['set-cookie'], ['a=1', 'b=2']);
  assert.equal(to.received[0]?.headers['accept-encoding'], undefined);
});

test('a receiver that refuses the connection', async () => {
  const to = await Receiver.start();
  const url = to.url();
  await to.stop();
  const outcome = await post(url);
  assert.deepEqual([outcome.reason, outcome.statusCode, outcome.body], ['connect', null, null]);
});

test('a receiver that hangs before the headers, and one that never accepts', async () => {
  const url = await tcp(() => undefined);
  const outcome = await post(url);
  assert.equal(outcome.reason, 'timeout');
  assert.ok(outcome.durationMs >= TIMEOUT - 5 && outcome.durationMs < MAX_MS, `${outcome.durationMs} ms`);
});

test('a receiver that drips its body is cut off at the one deadline, however steadily it drips', async () => {
  const url = await tcp((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n');
    const timer = setInterval(() => socket.write('x'), 20);
    socket.on('close', () => clearInterval(timer));
  });
  const outcome = await post(url);
  assert.deepEqual([outcome.reason, outcome.statusCode, succeeded(outcome)], ['timeout', 200, false]);
  assert.ok(outcome.durationMs < MAX_MS, `${outcome.durationMs} ms`);
  assert.match(outcome.body ?? '', /^x{5,}$/);
});

test('a receiver that drips its headers', async () => {
  const url = await tcp((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write('x-a: b\r\n'), 20);
    socket.on('close', () => clearInterval(timer));
  });
  const outcome = await post(url);
  assert.deepEqual([outcome.reason, outcome.statusCode], ['timeout', null]);
});

test('each request has its own deadline, whenever it began and however those before it ended', async () => {
  const hanging = await tcp(() => undefined);
  const quick = await receiver((_got, response) => response.end('ok'));
  const through = egress();
  const began = performance.now();
  const first = post(hanging, through).then((outcome) => ({ outcome, at: performance.now() - began }));
  await pause(TIMEOUT / 2);
  assert.equal((await post(quick.url(), through)).statusCode, 200);
  const later = performance.now() - began;
  const second = post(hanging, through).then((outcome) => ({ outcome, at: performance.now() - began }));
  for (const [ended, since] of [
    [await first, 0],
    [await second, later],
  ] as const) {
    assert.equal(ended.outcome.reason, 'timeout');
    assert.ok(ended.at - since > TIMEOUT - 20, `ended ${ended.at - since} ms after it began`);
  }
  assert.ok((await first).at < (await second).at, 'the first one ended first');
});

test('a receiver that closes early: before the answer, and in the middle of it', async () => {
  const before = await post(await tcp((socket) => socket.destroy()));
  assert.deepEqual([before.reason, before.statusCode], ['closed', null]);
  const middle = await post(await tcp((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf')));
  assert.deepEqual([middle.reason, middle.statusCode, middle.body, succeeded(middle)], ['closed', 200, 'half', false]);
});

test('an answer that is not HTTP', async () => {
  const outcome = await post(await tcp((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')));
  assert.deepEqual([outcome.reason, succeeded(outcome)], ['protocol', false]);
});

test('a receiver that sends 1 GB: a success, of which at most 1 MiB is read and 64 KiB is kept', async () => {
  let sent = 0;
  let hungUp = false;
  const to = await receiver((_got, response) => {
    response.once('close', () => {
      hungUp = true;
    });
    const chunk = Buffer.alloc(64 * 1024, 'a');
    response.writeHead(200, { 'content-length': 1024 ** 3 });
    const push = () => {
      while (!response.destroyed && sent < 1024 ** 3) {
        sent += chunk.length;
        if (!response.write(chunk)) return void response.once('drain', push);
      }
    };
    push();
  });
  const outcome = await post(to.url());
  assert.ok(succeeded(outcome));
  assert.equal(outcome.body?.length, MAX_KEPT_BODY_BYTES);
  await until(() => hungUp);
  assert.ok(sent < 32 * 1024 ** 2, `${sent} bytes were sent`);
});

test('a gzip bomb is not inflated', async () => {
  const bomb = gzipSync(Buffer.alloc(50 * 1024 ** 2));
  const to = await receiver((_got, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': bomb.length });
    response.end(bomb);
  });
  const before = process.memoryUsage().rss;
  const outcome = await post(to.url());
  assert.ok(succeeded(outcome));
  assert.ok((outcome.body?.length ?? 0) <= MAX_KEPT_BODY_BYTES);
  assert.ok(process.memoryUsage().rss - before < 30 * 1024 ** 2);
});

test('a redirect is an answer like any other', async () => {
  const elsewhere = await receiver();
  const to = await receiver((_got, response) => {
    response.writeHead(307, { location: elsewhere.url() });
    response.end();
  });
  const outcome = await post(to.url());
  assert.deepEqual([outcome.statusCode, outcome.reason, succeeded(outcome)], [307, null, false]);
  assert.equal(elsewhere.received.length, 0);
});

test('a broken certificate: self-signed, and for another name', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lombard-tls-'));
  closers.push(() => rmSync(folder, { recursive: true }));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-keyout',
      key,
      '-out',
      cert,
      '-subj',
      '/CN=elsewhere.example',
      '-days',
      '2',
    ],
    { stdio: 'ignore' },
  );
  const options = { key: readFileSync(key), cert: readFileSync(cert) };
  const to = await receiver(undefined, (listener) => createTls(options, listener) as unknown as Server);
  const outcome = await post(`https://127.0.0.1:${to.port}/`);
  assert.deepEqual([outcome.reason, outcome.statusCode], ['tls', null]);
  assert.equal(to.received.length, 0);
  const plain = await receiver();
  assert.equal((await post(`https://127.0.0.1:${plain.port}/`)).reason, 'tls');
});

test('a name that resolves to a private address is not dialled; nor is one that is unknown', async () => {
  const to = await receiver();
  const resolve = async (name: string): Promise<ResolvedAddress[]> => {
    if (name === 'unknown.example') throw new Error('ENOTFOUND');
    return [{ address: name === 'metadata.example' ? '169.254.169.254' : '10.0.0.7', family: 4 }];
  };
  const through = egress({ resolve });
  assert.equal((await post(`http://private.example:${to.port}/`, through)).reason, 'blocked_address');
  assert.equal((await post(`http://metadata.example:${to.port}/`, through)).reason, 'blocked_address');
  assert.equal((await post(`http://unknown.example:${to.port}/`, through)).reason, 'dns');
});

test('rebinding: the address that is dialled is the one that was checked, at every attempt', async () => {
  const publicly = await receiver();
  const privately = await receiver();
  // Stands in for the internet: only this address is allowed; 127.0.0.2 is as private as any.
  let answers: ResolvedAddress[] = [{ address: '127.0.0.1', family: 4 }];
  let asked = 0;
  const through = egress({
    resolve: async () => {
      asked += 1;
      return answers;
    },
  });
  assert.ok(succeeded(await post(`http://rebinding.example:${publicly.port}/`, through)));
  answers = [{ address: '127.0.0.2', family: 4 }];
  const second = await post(`http://rebinding.example:${privately.port}/`, through);
  assert.equal(second.reason, 'blocked_address');
  // Both at once: only the public one is dialled.
  answers = [
    { address: '127.0.0.2', family: 4 },
    { address: '127.0.0.1', family: 4 },
  ];
  assert.ok(succeeded(await post(`http://mixed.example:${publicly.port}/`, through)));
  assert.equal(asked, 3, 'one look-up for each connection: there is no second answer to fall for');
  assert.equal(privately.received.length, 0);
});

test('a hanging name server ends with the deadline', async () => {
  const through = egress({ resolve: () => new Promise(() => {}) });
  const outcome = await post('http://slow.example/', through);
  assert.equal(outcome.reason, 'timeout');
  assert.ok(outcome.durationMs < MAX_MS);
});

const ADDRESSES: [string, boolean][] = [
  ['8.8.8.8', true],
  ['1.1.1.1', true],
  ['172.15.255.255', true],
  ['172.32.0.1', true],
  ['100.63.255.255', true],
  ['100.128.0.1', true],
  ['0.0.0.0', false],
  ['10.1.2.3', false],
  ['100.64.0.1', false],
  ['100.100.100.200', false],
  ['127.0.0.2', false],
  ['168.63.129.16', false],
  ['169.254.169.254', false],
  ['172.16.0.1', false],
  ['172.31.255.255', false],
  ['192.0.0.192', false],
  ['192.168.1.1', false],
  ['198.18.0.1', false],
  ['224.0.0.1', false],
  ['239.1.1.1', false],
  ['240.0.0.1', false],
  ['255.255.255.255', false],
  ['2606:4700:4700::1111', true],
  ['2a00:1450:4001::1', true],
  ['::', false],
  ['::1', false],
  ['::ffff:8.8.8.8', false],
  ['::ffff:127.0.0.1', false],
  ['::ffff:a00:1', false],
  ['::8.8.8.8', false],
  ['64:ff9b::8.8.8.8', false],
  ['64:ff9b:1::1', false],
  ['100::1', false],
  ['2001::1', false],
  ['2001:db8::1', false],
  ['2002:7f00:1::', false],
  ['3fff::1', false],
  ['fc00::1', false],
  ['fd00:ec2::254', false],
  ['fe80::1', false],
  ['fe80::1%eth0', false],
  ['fec0::1', false],
  ['ff02::1', false],
  ['not an address', false],
];

test('which addresses may be dialled', () => {
  const rules = new AddressRules([]);
  for (const [address, allowed] of ADDRESSES) assert.equal(rules.allows(address), allowed, address);
  const lenient = new AddressRules([
    { address: '127.0.0.0', prefix: 8 },
    { address: '::1', prefix: 128 },
  ]);
  for (const [address, allowed] of ADDRESSES) {
    const loopback = address.startsWith('127.') || address === '::1';
    assert.equal(lenient.allows(address), allowed || loopback, address);
  }
});

test('no writing of a private address gets through', async () => {
  const strict = egress({ allow: [] });
  for (const host of [
    '127.1',
    '0x7f.1',
    '2130706433',
    '0177.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '10.0.0.1',
    '169.254.169.254',
    '0',
    'localhost',
    'localhost.',
    'a.localhost',
    '[fe80::1]',
  ]) {
    const outcome = await post(`http://${host}:9/`, strict);
    assert.equal(outcome.reason, 'blocked_address', host);
  }
});

test('property: an address of a refused range is refused in every embedding in IPv6', () => {
  const rules = new AddressRules([]);
  fc.assert(
    fc.property(fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)), ([a, b, c, d]) => {
      const hex = [a * 256 + b, c * 256 + d].map((part) => part.toString(16)).join(':');
      for (const address of [`::ffff:${a}.${b}.${c}.${d}`, `::${hex}`, `64:ff9b::${hex}`, `2002:${hex}::1`]) {
        assert.equal(rules.allows(address), false, address);
      }
    }),
    { verbose: true },
  );
});
