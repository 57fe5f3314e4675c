import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { canonicalDistinguishedName } from '../../src/certificates/distinguished-name.ts';
import { setPeer } from '../../src/http/server/peer.ts';
import { createServer } from '../../src/http/server/server.ts';
import { trustedTokenRoutes } from '../../src/http/trusted/token.ts';
import { startTestService, type TestService } from '../world/service.ts';
import {
  claimsOf,
  createApplication,
  createPerson,
  exchange,
  type Person,
  refreshTokens,
  type Seen,
  signInHeadless,
  type TestApplication,
  tokensOf,
  Visitor,
} from '../world/visitor.ts';

/** The token operations of the trusted address. Here the certificate is given; other tests cover the TLS in front of it. */

const SUBJECT = 'CN=acme,O=Acme Ltd,C=GB';

let service: TestService;
let listener: FastifyInstance;
let trusted: string;
let application: TestApplication;
let person: Person;
/** The certificate that the next requests come with. */
let peer: { subject: string; thumbprint: string } | undefined;

before(async () => {
  service = await startTestService();
  listener = createServer({ name: 'trusted', context: service.service.context });
  listener.addHook('onRequest', async (request) => {
    if (peer)
      setPeer(request.raw, {
        subject: peer.subject,
        canonicalSubject: canonicalDistinguishedName(peer.subject) ?? '',
        thumbprint: peer.thumbprint,
      });
  });
  const { context } = service.service;
  const { Sessions } = await import('../../src/identity/tokens/sessions.ts');
  const sessions = new Sessions(context.pool, context.clock, context.log);
  await sessions.start();
  listener.addHook('onClose', () => sessions.stop());
  await trustedTokenRoutes(sessions)(listener, context);
  trusted = await listener.listen({ port: 0, host: '127.0.0.1' });
  person = await createPerson(service, { trusted_access: true });
  application = await createApplication(service, {
    certificate_subjects: ['CN = acme, O = Acme Ltd, C = GB'],
    trusted_clients: [person.clientId],
  });
});
after(async () => {
  await listener.close();
  await service.stop();
});

function call(path: string, fields: Record<string, string>, one: TestApplication = application): Promise<Seen> {
  return new Visitor().post(`${trusted}${path}`, fields, { authorization: one.basic, accept: '*/*' });
}
const forContact = (contactId: string, one?: TestApplication) =>
  call(`/token/${contactId}`, { grant_type: 'client_credentials' }, one);

test('tokens for a contact, bound to the certificate and refreshed over mutual TLS only', async () => {
  peer = { subject: SUBJECT, thumbprint: 'thumb-1' };
  const answer = await forContact(person.contactId);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(claimsOf(answer.body.id_token).sub, person.contactId);
  assert.equal((await call('/introspect', { token: answer.body.access_token })).body.cnf['x5t#S256'], 'thumb-1');
  assert.equal((await refreshTokens(service, application, answer.body.refresh_token)).body.error, 'invalid_grant');
  peer = { subject: SUBJECT, thumbprint: 'thumb-2' };
  const refreshed = await call('/token', {
    grant_type: 'refresh_token',
    refresh_token: answer.body.refresh_token,
    scope: 'openid',
  });
  assert.equal(refreshed.status, 200, refreshed.text);
  assert.equal(
    (await call('/introspect', { token: refreshed.body.access_token })).body.cnf['x5t#S256'],
    'thumb-2',
    'a renewed certificate',
  );
  const userinfo = (token: string, address: string) =>
    new Visitor().request(`${address}/userinfo`, { headers: { authorization: `Bearer ${token}`, accept: '*/*' } });
  assert.equal((await userinfo(refreshed.body.access_token, trusted)).status, 200);
  assert.equal((await userinfo(answer.body.access_token, trusted)).status, 401, 'bound to the other certificate');
  assert.equal((await userinfo(refreshed.body.access_token, service.auth)).status, 401, 'without a certificate');
  const api = await service.client(
    refreshed.body.access_token,
    'GET',
    `/accounts/currency-accounts?client_id=${person.clientId}`,
  );
  assert.equal(api.status, 401, 'at the client API without a certificate');
});

test('an application reads which contacts it may take tokens for', async () => {
  peer = { subject: SUBJECT, thumbprint: 'thumb-1' };
  const read = (authorization: string) =>
    new Visitor().request(`${trusted}/info/available-contacts`, { headers: { authorization, accept: '*/*' } });
  await createPerson(service, { trusted_access: true });
  const answer = await read(application.basic);
  assert.deepEqual([answer.status, answer.body], [200, { data: [person.contactId] }], answer.text);
  await service.operator('PATCH', `/contacts/${person.contactId}`, { trusted_access: false });
  assert.deepEqual((await read(application.basic)).body, { data: [] });
  await service.operator('PATCH', `/contacts/${person.contactId}`, { trusted_access: true });
  assert.equal((await read('Basic bm9ib2R5Og==')).status, 401);
  peer = { subject: 'CN=other,O=Acme Ltd,C=GB', thumbprint: 'thumb-1' };
  assert.equal((await read(application.basic)).body.error, 'unauthorized_client');
});

test('a code is exchanged at the trusted address too, and its tokens are bound', async () => {
  peer = { subject: SUBJECT, thumbprint: 'thumb-1' };
  const code = (await signInHeadless(service, application, person)).body.code;
  const answer = await call('/token', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: 'https://app.example.com/callback',
  });
  assert.equal(answer.status, 200, answer.text);
  assert.equal((await call('/introspect', { token: answer.body.access_token })).body.cnf['x5t#S256'], 'thumb-1');
});

test('a subject that is not registered for the application, a look-alike, and no certificate', async () => {
  for (const subject of [
    'CN=other,O=Acme Ltd,C=GB',
    'CN=acme,O=Acme Ltd,C=GB,CN=x',
    'CN=аcme,O=Acme Ltd,C=GB',
    'CN=acme\\,O=Acme Ltd,C=GB',
    'cn=ACME,O=Acme Ltd,C=GB',
  ]) {
    peer = { subject, thumbprint: 'thumb-3' };
    for (const path of [`/token/${person.contactId}`, '/token', '/introspect', '/revoke']) {
      const answer = await call(path, { grant_type: 'client_credentials', token: 'x' });
      assert.equal(answer.status, 400, `${subject} ${path}`);
      assert.equal(answer.body.error, 'unauthorized_client');
    }
  }
  peer = { subject: SUBJECT, thumbprint: 'thumb-1' };
  const other = await createApplication(service, { trusted_clients: [person.clientId] });
  assert.equal(
    (await forContact(person.contactId, other)).body.error,
    'unauthorized_client',
    'registered for another application',
  );
  peer = undefined;
  assert.equal((await forContact(person.contactId)).status, 496);
});

test('a contact without trusted access, of another institution, disabled, or none: the same answer', async () => {
  peer = { subject: SUBJECT, thumbprint: 'thumb-1' };
  const without = await createPerson(service);
  const foreign = await createPerson(service, { trusted_access: true });
  const disabled = await createPerson(service, { trusted_access: true, clients: [{ client_id: person.clientId }] });
  assert.equal((await forContact(disabled.contactId)).status, 200);
  await service.operator('PATCH', `/contacts/${disabled.contactId}`, { status: 'disabled' });
  const answers = [];
  for (const id of [without.contactId, foreign.contactId, disabled.contactId, 'nobody', '%00', "' or 1=1"])
    answers.push(await forContact(encodeURIComponent(id)));
  for (const answer of answers.slice(0, 4)) {
    assert.equal(answer.status, 400);
    assert.equal(answer.text, answers[0]?.text);
    assert.equal(answer.body.error, 'unauthorized_client');
  }
  for (const answer of answers) assert.equal(answer.status, 400);
});

test('such a token reaches only the clients that the application may act for', async () => {
  peer = { subject: SUBJECT, thumbprint: 'thumb-1' };
  const second = await service.operator('POST', '/clients', { client_name: 'Not trusted' });
  const both = await createPerson(service, {
    trusted_access: true,
    clients: [{ client_id: person.clientId }, { client_id: second.body.client_id }],
  });
  const answer = await forContact(both.contactId);
  assert.deepEqual(claimsOf(answer.body.id_token).clients, [
    { client_id: person.clientId, client_name: 'Acme & Sons' },
  ]);
  const session = await service.service.context.pool.query('select trusted from grants where contact_id = $1', [
    both.contactId,
  ]);
  assert.equal(session.rows[0].trusted, true);
  const userinfo = await new Visitor().request(`${trusted}/userinfo`, {
    headers: { authorization: `Bearer ${answer.body.access_token}`, accept: '*/*' },
  });
  assert.deepEqual(
    userinfo.body.clients.map((client: { client_id: string }) => client.client_id),
    [person.clientId],
  );
  const own = await tokensOf(service, application, both);
  assert.equal((claimsOf(own.id_token).clients as unknown[]).length, 2);
});

test('taking trusted access away ends what it gave', async () => {
  peer = { subject: SUBJECT, thumbprint: 'thumb-1' };
  const someone = await createPerson(service, { trusted_access: true, clients: [{ client_id: person.clientId }] });
  const { body } = await forContact(someone.contactId);
  await service.operator('PATCH', `/contacts/${someone.contactId}`, { trusted_access: false });
  assert.equal((await call('/introspect', { token: body.access_token })).body.active, false);
  assert.equal(
    (await call('/token', { grant_type: 'refresh_token', refresh_token: body.refresh_token })).body.error,
    'invalid_grant',
  );
});

test('only client_credentials, and not at the authorization server', async () => {
  peer = { subject: SUBJECT, thumbprint: 'thumb-1' };
  assert.equal(
    (await call(`/token/${person.contactId}`, { grant_type: 'authorization_code' })).body.error,
    'unsupported_grant_type',
  );
  const there = await new Visitor().post(
    `${service.auth}/token/${person.contactId}`,
    { grant_type: 'client_credentials' },
    { authorization: application.basic, accept: '*/*' },
  );
  assert.equal(there.status, 404);
  assert.equal((await exchange(service, application, 'x')).body.error, 'invalid_grant');
});
