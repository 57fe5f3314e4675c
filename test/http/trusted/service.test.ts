import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { SANDBOX_CLIENT_SUBJECT } from '../../../src/embedded/test-subject.ts';
import { createWorld } from '../../world/client.ts';
import { nextRun } from '../../world/runs.ts';
import { call, startTestService, type TestService } from '../../world/service.ts';
import { until } from '../../world/until.ts';

let service: TestService;
let world: Awaited<ReturnType<typeof createWorld>>;
let secret: string;
let tls: string;
const run = promisify(execFile);

before(async () => {
  service = await startTestService();
  world = await createWorld(service);
  const application = await service.operator('POST', '/applications', {
    name: 'Institution',
    client_id: 'institution',
    redirect_uris: ['https://institution.example/cb'],
    certificate_subjects: [SANDBOX_CLIENT_SUBJECT],
    trusted_clients: [world.clientId],
  });
  assert.equal(application.status, 201, application.text);
  secret = application.body.client_secret;
  await service.operator('PATCH', `/contacts/${world.contactId}`, { trusted_access: true });
  tls = join(service.config.dataDir, 'tls');
});
after(() => service.stop());

const trusted = () => service.service.addresses.trusted ?? '';

async function curl(...args: string[]): Promise<{ status: number; body: string }> {
  const { stdout } = await run('curl', ['-s', '--cacert', `${tls}/ca.pem`, '-w', '\n%{http_code}', ...args]);
  const at = stdout.lastIndexOf('\n');
  return { status: Number(stdout.slice(at + 1)), body: stdout.slice(0, at) };
}
const certificate = () => ['--cert', `${tls}/client.pem`, '--key', `${tls}/client-key.pem`];
const basic = () => ['-u', `institution:${secret}`];

test('cert_check tells the subject, and without a certificate it is a 496', async () => {
  const checked = await curl(...certificate(), `${trusted()}/cert_check`);
  assert.deepEqual([checked.status, checked.body], [200, SANDBOX_CLIENT_SUBJECT]);
  const none = await curl(`${trusted()}/cert_check`);
  assert.equal(none.status, 496);
  assert.equal(JSON.parse(none.body).code, 'certificate_missing');
  const plain = await call(`${trusted().replace('https:', 'http:')}/cert_check`, 'GET');
  assert.deepEqual([plain.status, plain.body.code], [497, 'https_required']);
});

test('a token for a contact works on the trusted address with its certificate, and nowhere else', async () => {
  const issued = await curl(
    ...certificate(),
    ...basic(),
    '-d',
    'grant_type=client_credentials',
    `${trusted()}/token/${world.contactId}`,
  );
  assert.equal(issued.status, 200, issued.body);
  const token = JSON.parse(issued.body);
  assert.deepEqual([token.token_type, token.expires_in], ['Bearer', 3600]);
  assert.ok(token.id_token && token.refresh_token);
  const path = `/payments?client_id=${world.clientId}`;
  const bearer = ['-H', `authorization: Bearer ${token.access_token}`];
  assert.equal((await curl(...certificate(), ...bearer, `${trusted()}${path}`)).status, 200);
  const elsewhere = await service.client(token.access_token, 'GET', path);
  assert.deepEqual([elsewhere.status, elsewhere.body.code], [401, 'authentication_failed']);
  const refreshed = await curl(
    ...certificate(),
    ...basic(),
    '-d',
    `grant_type=refresh_token&scope=openid&refresh_token=${token.refresh_token}`,
    `${trusted()}/token`,
  );
  assert.equal(refreshed.status, 200, refreshed.body);
});

test('an access token of a sign-in works at the trusted address too, by the same code', async () => {
  const token = await world.signIn();
  const answer = await curl(
    ...certificate(),
    '-H',
    `authorization: Bearer ${token}`,
    `${trusted()}/accounts/currency-accounts?client_id=${world.clientId}`,
  );
  assert.deepEqual([answer.status, answer.body], [200, '[]']);
  assert.equal((await curl(...certificate(), `${trusted()}/payments`)).status, 401);
});

test('a contact without trusted access, or of another client, gets no token', async () => {
  const other = await createWorld(service, 'Not of the institution');
  await service.operator('PATCH', `/contacts/${other.contactId}`, { trusted_access: true });
  for (const contact of [other.contactId, 'CON999999']) {
    const answer = await curl(
      ...certificate(),
      ...basic(),
      '-d',
      'grant_type=client_credentials',
      `${trusted()}/token/${contact}`,
    );
    assert.deepEqual([answer.status, JSON.parse(answer.body).error], [400, 'unauthorized_client'], answer.body);
  }
});

test('a subject that is not registered any more is refused with 495', async () => {
  await service.operator('PATCH', '/applications/institution', { certificate_subjects: [] });
  await until(async () => (await curl(...certificate(), `${trusted()}/cert_check`)).status === 495);
  await service.operator('PATCH', '/applications/institution', { certificate_subjects: [SANDBOX_CLIENT_SUBJECT] });
  const wrong = await service.operator('PATCH', '/applications/institution', { certificate_subjects: ['not a name'] });
  assert.ok(wrong.body.details.includes('body.certificate_subjects[0]'));
});

test('SIGHUP reads certificates anew without dropping a good connection', async () => {
  const { Agent } = await import('node:https');
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 1,
    ca: readFileSync(`${tls}/ca.pem`),
    cert: readFileSync(`${tls}/client.pem`),
    key: readFileSync(`${tls}/client-key.pem`),
  });
  const check = () =>
    new Promise<{ status: number; port: number | undefined }>((resolve, reject) => {
      const call = request(`${trusted()}/cert_check`, { agent }, (response) => {
        const port = response.socket.localPort;
        response.resume().on('end', () => resolve({ status: response.statusCode ?? 0, port }));
      });
      call.on('error', reject).end();
    });
  const before = await check();
  const reloaded = nextRun('certificates');
  process.kill(process.pid, 'SIGHUP');
  await reloaded;
  const afterwards = await check();
  assert.deepEqual(afterwards, { status: 200, port: before.port });
  agent.destroy();
});
