import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { clearRefusedRequests } from '../../../src/monitoring/refused-requests.ts';
import { clearSignInAttempts } from '../../../src/monitoring/sign-in-attempts.ts';
import { createWorld } from '../../world/client.ts';
import { call, startTestService, type TestService } from '../../world/service.ts';
import {
  createApplication,
  createPerson,
  type Person,
  signInHeadless,
  type TestApplication,
  Visitor,
} from '../../world/visitor.ts';

let service: TestService;
let application: TestApplication;
before(async () => {
  service = await startTestService({ LOMBARD_PROXIES: '127.0.0.0/8' });
  application = await createApplication(service);
});
after(() => service?.stop());

type Row = Record<string, unknown>;
const requests = async (query: string) => (await service.operator('GET', `/requests?${query}`)).body as Row[];
const signIns = async (query: string) => (await service.operator('GET', `/sign-ins?${query}`)).body as Row[];

describe('GET /requests', () => {
  test('a refused request of each listener, with who made it and why', async () => {
    const world = await createWorld(service);
    const token = await world.signIn();
    const { operatorUrl: operator, api, auth } = service;
    const client = { client_id: world.clientId, contact_id: world.contactId, application: 'test-app' };
    const nobody = { client_id: null, contact_id: null, application: null };
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const basic = { ...form, authorization: application.basic };
    const sent: [string, string, string, Record<string, string>, Row][] = [
      [
        'api',
        'GET',
        `${api}/payments?client_id=${world.clientId}&page=0`,
        {},
        { status: 400, code: 'invalid_parameter', ...client },
      ],
      [
        'api',
        'GET',
        `${api}/payments/none?client_id=${world.clientId}`,
        {},
        { status: 404, route: '/payments/:payment_id', ...client },
      ],
      [
        'api',
        'GET',
        `${api}/payments?client_id=other`,
        {},
        { status: 404, code: 'client_not_found', ...client, client_id: null },
      ],
      ['api', 'GET', `${api}/payments/%zz`, {}, { status: 404, code: 'not_found', ...nobody }],
      ['api', 'GET', `${api}/nothing`, {}, { status: 404, route: null, ...nobody }],
      ['auth', 'POST', `${auth}/token`, form, { status: 401, code: 'invalid_client', ...nobody }],
      [
        'auth',
        'POST',
        `${auth}/token`,
        basic,
        { status: 400, code: 'invalid_request', ...nobody, application: application.id },
      ],
      [
        'operator',
        'GET',
        `${operator}/clients/none`,
        {},
        { status: 404, ...nobody, client_id: 'none', application: 'configured' },
      ],
    ];
    for (const [listener, method, url, headers, expected] of sent) {
      const id = randomUUID();
      const bearer = listener === 'api' ? token : listener === 'operator' ? service.operatorToken : undefined;
      await call(url, method, { ...(bearer && { token: bearer }), headers: { ...headers, 'x-request-id': id } });
      const [row, ...more] = await requests(`request_id=${id}`);
      assert.equal(more.length, 0, url);
      assert.deepEqual({ ...row, ...expected, listener, request_id: id }, row, url);
      assert.deepEqual([row?.client, row?.contact], [row?.client_id, row?.contact_id]);
      assert.equal(typeof row?.details, 'string');
      assert.ok(Date.parse(String(row?.at)) > 0);
    }
    for (const [filter, count] of [
      [`client_id=${world.clientId}`, 2],
      [`contact_id=${world.contactId}`, 3],
      [`contact_id=${world.contactId}&status=404`, 2],
      [`contact_id=${world.contactId}&status=4xx`, 3],
      [`contact_id=${world.contactId}&status=5xx`, 0],
      [`contact_id=${world.contactId}&to=2020-01-01T00:00:00Z`, 0],
      [`contact_id=${world.contactId}&from=2020-01-01T00:00:00Z`, 3],
    ] as const) {
      const page = await service.operator('GET', `/requests?${filter}`);
      assert.deepEqual([page.body.length, page.headers.get('x-total-count')], [count, String(count)], filter);
    }
    const [newest] = await requests(`contact_id=${world.contactId}&page_size=1`);
    assert.equal(newest?.code, 'client_not_found', 'the newest comes first');
    for (const wrong of ['status=200', 'status=x', 'from=yesterday', 'page=0', 'path=/payments'])
      assert.equal((await service.operator('GET', `/requests?${wrong}`)).status, 400, wrong);
  });

  test('what GraphQL refuses has its code and details', async () => {
    const world = await createWorld(service, 'GraphQL');
    const id = randomUUID();
    const answer = await service.client(await world.signIn(), 'POST', `/webhooks/graphql?client_id=${world.clientId}`, {
      body: { query: '{ nothing }' },
      headers: { 'x-request-id': id },
    });
    assert.equal(answer.status, 400, answer.text);
    const [row] = await requests(`request_id=${id}`);
    assert.deepEqual([row?.code, row?.client_id], ['invalid_body', world.clientId]);
    assert.match(String(row?.details), /nothing/);
  });

  test('what is not HTTP has an entry too, with its listener', async () => {
    const id = randomUUID();
    const socket = connect(Number(new URL(service.auth).port), '127.0.0.1');
    socket.end(`GET / HTTP/1.1\r\nx-request-id: ${id}\r\na b: c\r\n\r\n`);
    socket.resume();
    await once(socket, 'close');
    const [row] = await requests(`request_id=${id}`);
    const { at: _, details: __, ...rest } = row ?? {};
    assert.deepEqual(rest, {
      ...{ listener: 'auth', method: null, route: null, status: 400, code: 'malformed_request', ms: null },
      ...{ client: null, client_id: null, contact: null, contact_id: null, application: null, request_id: id },
    });
  });

  test('no token, secret or body is kept; a text that cannot be stored is', async () => {
    const id = randomUUID();
    const secret = `secret-${randomUUID()}`;
    await call(`${service.api}/payments?client_id=x`, 'GET', { token: secret, headers: { 'x-request-id': id } });
    await call(`${service.operatorUrl}/clients`, 'POST', {
      token: service.operatorToken,
      raw: `{"client_name": "a\\ud800", "statement_push_secret": "${secret}"}`,
      headers: { 'content-type': 'application/json', 'x-request-id': id },
    });
    const rows = await requests(`request_id=${id}`);
    assert.deepEqual(
      rows.map(({ status }) => status),
      [400, 401],
    );
    assert.ok(!JSON.stringify(rows).includes(secret));
  });

  test('needs the scope read', async () => {
    const token = await service.operator('POST', '/operator-tokens', { name: randomUUID(), scopes: ['feed'] });
    for (const path of ['/requests', '/sign-ins']) {
      const { status, body } = await service.operator('GET', path, undefined, { token: token.body.token });
      assert.deepEqual([status, body.details], [403, 'token: needs the scope read']);
    }
  });

  test('refused requests are kept for 7 days, attempts for 90', async () => {
    const day = 86_400_000;
    for (const [table, days, columns, values, clear] of [
      ['refused_requests', 7, 'listener, status, request_id', "'api', 404, 'old'", clearRefusedRequests],
      ['sign_in_attempts', 90, 'outcome, address, request_id', "'ok', '192.0.2.1', 'old'", clearSignInAttempts],
    ] as const) {
      const now = new Date('2026-01-01T00:00:00Z');
      for (const age of [days * day - 1_000, days * day + 1_000])
        await service.query(`insert into ${table} (at, ${columns}) values ($1, ${values})`, [new Date(+now - age)]);
      await clear(service.service.context.backgroundPool, now);
      const { rows } = await service.query(`select at from ${table} where request_id = 'old'`);
      assert.deepEqual(
        rows.map(({ at }) => at.getTime()),
        [+now - days * day + 1_000],
        table,
      );
    }
  });
});

describe('GET /sign-ins', () => {
  const signIn = (person: Pick<Person, 'email'>, password?: string, address = '192.0.2.7') =>
    new Visitor().post(
      `${service.auth}/authenticate`,
      { email: person.email, password: password ?? 'wrong', client_id: application.id, state: 'any-state' },
      { 'no-redirect': 'application/json', 'x-forwarded-for': address, accept: '*/*' },
    );
  const outcomes = async (query: string) => (await signIns(query)).map(({ outcome }) => outcome);

  test('attempts with outcome, contact, application and the address in front of the proxies', async () => {
    const person = await createPerson(service);
    await signIn(person);
    await signInHeadless(service, application, person);
    const rows = await signIns(`contact_id=${person.contactId}`);
    assert.deepEqual(
      rows.map(({ outcome }) => outcome),
      ['ok', 'wrong_password'],
    );
    const { at, request_id: id, ...rest } = rows[1] ?? {};
    assert.deepEqual(rest, {
      ...{ outcome: 'wrong_password', contact_id: person.contactId, email: person.email },
      ...{ application: application.id, address: '192.0.2.7' },
    });
    assert.ok(Date.parse(String(at)) > 0);
    assert.equal((await requests(`request_id=${id}`))[0]?.code, 'invalid_grant');
    assert.equal(rows[0]?.email, person.email);
    assert.equal((await signIns(`email=${person.email.toUpperCase()}`)).length, 2);
    assert.equal((await signIns(`email=${person.email}&to=2020-01-01T00:00:00Z`)).length, 0);
  });

  test('locked, disabled, unknown; what is no address may be a password and is not kept', async () => {
    const person = await createPerson(service);
    for (let n = 0; n < 11; n += 1) await signIn(person);
    assert.deepEqual((await outcomes(`contact_id=${person.contactId}`)).slice(0, 2), ['locked', 'wrong_password']);
    const disabled = await createPerson(service, { status: 'disabled' });
    await signIn(disabled);
    assert.deepEqual(await outcomes(`contact_id=${disabled.contactId}`), ['disabled']);
    const email = `${randomUUID()}@nowhere.example`;
    await signIn({ email });
    const [unknown] = await signIns(`email=${email}`);
    assert.deepEqual([unknown?.outcome, unknown?.contact_id], ['wrong_password', null]);
    await signIn({ email: 'my secret password' }, 'x', '192.0.2.99');
    const [typed] = await signIns('page_size=1');
    assert.deepEqual([typed?.address, typed?.email], ['192.0.2.99', null]);
  });

  test('the second factor: required, failed, expired, ok', async () => {
    const person = await createPerson(service, { second_factor: 'totp' });
    const verify = (handle: string, code: string) =>
      new Visitor().post(
        `${service.auth}/verify?client_id=${application.id}&code=${handle}`,
        { verification_code: code },
        { authorization: application.basic, 'no-redirect': 'application/json', accept: '*/*' },
      );
    const { body } = await signInHeadless(service, application, person);
    await verify(body.code, '12345x');
    const totp = new TOTP({ secret: Secret.fromBase32(person.totp ?? '') });
    const done = await verify(body.code, totp.generate({ timestamp: service.service.context.clock.now().getTime() }));
    assert.equal(done.status, 200, done.text);
    await verify(body.code, '123456');
    assert.deepEqual(await outcomes(`contact_id=${person.contactId}`), [
      ...['second_factor_expired', 'ok', 'second_factor_failed', 'second_factor_required'],
    ]);
  });

  test('pages and filters', async () => {
    const all = await service.operator('GET', '/sign-ins');
    const page = await service.operator('GET', '/sign-ins?page=2&page_size=2');
    assert.deepEqual(page.body, all.body.slice(2, 4));
    assert.equal(page.headers.get('x-total-count'), String(all.body.length));
    assert.equal((await service.operator('GET', '/sign-ins?outcome=ok')).status, 400);
  });
});

// The last test: nothing else of this minute is kept.
test('a process keeps 1,000 a minute, and counts the rest', async () => {
  const { refusedRequests } = service.service.context.journals;
  const flood = { listener: 'api', status: 404, code: 'not_found', details: 'flood' };
  // The metric is the process's, and other files have run in it.
  const dropped = async () => {
    const { text } = await service.operator('GET', '/metrics');
    return Number(/^lombard_journal_entries_dropped_total\{journal="refused_requests"\} (\d+)$/m.exec(text)?.[1] ?? 0);
  };
  const before = await dropped();
  for (let n = 0; n < 1_200; n += 1) refusedRequests.noteUnread({ ...flood, request_id: `flood-${n}` });
  await refusedRequests.write();
  const { rows } = await service.query("select count(*)::int as kept from refused_requests where details = 'flood'");
  assert.ok(rows[0].kept > 900 && rows[0].kept <= 1_000, String(rows[0].kept));
  assert.equal((await dropped()) - before, 1_200 - rows[0].kept);
});
