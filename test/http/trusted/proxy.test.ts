import assert from 'node:assert/strict';
import { type IncomingHttpHeaders, request } from 'node:http';
import { after, test } from 'node:test';
import Fastify from 'fastify';
import { pino } from 'pino';
import { certCheckRoute } from '../../../src/http/trusted/listener.ts';
import { createProxiedListener } from '../../../src/http/trusted/proxy.ts';
import type { AddressRange } from '../../../src/settings/settings.ts';
import {
  certificateText,
  DAY,
  folder,
  forged,
  type Holder,
  issue,
  revocationList,
  SERVER_PURPOSE,
} from '../../world/pki.ts';
import { listening } from '../../world/ports.ts';

const SUBJECT = 'CN=acme,O=Acme Ltd,C=GB';
const root = await issue({ subject: 'CN=root', ca: true });
const middle = await issue({ subject: 'CN=issuing', ca: true, issuer: root });
const good = await issue({ subject: SUBJECT, issuer: root });
const deep = await issue({ subject: SUBJECT, issuer: middle });
const revoked = await issue({ subject: SUBJECT, issuer: root });

const files = await folder({
  'ca.pem': certificateText(root.certificate),
  'crl.pem': (await revocationList(root, [revoked.certificate.serialNumber])) + (await revocationList(middle, [])),
});
const clock = { offset: 0, now: () => new Date(Date.now() + clock.offset) };
const app = Fastify();
certCheckRoute(app);
await app.ready();

const listen = async (proxies: AddressRange[]) => {
  const listener = await createProxiedListener({
    handler: (incoming, response) => app.routing(incoming, response),
    files: { ca: [files.path('ca.pem')], crl: [files.path('crl.pem')] },
    proxies,
    unread: { refused: () => {} },
    clock,
    log: pino({ level: 'silent' }),
    isRegistered: async (subject) => subject === SUBJECT,
  });
  const port = await listening(listener.server);
  after(() => {
    listener.server.closeAllConnections();
    return listener.close();
  });
  return { ...listener, port };
};
const listener = await listen([
  { address: '127.0.0.0', prefix: 8 },
  { address: '::1', prefix: 128 },
]);
after(async () => {
  await app.close();
  await files.remove();
});

const field = (der: ArrayBuffer) => `:${Buffer.from(der).toString('base64')}:`;
const headersOf = (holder: Holder) => ({
  'client-cert': field(holder.certificate.rawData),
  ...(holder.chain.length ? { 'client-cert-chain': holder.chain.map(({ rawData }) => field(rawData)).join(', ') } : {}),
});

function ask(
  headers: Record<string, string | string[]>,
  port = listener.port,
): Promise<{ status: number; text: string; headers: IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path: '/cert_check', headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }));
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

test('the certificate that a proxy passes on is judged as one that came over TLS', async () => {
  assert.deepEqual([(await ask(headersOf(good))).status, (await ask(headersOf(good))).text], [200, SUBJECT]);
  assert.equal((await ask(headersOf(deep))).status, 200);
  const table: [string, Holder, RegExp][] = [
    ['an intermediate that is missing', { ...deep, chain: [] }, /no authority/],
    ['revoked', revoked, /revoked/],
    ['forged', forged(good), /signature/],
    ['self-signed', await issue({ subject: SUBJECT }), /self-signed/],
    ['purpose', await issue({ subject: SUBJECT, issuer: root, purposes: [SERVER_PURPOSE] }), /client authentication/],
    ['unregistered', await issue({ subject: 'CN=other', issuer: root }), /not registered/],
  ];
  for (const [name, holder, details] of table) {
    const answer = await ask(headersOf(holder));
    assert.equal(answer.status, 495, name);
    assert.match(answer.text, details, name);
  }
});

test('no header is no certificate; anything but one certificate is a bad one', async () => {
  assert.equal((await ask({})).status, 496);
  const value = field(good.certificate.rawData);
  for (const wrong of [
    '',
    'x',
    value.slice(1),
    `${value}, ${value}`,
    ':!!:',
    '::',
    ':AAAA:',
    encodeURIComponent(certificateText(good.certificate)),
  ]) {
    assert.equal((await ask({ 'client-cert': wrong })).status, 495, wrong.slice(0, 20));
  }
  assert.equal((await ask({ 'client-cert': [value, value] })).status, 495, 'a header twice');
  assert.equal((await ask({ ...headersOf(good), 'client-cert-chain': 'x' })).status, 495);
});

test('another address than a proxy is told to use HTTPS, whatever it sends', async () => {
  const other = await listen([
    { address: '10.0.0.0', prefix: 8 },
    { address: '127.0.0.2', prefix: 32 },
    { address: 'fd00::', prefix: 8 },
  ]);
  const answer = await ask(headersOf(good), other.port);
  assert.equal(answer.status, 497);
  assert.equal((JSON.parse(answer.text) as { code: string }).code, 'https_required');
  const none = await listen([]);
  assert.equal((await ask(headersOf(good), none.port)).status, 497);
});

test('a remembered verdict ends with the dates and with a reload', async () => {
  const short = await issue({ subject: SUBJECT, issuer: root, until: new Date(Date.now() + DAY) });
  assert.equal((await ask(headersOf(short))).status, 200);
  clock.offset = 2 * DAY;
  const late = await ask(headersOf(short));
  clock.offset = 0;
  assert.match(late.text, /expired/);
  assert.equal((await ask(headersOf(short))).status, 200);
  await files.write(
    'crl.pem',
    (await revocationList(root, [short.certificate.serialNumber])) + (await revocationList(middle, [])),
  );
  await listener.reload();
  assert.match((await ask(headersOf(short))).text, /revoked/);
});
