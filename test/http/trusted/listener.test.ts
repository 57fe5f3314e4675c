import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import { connect, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import Fastify from 'fastify';
import { pino } from 'pino';
import { canonicalDistinguishedName } from '../../../src/certificates/distinguished-name.ts';
import { peerOf } from '../../../src/http/server/peer.ts';
import { isLeftBehind } from '../../../src/http/trusted/left-behind.ts';
import { certCheckRoute } from '../../../src/http/trusted/listener.ts';
import { createTlsListener } from '../../../src/http/trusted/tls.ts';
import {
  certificateText,
  credentials,
  DAY,
  folder,
  forged,
  type Holder,
  issue,
  keyText,
  LOCALHOST,
  revocationList,
  SERVER_PURPOSE,
} from '../../world/pki.ts';
import { listening } from '../../world/ports.ts';

/** Each answer is asked for so often: a reset in one of ten connections must not pass. */
const TIMES = 50;
/** Turns of the event loop within which what was written has been read. */
const TURNS = 10;
const SUBJECT = 'CN=acme,O=Acme Ltd,C=GB';

const root = await issue({ subject: 'CN=root,O=Bank,C=GB', ca: true });
const middle = await issue({ subject: 'CN=issuing,O=Bank,C=GB', ca: true, issuer: root });
const stranger = await issue({ subject: 'CN=stranger', ca: true });
const strange = await issue({ subject: 'CN=issuing,O=Bank,C=GB', ca: true, issuer: stranger });
const lower = await issue({ subject: 'CN=lower,O=Bank,C=GB', ca: true, issuer: middle });
const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: 'SHA-256',
};
const rsa = await issue({ subject: 'CN=rsa,O=Bank,C=GB', ca: true, issuer: root, algorithm: RSA });
const elsewhere = await issue({ subject: SUBJECT, issuer: strange });
const own = await issue({ subject: SUBJECT });
const server = await issue({ subject: 'CN=localhost', issuer: root, purposes: [SERVER_PURPOSE], more: [LOCALHOST] });
const good = await issue({ subject: SUBJECT, issuer: root });
const deep = await issue({ subject: SUBJECT, issuer: middle });
const revoked = await issue({ subject: SUBJECT, issuer: root });

const files = await folder({
  'server.pem': certificateText(server.certificate),
  'server-key.pem': await keyText(server),
  'ca.pem': certificateText(root.certificate, own.certificate),
  'crl.pem': (await revocationList(root, [revoked.certificate.serialNumber])) + (await revocationList(middle, [])),
});
const clock = { offset: 0, now: () => new Date(Date.now() + clock.offset) };
const registered = new Set([canonicalDistinguishedName(SUBJECT)]);
const database = { gone: false };
const log = pino({ level: 'silent' });

const app = Fastify({ bodyLimit: 10_000_000 });
certCheckRoute(app);
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
app.post('/echo', (incoming) => ({ bytes: (incoming.body as Buffer).length, peer: peerOf(incoming.raw) }));
app.get('/slow', async (incoming) => {
  await wait(300);
  return { peer: peerOf(incoming.raw) };
});
await app.ready();

const listener = await createTlsListener({
  handler: (incoming, response) => app.routing(incoming, response),
  files: {
    cert: files.path('server.pem'),
    key: files.path('server-key.pem'),
    ca: [files.path('ca.pem')],
    crl: [files.path('crl.pem')],
  },
  unread: { refused: () => {} },
  clock,
  log,
  isRegistered: async (subject) => {
    if (database.gone) throw new Error('the database is gone');
    return registered.has(subject);
  },
  limits: { handshakeMs: 2_000, maxPending: 40, refusalHeadMs: 400, refusalLingerMs: 400 },
});
const port = await listening(listener.server);

after(async () => {
  listener.server.closeAllConnections();
  await listener.close();
  await app.close();
  await files.remove();
});

/** Leads to the listener, and hands on one record of TLS after the other, as a slow network does. */
const slow = createServer((near) => {
  const far = connect(port, '127.0.0.1').setNoDelay(true);
  far.pipe(near);
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const)
    one.on('error', () => other.destroy()).on('close', () => other.destroy());
  void (async () => {
    let waiting = Buffer.alloc(0);
    for await (const chunk of near) {
      waiting = Buffer.concat([waiting, chunk]);
      for (let end = 5; waiting.length >= 5 && waiting.length >= (end = 5 + waiting.readUInt16BE(3)); ) {
        await new Promise((resolve) => far.write(waiting.subarray(0, end), resolve));
        waiting = waiting.subarray(end);
        // The listener is in this process: it reads the record meanwhile.
        for (let turns = 0; turns < TURNS; turns++) await turn();
      }
    }
    far.end();
  })().catch(() => far.destroy());
});
const slowPort = await listening(slow);
after(() => slow.close());

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}
interface Options {
  agent?: Agent;
  path?: string;
  method?: string;
  body?: Buffer;
  headers?: Record<string, string>;
  port?: number;
}

async function ask(holder: Holder | undefined, options: Options = {}): Promise<Answer> {
  const identity = holder && !options.agent ? await credentials(holder) : {};
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port: options.port ?? port,
        path: options.path ?? '/cert_check',
        method: options.method ?? 'GET',
        ca: certificateText(root.certificate),
        agent: options.agent ?? false,
        headers: options.headers,
        ...identity,
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
        response.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(options.body);
  });
}

/** Asks many times, a few at once, and fails on the first answer that is another or missing. */
async function always(
  holder: Holder | undefined,
  status: number,
  details: RegExp,
  options: Options = {},
): Promise<void> {
  for (let round = 0; round < TIMES / 5; round++) {
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask(holder, options)));
    for (const { status: given, text, headers } of answers) {
      assert.equal(given, status, text);
      if (status === 200) continue;
      assert.match(headers['content-type'] ?? '', /^application\/json/);
      assert.equal(headers['cache-control'], 'no-store');
      const body = JSON.parse(text) as { code: string; message: string; details: string };
      assert.deepEqual(Object.keys(body), ['code', 'message', 'details']);
      assert.equal(body.code, status === 496 ? 'certificate_missing' : 'certificate_invalid');
      assert.match(body.details, details);
    }
  }
}

const client = (more: Partial<Parameters<typeof issue>[0]> = {}) => issue({ subject: SUBJECT, issuer: root, ...more });

test('a good certificate comes in, and /cert_check tells its subject', async () => {
  await always(good, 200, /^/);
  const answer = await ask(good);
  assert.equal(answer.text, SUBJECT);
  assert.match(answer.headers['content-type'] ?? '', /^text\/plain/);
  assert.equal(answer.headers['cache-control'], 'no-store');
  assert.equal((await ask(deep)).status, 200, 'through an intermediate');
});

test('the application is told whose request it is, whatever the headers say', async () => {
  const { text } = await ask(good, {
    path: '/echo',
    method: 'POST',
    body: Buffer.alloc(300_000),
    headers: { 'client-cert': ':AAAA:', 'x-forwarded-client-cert': 'Subject="CN=other"' },
  });
  const { bytes, peer } = JSON.parse(text) as { bytes: number; peer: { subject: string; thumbprint: string } };
  assert.equal(bytes, 300_000);
  assert.equal(peer.subject, SUBJECT);
  assert.equal(peer.thumbprint, Buffer.from(await good.certificate.getThumbprint('SHA-256')).toString('base64url'));
});

test('no certificate: 496', () => always(undefined, 496, /client certificate/));
test('no certificate and a large body: 496', () =>
  always(undefined, 496, /client certificate/, { path: '/echo', method: 'POST', body: Buffer.alloc(2_000_000) }));

for (const [name, make, details] of [
  ['expired', () => client({ from: new Date(Date.now() - 2 * DAY), until: new Date(Date.now() - DAY) }), /expired/],
  ['not yet valid', () => client({ from: new Date(Date.now() + DAY) }), /valid from/],
  ['from another authority', () => client({ issuer: stranger }), /no authority/],
  [
    'from another authority that is sent along',
    async () => ({ ...(await client({ issuer: stranger })), chain: [stranger.certificate] }),
    /no authority/,
  ],
  ['self-signed', () => issue({ subject: SUBJECT }), /self-signed/],
  ['self-signed and in the list of authorities', () => own, /self-signed/],
  ['for another purpose', () => client({ purposes: [SERVER_PURPOSE] }), /client authentication/],
  ['revoked', () => revoked, /revoked/],
  ['forged', async () => forged(await client()), /signature/],
  [
    'forged, with its authority sent along',
    async () => ({ ...forged(await client()), chain: [root.certificate] }),
    /signature/,
  ],
  ['forged behind a good intermediate', async () => forged(deep), /signature/],
  [
    'forged behind a good intermediate, with the root sent along',
    async () => ({ ...forged(deep), chain: [middle.certificate, root.certificate] }),
    /signature/,
  ],
  [
    'forged behind two good intermediates',
    async () => forged(await issue({ subject: SUBJECT, issuer: lower })),
    /signature/,
  ],
  [
    'forged with an RSA key behind a good intermediate',
    async () => forged(await issue({ subject: SUBJECT, issuer: rsa })),
    /signature/,
  ],
  [
    'expired behind a good intermediate',
    async () => issue({ subject: SUBJECT, issuer: middle, until: new Date(Date.now() - DAY / 2) }),
    /expired/,
  ],
  [
    'of another root, with its whole chain',
    async () => ({ ...elsewhere, chain: [strange.certificate, stranger.certificate] }),
    /./,
  ],
  ['of another root, forged', async () => forged(elsewhere), /./],
  ['forged with the names of a good chain', async () => ({ ...elsewhere, chain: [middle.certificate] }), /./],
  ['a forged intermediate', async () => ({ ...deep, chain: [forged(middle).certificate] }), /signature/],
  ['of an unregistered subject', () => client({ subject: 'CN=other,O=Acme Ltd,C=GB' }), /not registered/],
  ['of a look-alike subject (letter)', () => client({ subject: 'CN=аcme,O=Acme Ltd,C=GB' }), /not registered/],
  ['of a look-alike subject (case)', () => client({ subject: 'CN=ACME,O=Acme Ltd,C=GB' }), /not registered/],
  ['of a look-alike subject (order)', () => client({ subject: 'C=GB,O=Acme Ltd,CN=acme' }), /not registered/],
  ['of a look-alike subject (more)', () => client({ subject: 'CN=acme,OU=x,O=Acme Ltd,C=GB' }), /not registered/],
] as [string, () => Promise<Holder> | Holder, RegExp][]) {
  test(`a certificate ${name}: 495, also in pieces`, async () => {
    const holder = await make();
    await always(holder, 495, details);
    const inPieces = await ask(holder, { port: slowPort });
    assert.deepEqual([inPieces.status, details.test(JSON.parse(inPieces.text).details)], [495, true], inPieces.text);
  });
}

test('an error of TLS itself ends a handshake; one of what it has called does not', () => {
  const signature =
    '401D8BDCCB7F0000:error:030000EA:digital envelope routines:EVP_DigestVerifyFinal:provider signature failure:../m_sigver.c:703:\n';
  const proof =
    '401D8BDCCB7F0000:error:0A00007B:SSL routines:tls_process_cert_verify:bad signature:../statem_lib.c:610:\n';
  for (const [text, leftBehind] of [
    [signature, true],
    [signature + signature, true],
    [proof, false],
    [signature + proof, false],
    ['read ECONNRESET', false],
    ['', false],
  ] as const)
    assert.equal(isLeftBehind(text), leftBehind, text);
});

test('a refusal has an answer for HEAD, keeps the request id, and closes', async () => {
  const answer = await ask(undefined, { method: 'HEAD', headers: { 'x-request-id': 'mine-1' } });
  assert.deepEqual(
    [answer.status, answer.text, answer.headers['x-request-id'], answer.headers.connection],
    [496, '', 'mine-1', 'close'],
  );
  assert.match(
    (await ask(undefined, { headers: { 'x-request-id': 'not one' } })).headers['x-request-id'] as string,
    /^[0-9a-f-]{36}$/,
  );
});

test('plain HTTP: 497, always', async () => {
  for (let round = 0; round < TIMES; round++) {
    const method = ['GET', 'POST', 'DELETE', 'OPTIONS', 'patch'][round % 5];
    const answer = await raw(
      `${method} /cert_check HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n${'x'.repeat(100_000)}`,
    );
    assert.match(answer, /^HTTP\/1\.1 497 /);
    assert.equal((JSON.parse(answer.split('\r\n\r\n')[1] as string) as { code: string }).code, 'https_required');
  }
});

test('plain HTTP in pieces, and without an end', async () => {
  const socket = connect(port, '127.0.0.1');
  socket.write('G');
  await wait(50);
  socket.write('ET / HTTP/1.1\r\n');
  assert.match(await textOf(socket), /^HTTP\/1\.1 497 /, 'answered although the head never ended');
});

test('what is neither TLS nor HTTP is dropped', async () => {
  const socket = connect(port, '127.0.0.1');
  socket.write(Buffer.from([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]));
  assert.ok(!(await textOf(socket)).startsWith('HTTP'));
});

const run = promisify(execFile);
const clientFiles = await folder({
  'cert.pem': certificateText(good.certificate),
  'key.pem': await keyText(good),
  'ca.pem': certificateText(root.certificate),
});
after(() => clientFiles.remove());
const withCertificate = ['-cert', clientFiles.path('cert.pem'), '-key', clientFiles.path('key.pem')];

/** openssl s_client with a request; answers all that it printed. */
async function sClient(args: string[]): Promise<string> {
  const child = spawn('openssl', [
    's_client',
    '-connect',
    `127.0.0.1:${port}`,
    '-CAfile',
    clientFiles.path('ca.pem'),
    '-ign_eof',
    ...args,
  ]);
  child.stdin.on('error', () => undefined);
  child.stdin.write('GET /cert_check HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const timer = setTimeout(() => child.kill(), 60_000);
  await once(child, 'close');
  clearTimeout(timer);
  return text;
}

test('openssl: the three suites of TLS 1.3 and nothing else', async () => {
  for (const suite of ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256']) {
    const text = await sClient(['-ciphersuites', suite, ...withCertificate]);
    assert.match(text, new RegExp(`Cipher is ${suite}`));
    assert.match(text, /HTTP\/1\.1 200 OK/);
  }
  assert.match(
    await sClient(['-ciphersuites', 'TLS_AES_128_CCM_SHA256', ...withCertificate]),
    /alert handshake failure/,
  );
  assert.match(await sClient(['-tls1_2', ...withCertificate]), /alert protocol version/);
});

test('openssl: a session cannot be resumed, so none comes in without a certificate', async () => {
  const session = clientFiles.path('session.pem');
  assert.match(await sClient([...withCertificate, '-sess_out', session]), /200 OK/);
  const resumed = await sClient(['-sess_in', session]).catch(() => '');
  assert.doesNotMatch(resumed, /Reused|200 OK/);
  // Stateful tickets are announced all the same, but nothing stands behind them.
  const first = await handshake(await credentials(good));
  const announced = once(first, 'session');
  first.write('GET /cert_check HTTP/1.1\r\nhost: x\r\n\r\n');
  const [ticket] = (await announced) as [Buffer];
  first.destroy();
  for (let round = 0; round < TIMES; round++) {
    const second = await handshake({ session: ticket });
    assert.equal(second.isSessionReused(), false);
    second.write('GET /cert_check HTTP/1.1\r\nhost: x\r\n\r\n');
    assert.match(await textOf(second), /^HTTP\/1\.1 496 /);
  }
});

test('curl: with and without a certificate, and over HTTP', async () => {
  const curl = async (...args: string[]) =>
    (await run('curl', ['-sS', '-w', '\n%{http_code}', '--cacert', clientFiles.path('ca.pem'), ...args])).stdout.split(
      '\n',
    );
  const address = `https://localhost:${port}/cert_check`;
  const options = ['--connect-to', `localhost:${port}:127.0.0.1:${port}`];
  assert.deepEqual(
    await curl(...options, '--cert', clientFiles.path('cert.pem'), '--key', clientFiles.path('key.pem'), address),
    [SUBJECT, '200'],
  );
  assert.equal((await curl(...options, address)).at(-1), '496');
  assert.equal((await curl(`http://127.0.0.1:${port}/cert_check`)).at(-1), '497');
  for (const [name, holder] of [
    ['forged', forged(await client())],
    ['revoked', revoked],
  ] as const) {
    await clientFiles.write(`${name}.pem`, certificateText(holder.certificate));
    await clientFiles.write(`${name}-key.pem`, await keyText(holder));
    for (let round = 0; round < TIMES; round++) {
      const [body, status] = await curl(
        ...options,
        '--cert',
        clientFiles.path(`${name}.pem`),
        '--key',
        clientFiles.path(`${name}-key.pem`),
        address,
      );
      assert.equal(status, '495', body);
    }
  }
});

test('slow handshakes are cut off, and do not keep good callers out', async () => {
  const started = performance.now();
  const slow = Array.from({ length: 60 }, (_, index) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    if (index % 2) socket.write(Buffer.from([0x16, 3, 1, 2, 0, 1]));
    return once(socket, 'close').then(() => performance.now() - started);
  });
  await wait(100);
  assert.equal((await ask(good)).status, 200, 'while 40 of 40 places are taken');
  const ends = (await Promise.all(slow)).sort((a, b) => a - b);
  assert.ok(ends.filter((end) => end < 0.6 * (ends.at(-1) as number)).length >= 20, 'the oldest give way to new ones');
  assert.ok((ends.at(-1) as number) < 10_000, `the others end by themselves, the last after ${ends.at(-1)} ms`);
});

test('a caller without a certificate who asks nothing is answered and dropped', async () => {
  const socket = await handshake({});
  assert.match(await textOf(socket), /^HTTP\/1\.1 496 /);
});

test('a connection outlives its certificate by not one request', async () => {
  const short = await client({ until: new Date(Date.now() + DAY) });
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 1,
    ...(await credentials(short)),
    ca: certificateText(root.certificate),
  });
  assert.equal((await ask(short, { agent })).status, 200);
  clock.offset = 2 * DAY;
  try {
    const late = await ask(short, { agent });
    assert.equal(late.status, 495);
    assert.match(late.text, /expired/);
  } finally {
    clock.offset = 0;
    agent.destroy();
  }
});

test('a subject that is no longer registered is refused within a second or so, and a database that is gone is a 502', async () => {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 1,
    ...(await credentials(good)),
    ca: certificateText(root.certificate),
  });
  assert.equal((await ask(good, { agent })).status, 200);
  registered.clear();
  await wait(1_100);
  const answer = await ask(good, { agent });
  registered.add(canonicalDistinguishedName(SUBJECT));
  assert.equal(answer.status, 495);
  assert.match(answer.text, /not registered/);
  database.gone = true;
  const broken = await ask(good);
  database.gone = false;
  assert.equal(broken.status, 502);
  assert.equal((JSON.parse(broken.text) as { code: string }).code, 'integration_error');
  assert.equal((await ask(good)).status, 200);
  agent.destroy();
});

test('a reload keeps good connections, drops revoked ones, and takes new files', async () => {
  const victim = await client();
  const agents = await Promise.all(
    [good, victim].map(
      async (holder) =>
        new Agent({
          keepAlive: true,
          maxSockets: 1,
          ...(await credentials(holder)),
          ca: certificateText(root.certificate),
        }),
    ),
  );
  const [goodAgent, victimAgent] = agents as [Agent, Agent];
  for (const agent of agents) assert.equal((await ask(good, { agent })).status, 200);
  const socketOf = (agent: Agent) => Object.values(agent.freeSockets).flat()[0] as TLSSocket;
  await wait(20);
  const [kept, dropped] = [socketOf(goodAgent), socketOf(victimAgent)];
  const under = ask(good, { agent: goodAgent, path: '/slow' });
  await wait(50);

  await files.write(
    'crl.pem',
    (await revocationList(
      root,
      [revoked, victim].map(({ certificate }) => certificate.serialNumber),
    )) + (await revocationList(middle, [])),
  );
  const closed = once(dropped, 'close');
  const outcome = await listener.reload();
  assert.ok(outcome.dropped >= 1 && outcome.kept >= 1, JSON.stringify(outcome));
  await closed;
  assert.equal((await under).status, 200, 'a request under way ends well');
  await wait(20);
  assert.equal(socketOf(goodAgent), kept);
  assert.equal((await ask(good, { agent: goodAgent })).status, 200);
  assert.equal(kept.destroyed, false);
  assert.match((await ask(victim)).text, /revoked/);

  const renewed = await issue({ subject: 'CN=localhost', issuer: root, purposes: [SERVER_PURPOSE], more: [LOCALHOST] });
  await files.write('server.pem', certificateText(renewed.certificate));
  await assert.rejects(listener.reload(), /key/i, 'a certificate without its key is not taken');
  assert.equal((await ask(good)).status, 200);
  await files.write('server-key.pem', await keyText(renewed));
  await listener.reload();
  const fresh = await handshake(await credentials(good));
  assert.equal(Buffer.compare(fresh.getPeerX509Certificate()!.raw, Buffer.from(renewed.certificate.rawData)), 0);
  fresh.destroy();

  await files.write('ca.pem', certificateText(stranger.certificate));
  const gone = once(kept, 'close');
  await listener.reload();
  await gone; // an authority that is taken away takes its connections along
  assert.match((await ask(good)).text, /no authority/);
  await files.write('ca.pem', certificateText(root.certificate, own.certificate));
  await listener.reload();
  assert.equal((await ask(good)).status, 200);
  for (const agent of agents) agent.destroy();
});

test('fifty reloads under load: no good request is lost', async () => {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 4,
    ...(await credentials(good)),
    ca: certificateText(root.certificate),
  });
  let stop = false;
  let count = 0;
  const callers = Array.from({ length: 4 }, async () => {
    while (!stop) {
      assert.equal((await ask(good, { agent })).status, 200);
      count++;
    }
  });
  for (let round = 0; round < TIMES; round++) await listener.reload();
  stop = true;
  await Promise.all(callers);
  agent.destroy();
  assert.ok(count > 50, `${count} requests`);
});

async function handshake(identity: { cert?: string; key?: string; session?: Buffer }): Promise<TLSSocket> {
  const socket = connectTls({ port, host: '127.0.0.1', ca: certificateText(root.certificate), ...identity });
  await once(socket, 'secureConnect');
  return socket;
}

async function textOf(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  if (!socket.closed) await once(socket, 'close');
  return text;
}

function raw(bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  return textOf(socket);
}
