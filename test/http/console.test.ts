import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Pool } from '../../src/database/database.ts';
import { ServiceMinutes } from '../../src/monitoring/service-minutes.ts';
import { approvalsWorld } from '../world/approvals.ts';
import { createWorld } from '../world/client.ts';
import { log } from '../world/database.ts';
import { OpenIdProvider } from '../world/openid-provider.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { cookieOf, createPerson, PASSWORD, type Seen, Visitor } from '../world/visitor.ts';

/** The institution's pages: sign-in, sessions, calls, the reason of every act. */

let service: TestService;
let provider: OpenIdProvider;
before(async () => {
  provider = await new OpenIdProvider().start();
  service = await startTestService({ ...provider.settings, LOMBARD_ROLES: 'api,auth,operator,worker' });
});
after(async () => {
  await service?.stop();
  await provider.stop();
});

const SUPPORT = { sub: 'ada', name: 'Ada Support', groups: ['payments-support'] };
const CHIEF = { sub: 'bo', name: 'Bo Chief', groups: ['chiefs'] };
const BECAUSE = { 'x-reason': encodeURIComponent('Kunde rief an: gesperrt — Übermut') };
const REASON = 'Kunde rief an: gesperrt — Übermut';

/** The cookies of the sign-ins that a browser has begun. */
const begunSignIns = ({ cookies }: Visitor) =>
  [...cookies.keys()].filter((name) => name.startsWith(cookieOf(service, 'console-sign-in')));

async function follow(visitor: Visitor, seen: Seen): Promise<Seen> {
  let at = seen;
  while (at.status === 302 && at.location) at = await visitor.get(at.location);
  return at;
}

/** Opens a page of the console as somebody, and signs in on the way. */
async function signIn(person: Record<string, unknown> = SUPPORT, path = '/console'): Promise<Visitor> {
  provider.person = person;
  const visitor = new Visitor();
  const page = await follow(visitor, await visitor.get(service.operatorUrl + path));
  assert.ok(visitor.cookies.has(cookieOf(service, 'console')), page.text.slice(page.text.indexOf('<main>')));
  return visitor;
}

const send = (visitor: Visitor, method: string, path: string, headers: Record<string, string> = {}, body?: object) =>
  visitor.request(service.operatorUrl + path, {
    method,
    headers: { 'x-lombard-page': '1', ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
const session = (visitor: Visitor) => send(visitor, 'GET', '/console/session');
const auditOf = async (entity: string, id: string) =>
  (await service.operator('GET', `/audit?entity=${entity}&entity_id=${id}`)).body;

describe('signing in at the provider', () => {
  test('code, PKCE, state and nonce, back to the page that was asked for; no token in the browser', async () => {
    provider.person = SUPPORT;
    const visitor = new Visitor();
    const asked = await visitor.get(`${service.operatorUrl}/console/payments/PAY1`);
    assert.equal(asked.status, 302);
    assert.equal(asked.headers.get('cache-control'), 'no-store');
    const query = asked.location?.searchParams;
    assert.equal(query?.get('redirect_uri'), `${service.operatorUrl}/console/callback`);
    assert.deepEqual([query?.get('response_type'), query?.get('code_challenge_method')], ['code', 'S256']);
    assert.deepEqual(query?.get('scope')?.split(' '), ['openid', 'profile', 'groups']);
    for (const name of ['state', 'nonce', 'code_challenge']) assert.match(query?.get(name) ?? '', /^[\w-]{43}$/);
    const back = await visitor.get((await visitor.get(asked.location as URL)).location as URL);
    assert.equal(back.location?.href, `${service.operatorUrl}/console/payments/PAY1`);
    const cookie =
      back.headers.getSetCookie().find((line) => line.startsWith(`${cookieOf(service, 'console')}=`)) ?? '';
    assert.match(cookie, /^lombard-\d+-console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    assert.deepEqual(begunSignIns(visitor), []);
    const { body } = await session(visitor);
    assert.deepEqual(
      [body.name, body.roles, body.scopes],
      ['Ada Support', ['support'], ['read', 'redeliver', 'unlock']],
    );
    const token = visitor.cookies.get(cookieOf(service, 'console')) as string;
    assert.equal((await service.operator('GET', '/clients', undefined, { token })).status, 401);
  });

  test('nobody without a matching role; several roles together; claims of the userinfo endpoint count', async () => {
    provider.person = { sub: 'eve', name: 'Eve', groups: ['everybody'] };
    const visitor = new Visitor();
    const refused = await follow(visitor, await visitor.get(`${service.operatorUrl}/console`));
    assert.equal(refused.status, 403);
    assert.match(refused.text, /role="alert"[^>]*>Your account has no role here/);
    assert.ok(!visitor.cookies.has(cookieOf(service, 'console')));
    const both = await signIn({ sub: 'mia', name: 'Mia', groups: ['payments-support', 'audit'] });
    assert.deepEqual((await session(both)).body.roles, ['support', 'auditor']);
    provider.userinfo = { name: 'Only There', groups: 'audit' };
    const told = await signIn({ sub: 'zoe' });
    assert.deepEqual((await session(told)).body.name, 'Only There');
    provider.userinfo = {};
    provider.person = { sub: 'nameless', groups: ['chiefs'] };
    assert.equal((await follow(new Visitor(), await new Visitor().get(`${service.operatorUrl}/console`))).status, 400);
  });

  test('a wrong nonce, issuer, audience or expiry, and an unsigned token, sign nobody in', async () => {
    const seconds = Math.floor(Date.now() / 1_000);
    const forgeries: Record<string, unknown>[] = [
      { nonce: 'x'.repeat(43) },
      { iss: 'http://127.0.0.1:1' },
      { aud: 'another' },
      { exp: seconds - 3_600, iat: seconds - 7_200 },
    ];
    for (const forged of forgeries) {
      Object.assign(provider, { forged, person: CHIEF });
      const visitor = new Visitor();
      const page = await follow(visitor, await visitor.get(`${service.operatorUrl}/console`));
      assert.deepEqual(
        [page.status, visitor.cookies.has(cookieOf(service, 'console'))],
        [400, false],
        JSON.stringify(forged),
      );
    }
    provider.forged = {};
  });

  test('a code of another browser, another state, a used code, and one forced onto a victim sign nobody in', async () => {
    provider.person = CHIEF;
    const theirs = new Visitor();
    const asked = await theirs.get(`${service.operatorUrl}/console`);
    const back = (await theirs.get(asked.location as URL)).location as URL;
    const victim = new Visitor();
    assert.equal((await victim.get(back)).status, 400);
    await victim.get(`${service.operatorUrl}/console`);
    assert.equal((await victim.get(back)).status, 400, 'its own state does not fit');
    assert.ok(!victim.cookies.has(cookieOf(service, 'console')));
    const [name = ''] = begunSignIns(theirs);
    const kept = theirs.cookies.get(name) as string;
    assert.equal((await theirs.get(back)).status, 302);
    theirs.cookies.set(name, kept);
    assert.equal((await theirs.get(back)).status, 400, 'the code is used up');
  });

  test('the session gets a secret of its own, and the former one ends', async () => {
    const visitor = await signIn();
    const former = visitor.cookies.get(cookieOf(service, 'console')) as string;
    visitor.cookies.delete(cookieOf(service, 'console'));
    const again = await visitor.get(`${service.operatorUrl}/console`);
    visitor.cookies.set(cookieOf(service, 'console'), former);
    await follow(visitor, again);
    const fixed = new Visitor();
    fixed.cookies.set(cookieOf(service, 'console'), former);
    assert.notEqual(visitor.cookies.get(cookieOf(service, 'console')), former);
    assert.equal((await session(fixed)).status, 401);
    assert.equal((await session(visitor)).status, 200);
  });

  test('the way back leads to pages of the console only', async () => {
    for (const place of [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example/console',
      '/consolex',
      '/clients',
    ]) {
      provider.person = SUPPORT;
      const visitor = new Visitor();
      const asked = await visitor.get(`${service.operatorUrl}/console`);
      const [name = ''] = begunSignIns(visitor);
      const parts = (visitor.cookies.get(name) as string).split('.');
      parts[3] = Buffer.from(place).toString('base64url');
      visitor.cookies.set(name, parts.join('.'));
      const back = await visitor.get((await visitor.get(asked.location as URL)).location as URL);
      assert.equal(back.location?.href, `${service.operatorUrl}/console`, place);
    }
  });
});

describe('a session', () => {
  test('ends by signing out, by idleness and after 12 hours; polling keeps nobody in', async () => {
    const visitor = await signIn();
    const cookies = new Map(visitor.cookies);
    assert.equal((await send(visitor, 'DELETE', '/console/session')).status, 204);
    assert.ok(!visitor.cookies.has(cookieOf(service, 'console')));
    for (const [name, value] of cookies) visitor.cookies.set(name, value);
    const gone = await session(visitor);
    assert.deepEqual([gone.status, gone.body.code], [401, 'authentication_failed']);
    assert.equal(gone.headers.get('cache-control'), 'no-store');
    assert.match((await visitor.get(`${service.operatorUrl}/console/signed-out`)).text, /You are signed out/);

    const idle = await signIn();
    const busy = await signIn(CHIEF);
    const advance = (seconds: number) => service.operator('PUT', '/clock', { advance_seconds: seconds });
    await advance(14 * 60);
    assert.equal((await session(idle)).status, 200);
    assert.equal((await send(busy, 'POST', '/console/session/activity')).status, 204);
    await advance(2 * 60);
    const over = await session(idle);
    assert.equal(over.status, 401, 'asking for the session is no activity');
    assert.equal(over.headers.get('x-lombard-session-end'), 'idle');
    assert.equal((await session(busy)).status, 200);
    // As if the person had been active all the time.
    await service.query("update staff_sessions set last_active_at = last_active_at + interval '1 day'");
    await advance(11 * 3_600);
    assert.equal((await session(busy)).status, 200);
    await advance(3_600);
    const expired = await session(busy);
    assert.deepEqual([expired.status, expired.headers.get('x-lombard-session-end')], [401, 'expired']);
    await service.operator('DELETE', '/clock');
  });

  test('takes no change without the header, or from another origin', async () => {
    const visitor = await signIn(CHIEF);
    const body = { client_name: 'Mallory' };
    const refusals: Record<string, string>[] = [
      { 'x-lombard-page': '' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ];
    for (const headers of refusals) {
      const refused = await send(visitor, 'POST', '/console/api/clients', { ...BECAUSE, ...headers }, body);
      assert.deepEqual([refused.status, refused.body.code], [403, 'permission_denied'], JSON.stringify(headers));
    }
    const own = { ...BECAUSE, origin: service.operatorUrl, 'sec-fetch-site': 'same-origin' };
    assert.equal((await send(visitor, 'POST', '/console/api/clients', own, body)).status, 201);
    const foreign = await send(visitor, 'GET', '/console/api/clients', { origin: 'https://evil.example' });
    assert.equal(foreign.status, 403);
    assert.equal((await new Visitor().get(`${service.operatorUrl}/console/api/clients`)).status, 401);
  });

  test('is refused what a page asks that was drawn for somebody else', async () => {
    const visitor = await signIn(SUPPORT);
    const shown = { 'x-lombard-person': (await session(visitor)).body.person };
    const unlock = async (who: Record<string, string>) =>
      (await send(visitor, 'POST', `/console/api/contacts/${contactId}/unlock`, { ...BECAUSE, ...who })).status;
    const { contactId } = await createPerson(service);
    assert.equal(await unlock(shown), 204);
    const chief = await signIn(CHIEF);
    visitor.cookies.set(cookieOf(service, 'console'), chief.cookies.get(cookieOf(service, 'console')) as string);
    assert.equal(await unlock(shown), 401);
    assert.equal(await unlock({ 'x-lombard-person': (await session(visitor)).body.person }), 204);
    assert.match((await session(visitor)).body.person, /^[0-9a-f]{64}$/, 'it names nobody');
  });

  test('may do what the roles of its person allow now', async () => {
    const visitor = await signIn();
    const { contactId } = await createPerson(service);
    const refused = await send(visitor, 'PATCH', `/console/api/contacts/${contactId}`, BECAUSE, { status: 'disabled' });
    assert.deepEqual([refused.status, refused.body.details], [403, 'token: needs the scope identity']);
    assert.equal((await send(visitor, 'GET', '/console/api/audit')).status, 403);
    const roles = service.config.staff?.roles ?? [];
    const [removed] = roles.splice(0, 1);
    assert.equal((await session(visitor)).status, 401, 'the configuration took the role away');
    roles.unshift(removed as (typeof roles)[number]);
    assert.equal((await session(visitor)).status, 200);
  });
});

describe('an act', () => {
  test('needs a reason, and stands in the trail with name, issuer, subject and reason; the chain holds', async () => {
    const visitor = await signIn();
    const { contactId } = await createPerson(service);
    const path = `/console/api/contacts/${contactId}/unlock`;
    const silent = await send(visitor, 'POST', path);
    assert.deepEqual([silent.status, silent.body.code], [400, 'missing_parameter']);
    assert.match(silent.body.details, /^header\.X-Reason: /);
    for (const reason of ['', '%20', '%ff', 'x'.repeat(501)])
      assert.equal((await send(visitor, 'POST', path, { 'x-reason': reason })).status, 400, reason);
    assert.equal((await send(visitor, 'POST', path, BECAUSE)).status, 204);
    const row = (await auditOf('contact', contactId)).at(-1);
    assert.deepEqual(
      [row.actor, row.staff, row.reason],
      ['staff:Ada Support', { issuer: provider.issuer, subject: 'ada' }, REASON],
    );
    assert.equal((await service.operator('GET', '/audit/verify')).body.valid, true);
    await service.query('alter table audit disable trigger all');
    await service.query("update audit set reason = 'another' where id = $1", [row.id]);
    assert.equal((await service.operator('GET', '/audit/verify')).body.fault.what, 'row_changed');
    await service.query('update audit set reason = $2 where id = $1', [row.id, REASON]);
    await service.query('alter table audit enable trigger all');
    assert.equal((await service.operator('GET', '/audit/verify')).body.valid, true);
  });

  test('of a program may have a reason too; payment actions have the one of their body', async () => {
    const world = await createWorld(service);
    const payment = (await world.pay()).body.payment_id;
    await service.operator('POST', `/payments/${payment}/actions`, { action: 'cancel', reason: 'asked by phone' });
    const row = (await auditOf('payment', payment)).at(-1);
    assert.deepEqual([row.actor, row.staff, row.reason], ['operator:configured', null, 'asked by phone']);
    const options = { headers: { 'x-reason': 'moved' } };
    await service.operator('PATCH', `/clients/${world.clientId}`, { client_name: 'New' }, options);
    assert.equal((await auditOf('client', world.clientId)).at(-1).reason, 'moved');
  });

  test('for a contact is marked with the name of the person, and is `staff:` in the change feed', async () => {
    const visitor = await signIn(CHIEF);
    const world = await approvalsWorld(service, ['Other']);
    await world.configure({ A: ['Other'] }, [['0', [['A']]]]);
    const payment = await world.create(100);
    const acted = await send(visitor, 'POST', `/console/api/payments/${payment}/actions`, BECAUSE, {
      action: 'authorise',
      contact_id: world.person('Other').id,
    });
    assert.equal(acted.status, 200, acted.text);
    const feed = `/changes?client_id=${world.clientId}&entities=approval&wait=10`;
    const [change] = (await service.operator('GET', feed)).body.changes;
    assert.deepEqual([change.actor, change.data.on_behalf_by], ['staff:Bo Chief', 'Bo Chief']);
  });

  test('is refused after the person has signed out', async () => {
    const visitor = await signIn(CHIEF);
    const cookies = new Map(visitor.cookies);
    await send(visitor, 'DELETE', '/console/session');
    for (const [name, value] of cookies) visitor.cookies.set(name, value);
    assert.equal((await send(visitor, 'POST', '/console/api/clients', BECAUSE, { client_name: 'Late' })).status, 401);
  });
});

test('one field finds payments, trades, quotes, payees, people, clients, requests and notifications', async () => {
  const visitor = await signIn();
  const world = await createWorld(service);
  const payment = (await world.pay({ reference: 'Rechnung 4711' })).body.payment_id;
  const { uuid } = (await service.operator('GET', `/payments/${payment}`)).body;
  const { email, contactId, clientId } = await createPerson(service);
  await service.operator('GET', '/payments/NOPE', undefined, { headers: { 'x-request-id': 'find-this-one' } });
  const find = async (q: string) => {
    const answer = await send(visitor, 'POST', '/console/search', {}, { q });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.map((found: { kind: string; id: string }) => `${found.kind} ${found.id}`);
  };
  for (const q of [payment, uuid.toUpperCase(), 'Rechnung 4711', ` ${payment} `])
    assert.deepEqual(await find(q), [`payment ${payment}`], q);
  assert.deepEqual(await find(email.toUpperCase()), [`contact ${contactId}`]);
  assert.deepEqual(await find(contactId), [`contact ${contactId}`]);
  assert.deepEqual(await find(clientId), [`client ${clientId}`]);
  await service.query(
    `update payments set mass_payment_external_reference_id = 'file-9', instruction_id = 'instr-9', end_to_end_id = 'e2e-9' where payment_id = $1`,
    [payment],
  );
  for (const q of ['file-9', 'instr-9', 'e2e-9']) assert.deepEqual(await find(q), [`payment ${payment}`], q);
  const { trade_id: trade, beneficiary_id: payee } = (await service.operator('GET', `/payments/${payment}`)).body;
  await service.query(`update trades set external_reference_id = 'deal-9' where trade_id = $1`, [trade]);
  for (const q of [trade, 'deal-9']) assert.deepEqual(await find(q), [`trade ${trade}`], q);
  const { body: paid } = await service.operator('GET', `/beneficiaries/${payee}`);
  for (const q of [payee, paid.beneficiary_name.toUpperCase(), paid.iban.replace(/(.{4})/g, '$1 ')])
    assert.ok((await find(q)).includes(`payee ${payee}`), q);
  const name = `Zwölf ${payee} Werke`;
  await service.operator('PATCH', `/beneficiaries/${payee}`, { beneficiary_name: name });
  assert.deepEqual(
    await find(`zwölf  ${payee}`),
    [`payee ${payee}`, `payment ${payment}`],
    'a beginning finds its payments',
  );
  const other = await createWorld(service);
  const paidThere = [(await other.pay()).body.payment_id, (await other.pay()).body.payment_id];
  const { beneficiary_id: another } = (await service.operator('GET', `/payments/${paidThere[0]}`)).body;
  await service.operator('PATCH', `/beneficiaries/${another}`, { beneficiary_name: `Zwölf ${payee} Andere` });
  const [first, second, ...paidTo] = await find(`zwölf ${payee}`);
  const newest = { [`payee ${payee}`]: [payment], [`payee ${another}`]: paidThere.toReversed() };
  assert.deepEqual(
    paidTo,
    [first, second].flatMap((each) => newest[each]?.map((id) => `payment ${id}`)),
    'one payee after the other, the newest of each first',
  );
  assert.deepEqual(await find(`${payee} Werke`), []);
  const quote = 'ab'.repeat(16);
  await service.query(
    `insert into quotes (quote_id, client_id, contact_id, trade_type, operation, rate, inverse_rate, buy_amount, buy_currency, sell_amount,
       sell_currency, value_date, maturity_date, created_at, expires_at, mid, spread_bps, rate_as_of)
     values ($1, $2, $3, 'spot', 'sell', 1.1, 0.9, 110, 'EUR', 100, 'GBP', now(), now(), now(), now(), 1.2, 50, now())`,
    [quote, world.clientId, contactId],
  );
  assert.deepEqual(await find(quote), [`quote ${quote}`]);
  assert.deepEqual(await find('find-this-one'), ['request find-this-one']);
  assert.deepEqual(await find('nothing has this name'), []);
  for (const q of ['', '   ', 'x'.repeat(255)])
    assert.equal((await send(visitor, 'POST', '/console/search', {}, { q })).status, 400, q);
  assert.equal((await send(visitor, 'POST', '/console/search', { 'x-lombard-page': '' }, { q: 'x' })).status, 403);
});

test('the list of payments begins with those of all clients that came last', async () => {
  const [one, other] = [await createWorld(service), await createWorld(service)];
  const ids = [(await one.pay({ amount: 12.3 })).body.payment_id, (await other.pay()).body.payment_id];
  const visitor = await signIn();
  const { status, body } = await send(visitor, 'GET', '/console/newest-payments');
  assert.equal(status, 200);
  assert.deepEqual(body.map((each: { payment_id: string }) => each.payment_id).slice(0, 2), ids.reverse());
  assert.deepEqual([body[1].client_id, body[1].amount, body[1].payment_currency], [one.clientId, '12.3', 'EUR']);
  assert.equal((await fetch(`${service.operatorUrl}/console/newest-payments`)).status, 401);
});

test('the history of the last hours counts what was asked, refused and signed in', async () => {
  const visitor = await signIn();
  const history = async () => (await send(visitor, 'GET', '/console/api/health-history?hours=1')).body;
  const sums = ({ measures }: { measures: Record<string, number[]> }) =>
    Object.fromEntries(Object.entries(measures).map(([name, values]) => [name, values.reduce((a, b) => a + b, 0)]));
  const before = sums(await history());
  const person = await createPerson(service);
  for (let n = 0; n < 3; n += 1) await service.operator('GET', '/payments/NOPE');
  await service.signIn(person.email, PASSWORD);
  const after = await history();
  assert.equal(after.step_seconds, 50);
  const now = sums(after);
  assert.equal((now.refused as number) - (before.refused as number), 3);
  assert.equal((now.sign_ins as number) - (before.sign_ins as number), 1);
  assert.ok((now.requests as number) > (before.requests as number));
  for (const hours of ['0', '49', 'x'])
    assert.equal((await send(visitor, 'GET', `/console/api/health-history?hours=${hours}`)).status, 400);
});

test('what the database did not take of the history is written the next time', async () => {
  const taken: string[][] = [];
  let isGone = true;
  const query = async ({ values }: { values: [Date, string[]] }) => {
    if (isGone) throw new Error('the database is gone');
    taken.push(values[1]);
  };
  const minutes = new ServiceMinutes({ query } as unknown as Pool, service.service.context.clock, log);
  await service.operator('GET', '/payments/NOPE');
  await assert.rejects(minutes.write(), /gone/);
  isGone = false;
  await minutes.write();
  assert.ok(taken[0]?.includes('refused'), String(taken));
});

test('two writes of the history at once count nothing twice', async () => {
  const refused: number[] = [];
  const query = async ({ values: [, names, counts] }: { values: [Date, string[], number[]] }) => {
    await service.operator('GET', '/contacts');
    refused.push(counts[names.indexOf('refused')] ?? 0);
  };
  const minutes = new ServiceMinutes({ query } as unknown as Pool, service.service.context.clock, log);
  await service.operator('GET', '/payments/NOPE');
  await Promise.all([minutes.write(), minutes.write(), minutes.write()]);
  assert.equal(refused.filter((count) => count > 0).length, 1, String(refused));
});

test('another loopback name leads to the one that cookies are for', async () => {
  const { port } = new URL(service.operatorUrl);
  const seen = await new Visitor().get(`http://localhost:${port}/console/requests?status=4xx`);
  assert.deepEqual([seen.status, seen.location?.href], [302, `http://127.0.0.1:${port}/console/requests?status=4xx`]);
  const slash = await new Visitor().get(`${service.operatorUrl}/console/?a=b`);
  assert.deepEqual([slash.status, slash.location?.href], [302, `${service.operatorUrl}/console?a=b`]);
});

test('with a configured issuer no operator token signs in', async () => {
  const visitor = new Visitor();
  const fields = { token: service.operatorToken };
  assert.equal((await visitor.post(`${service.operatorUrl}/console/sign-in`, fields)).status, 403);
});

describe('without an issuer', () => {
  let plain: TestService;
  before(async () => {
    plain = await startTestService({ LOMBARD_ROLES: 'operator', LOMBARD_OPERATOR_URL: 'https://ops.example/' });
  });
  after(() => plain?.stop());

  test('/console asks for an operator token, which decides what the session may do', async () => {
    const visitor = new Visitor();
    const asked = await visitor.get(`${plain.operatorUrl}/console/audit`);
    assert.deepEqual([asked.status, asked.location?.href], [302, 'https://ops.example/console']);
    const page = await visitor.get(`${plain.operatorUrl}/console`);
    assert.equal(page.status, 200);
    assert.match(page.text, /<label for="token">Operator token<\/label>/);
    assert.match(page.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
    const path = `${plain.operatorUrl}/console/sign-in`;
    const wrong = await visitor.post(path, { token: 'x'.repeat(43) });
    assert.deepEqual([wrong.status, /role="alert"/.test(wrong.text)], [401, true]);
    assert.equal(
      (await visitor.post(path, { token: plain.operatorToken }, { origin: 'https://evil.example' })).status,
      403,
    );

    const made = (await plain.operator('POST', '/operator-tokens', { name: 'desk', role: 'support' })).body;
    const signedIn = await visitor.post(path, { token: made.token }, { origin: 'https://ops.example' });
    assert.deepEqual([signedIn.status, signedIn.location?.href], [302, 'https://ops.example/console/audit']);
    const cookie = signedIn.headers.getSetCookie().find((line) => line.includes('lombard-console=')) ?? '';
    assert.match(cookie, /^__Host-lombard-console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
    const own = { headers: { 'x-lombard-page': '1', ...BECAUSE } };
    const { body } = await visitor.request(`${plain.operatorUrl}/console/session`, own);
    assert.deepEqual([body.name, body.scopes], ['desk', ['read', 'redeliver', 'unlock']]);
    assert.equal((await visitor.get(`${plain.operatorUrl}/console/api/clients`)).status, 200);
    const refused = await visitor.request(`${plain.operatorUrl}/console/api/audit`, own);
    assert.equal(refused.status, 403);
    await plain.operator('DELETE', `/operator-tokens/${made.id}`);
    assert.equal((await visitor.get(`${plain.operatorUrl}/console/api/clients`)).status, 401, 'the token was revoked');
  });
});
