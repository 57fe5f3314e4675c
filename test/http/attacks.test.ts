import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { createDatabase, type TestDatabase } from '../world/database.ts';
import { freePort } from '../world/ports.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';
import {
  authorizeUrl,
  CALLBACK,
  cookieOf,
  createApplication,
  createPerson,
  exchange,
  formsOf,
  later,
  PASSWORD,
  type Person,
  refreshTokens,
  signInHeadless,
  type TestApplication,
  tokenCall,
  tokensOf,
  Visitor,
} from '../world/visitor.ts';

/** Each attack on signing in that SECURITY.md lists, tried. Certificates are in trusted-*.test.ts. */

let database: TestDatabase;
let service: TestService;
/** A second service on the same database: what one learns the other must know. */
let sibling: TestService;
let application: TestApplication;
let person: Person;

before(async () => {
  database = await createDatabase();
  const shared = { LOMBARD_MASTER_KEY: randomBytes(32).toString('base64') };
  service = await startTestService(shared, database);
  sibling = await startTestService(shared, { url: database.url, drop: async () => {} });
  application = await createApplication(service);
  person = await createPerson(service);
});
after(async () => {
  await sibling.stop();
  await service.stop();
});

async function codeOf(someone: { email: string }, more: Record<string, string> = {}): Promise<string> {
  const answer = await signInHeadless(service, application, someone, more);
  assert.equal(answer.status, 200, answer.text);
  return answer.body.code;
}

function bearer(token: string, clientId: string): Promise<number> {
  return service.client(token, 'GET', `/accounts/currency-accounts?client_id=${clientId}`).then(({ status }) => status);
}

describe('codes and tokens', () => {
  test('a code used twice: the second use is refused and takes the tokens of the first', async () => {
    const code = await codeOf(person);
    const first = await exchange(service, application, code);
    assert.equal(await bearer(first.body.access_token, person.clientId), 200);
    const second = await exchange(sibling, application, code);
    assert.equal(second.status, 400);
    assert.equal(second.body.error, 'invalid_grant');
    assert.equal((await refreshTokens(service, application, first.body.refresh_token)).status, 400);
    await until(async () => (await bearer(first.body.access_token, person.clientId)) === 401);
  });

  test('a code used 20 times at once, at two services: one wins, and its tokens are revoked', async () => {
    const code = await codeOf(person);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => exchange(index % 2 ? service : sibling, application, code)),
    );
    const won = answers.filter(({ status }) => status === 200);
    assert.equal(won.length, 1);
    assert.ok(
      answers.every(({ status, body }) => status === 200 || (status === 400 && body.error === 'invalid_grant')),
    );
    assert.equal((await refreshTokens(service, application, won[0]?.body.refresh_token)).status, 400);
    assert.equal(await bearer(won[0]?.body.access_token, person.clientId), 401);
  });

  test('a code or refresh token of another application; it stays good for its own', async () => {
    const other = await createApplication(service);
    const code = await codeOf(person);
    assert.equal((await exchange(service, other, code)).body.error, 'invalid_grant');
    const tokens = (await exchange(service, application, code)).body;
    assert.equal((await refreshTokens(service, other, tokens.refresh_token)).body.error, 'invalid_grant');
    await tokenCall(service, other, { token: tokens.refresh_token }, '/revoke');
    assert.equal((await refreshTokens(service, application, tokens.refresh_token)).status, 200);
  });

  test('redirect_uri variants, at the page and at the token endpoint', async () => {
    const variants = [
      'https://app.example.com/callback/',
      'https://app.example.com/callback?',
      'https://app.example.com/callback#',
      'https://APP.example.com/callback',
      'HTTPS://app.example.com/callback',
      'https://app.example.com:443/callback',
      'https://app.example.com/call%62ack',
      'https://app.example.com/x/../callback',
      'https://app.example.com//callback',
      'https://app.example.com/callback/../evil',
      'https://app.example.com.evil.example/callback',
      'https://evil.example/https://app.example.com/callback',
      'https://app.example.com@evil.example/callback',
      'http://app.example.com/callback',
      'https://app.example.com/callback?x=1',
      ' https://app.example.com/callback',
      'https://app.example.com/callback ',
      'https://app.example.com\\callback',
      'javascript:alert(1)',
      'data:text/html,x',
      '//app.example.com/callback',
      '/callback',
      'https://app.example.com/callback\t',
      'https://app.example.com/',
    ];
    for (const variant of variants) {
      const page = await new Visitor().get(authorizeUrl(service, application, { redirect_uri: variant }));
      assert.equal(page.status, 400, variant);
      assert.equal(page.location, undefined, variant);
      const headless = await signInHeadless(service, application, person, { redirect_uri: variant });
      assert.equal(headless.status, 400, variant);
    }
    const code = await codeOf(person);
    for (const variant of variants) {
      const answer = await exchange(service, application, code, { redirect_uri: variant });
      assert.equal(answer.status, 400, variant);
    }
    assert.equal((await exchange(service, application, code, { redirect_uri: '' })).body.error, 'invalid_request');
    assert.equal((await exchange(service, application, code)).status, 200);
  });

  test('PKCE downgrade: no verifier for a challenge, a verifier without one, plain, a challenge as its own verifier', async () => {
    const verifier = 'a'.repeat(64);
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const challenged = await codeOf(person, { code_challenge: challenge, code_challenge_method: 'S256' });
    assert.equal((await exchange(service, application, challenged)).body.error, 'invalid_grant');
    assert.equal(
      (await exchange(service, application, challenged, { code_verifier: challenge })).body.error,
      'invalid_grant',
    );
    assert.equal((await exchange(service, application, challenged, { code_verifier: '' })).body.error, 'invalid_grant');
    assert.equal((await exchange(service, application, challenged, { code_verifier: verifier })).status, 200);
    const bare = await codeOf(person);
    assert.equal((await exchange(service, application, bare, { code_verifier: verifier })).body.error, 'invalid_grant');
    for (const more of [
      { code_challenge: verifier, code_challenge_method: 'plain' },
      { code_challenge: challenge },
      { code_challenge_method: 'S256' },
      { code_challenge: 'short', code_challenge_method: 'S256' },
    ]) {
      const answer = await signInHeadless(service, application, person, sent(more));
      assert.equal(answer.body.error, 'invalid_request', JSON.stringify(more));
    }
  });

  test('every kind of token where another belongs', async () => {
    const code = await codeOf(person);
    assert.equal(await bearer(code, person.clientId), 401);
    const tokens = (await exchange(service, application, code)).body;
    assert.equal(await bearer(tokens.refresh_token, person.clientId), 401);
    assert.equal(await bearer(tokens.id_token, person.clientId), 401);
    assert.equal((await refreshTokens(service, application, tokens.access_token)).body.error, 'invalid_grant');
    assert.equal((await refreshTokens(service, application, tokens.id_token)).body.error, 'invalid_grant');
    assert.equal((await exchange(service, application, tokens.refresh_token)).body.error, 'invalid_grant');
    const forged = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${tokens.id_token.split('.')[1]}.`;
    assert.equal(await bearer(forged, person.clientId), 401);
    const userinfo = await new Visitor().request(`${service.auth}/userinfo`, {
      headers: { authorization: `Bearer ${tokens.id_token}`, accept: '*/*' },
    });
    assert.equal(userinfo.status, 401);
  });

  test('the eleventh-newest refresh token, ten used at once', async () => {
    const someone = await createPerson(service);
    const first = await tokensOf(service, application, someone);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        refreshTokens(index % 2 ? service : sibling, application, first.refresh_token),
      ),
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, 10);
    assert.equal((await refreshTokens(service, application, first.refresh_token)).status, 400);
    assert.equal((await refreshTokens(service, application, answers[0]?.body.refresh_token)).status, 200);
  });
});

describe('guessing', () => {
  test('passwords in parallel at two services: ten are looked at, then the right one is refused too', async () => {
    const someone = await createPerson(service);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        signInHeadless(index % 2 ? service : sibling, application, someone, { password: `wrong password ${index}` }),
      ),
    );
    assert.equal(answers.filter(({ status }) => status === 400).length, 10);
    const locked = answers.filter(({ status }) => status === 429);
    assert.equal(locked.length, 30);
    assert.ok(Number(locked[0]?.headers.get('retry-after')) > 800);
    assert.equal((await signInHeadless(service, application, someone)).status, 429);
    assert.equal((await signInHeadless(sibling, application, { email: someone.email.toUpperCase() })).status, 429);
    await later(service, 901, async () => {
      assert.equal((await signInHeadless(service, application, someone)).status, 200);
    });
  });

  test('twelve right sign-ins at once, even after nine wrong ones', async () => {
    const someone = await createPerson(service);
    for (let count = 0; count < 9; count += 1)
      await signInHeadless(service, application, someone, { password: 'wrong password' });
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => signInHeadless(index % 2 ? service : sibling, application, someone)),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      Array(12).fill(200),
    );
    assert.equal((await signInHeadless(service, application, someone, { password: 'wrong password' })).status, 400);
    assert.equal((await signInHeadless(service, application, someone)).status, 429);
  });

  test('an email that does not exist answers, locks and waits as one that does', async () => {
    const someone = await createPerson(service);
    const nobody = { email: 'no-such-contact@example.com' };
    const disabled = await createPerson(service);
    await service.operator('PATCH', `/contacts/${disabled.contactId}`, { status: 'disabled' });
    const passwordless = await createPerson(service, { password: undefined });
    const seen = [];
    for (const who of [someone, nobody, disabled, passwordless]) {
      const answers = [];
      for (let count = 0; count < 12; count += 1) {
        const { status, text, headers } = await signInHeadless(
          service,
          application,
          who,
          who === disabled && count === 0 ? {} : { password: 'wrong password' },
        );
        answers.push({ status, text: text.replace(/\d+ s/, ''), headers: [...headers.keys()].sort().join() });
      }
      seen.push(answers);
    }
    for (const answers of seen) assert.deepEqual(answers, seen[0]);
  });

  test('the time of an answer does not tell whether the email exists', async () => {
    const people: { email: string }[] = [];
    for (let count = 0; count < 4; count += 1) people.push(await createPerson(service));
    const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
    await signInHeadless(service, application, { email: 'warm@example.com' });
    for (let round = 0; round < 8; round += 1) {
      for (const [index, known] of people.entries()) {
        for (const [kind, who] of [
          ['known', known],
          ['unknown', { email: `nobody-${index}@example.com` }],
        ] as const) {
          const started = performance.now();
          await signInHeadless(service, application, who, { password: 'wrong password' });
          times[kind].push(performance.now() - started);
        }
      }
    }
    // The machine's other work only ever adds time, so the quickest quarter is compared. A hash that is left out is a tenth of the time.
    const quick = (list: number[]) => list.sort((a, b) => a - b)[Math.floor(list.length / 4)] ?? 0;
    const [known, unknown] = [quick(times.known), quick(times.unknown)];
    assert.ok(Math.max(known, unknown) < 2 * Math.min(known, unknown), `known ${known} ms, unknown ${unknown} ms`);
  });

  test('40 wrong second-factor codes at once, then the right one', async () => {
    const someone = await createPerson(service, { second_factor: 'totp' });
    const handle = await codeOf(someone);
    const verify = (one: TestService, code: string) =>
      new Visitor().post(
        `${one.auth}/verify?client_id=${application.id}&code=${handle}`,
        { verification_code: code },
        {
          authorization: application.basic,
          accept: '*/*',
          'no-redirect': 'application/json',
        },
      );
    const right = new TOTP({ secret: Secret.fromBase32(someone.totp ?? '') }).generate();
    const wrong = Array.from({ length: 60 }, (_, index) => String(index).padStart(6, '7'))
      .filter((code) => code !== right)
      .slice(0, 40);
    const answers = await Promise.all(wrong.map((code, index) => verify(index % 2 ? service : sibling, code)));
    assert.ok(answers.every(({ status }) => status === 400));
    assert.equal(
      answers.filter(({ text }) => text.includes('verification_code')).length,
      5,
      'five codes were looked at',
    );
    assert.equal((await verify(service, right)).status, 400);
    const renewed = await codeOf(someone);
    const answer = await new Visitor().post(
      `${service.auth}/verify?client_id=${application.id}&code=${renewed}`,
      { verification_code: right },
      { authorization: application.basic, accept: '*/*' },
    );
    assert.equal(answer.status, 302, answer.text);
  });

  test('twenty wrong codes over many handles lock the second factor', async () => {
    const someone = await createPerson(service, { second_factor: 'totp' });
    const totp = new TOTP({ secret: Secret.fromBase32(someone.totp ?? '') });
    const tryOne = async (code: string) =>
      new Visitor().post(
        `${service.auth}/verify?client_id=${application.id}&code=${await codeOf(someone)}`,
        { verification_code: code },
        { authorization: application.basic, accept: '*/*' },
      );
    const wrong = totp.generate() === '777777' ? '888888' : '777777';
    for (let count = 0; count < 20; count += 1) assert.equal((await tryOne(wrong)).status, 400);
    assert.equal((await tryOne(totp.generate())).status, 429);
  });

  test('one TOTP code at ten handles at once: one wins', async () => {
    const someone = await createPerson(service, { second_factor: 'totp' });
    const handles = await Promise.all(Array.from({ length: 10 }, () => codeOf(someone)));
    const code = new TOTP({ secret: Secret.fromBase32(someone.totp ?? '') }).generate();
    const answers = await Promise.all(
      handles.map((handle, index) =>
        new Visitor().post(
          `${(index % 2 ? service : sibling).auth}/verify?client_id=${application.id}&code=${handle}`,
          { verification_code: code },
          { authorization: application.basic, accept: '*/*' },
        ),
      ),
    );
    assert.equal(answers.filter(({ status }) => status === 302).length, 1);
  });

  test('more than the allowed requests of one address', async () => {
    const limited = await startTestService({ LOMBARD_AUTH_RATE: '5' });
    try {
      const answers = [];
      for (let count = 0; count < 7; count += 1)
        answers.push(
          await new Visitor().post(
            `${limited.auth}/token`,
            {},
            { accept: '*/*', 'x-forwarded-for': `10.0.0.${count}` },
          ),
        );
      assert.deepEqual(
        answers.map(({ status }) => status),
        [401, 401, 401, 401, 401, 429, 429],
      );
      assert.equal(answers[6]?.body.error, 'temporarily_unavailable');
      assert.ok(Number(answers[6]?.headers.get('retry-after')) > 0);
      assert.ok(answers[6]?.headers.get('ratelimit'));
    } finally {
      await limited.stop();
    }
  });
});

describe('the browser', () => {
  test('login CSRF: a form of another site is refused, with and without a page', async () => {
    const visitor = new Visitor();
    const page = await visitor.get(authorizeUrl(service, application));
    const fields = { ...formsOf(page.text)[0]?.fields, email: person.email, password: PASSWORD };
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: service.auth.replace('http:', 'https:') },
    ]) {
      const answer = await visitor.post(`${service.auth}/authenticate`, fields, sent(headers));
      assert.equal(answer.status, 403, JSON.stringify(headers));
      assert.equal(answer.location, undefined);
      const headless = await new Visitor().post(
        `${service.auth}/authenticate`,
        { email: person.email, password: PASSWORD, client_id: application.id, state: 's' },
        sent(headers),
      );
      assert.equal(headless.status, 403);
      const step = await new Visitor().post(
        `${service.auth}/send-verification-code?client_id=x&code=y`,
        {},
        sent(headers),
      );
      assert.equal(step.status, 403);
    }
  });

  test('login CSRF: the page of an attacker, posted by a victim without the cookie or with another one', async () => {
    const attacker = new Visitor();
    const page = await attacker.get(authorizeUrl(service, application));
    const victim = new Visitor();
    assert.equal((await victim.submit(page, { email: person.email, password: PASSWORD })).status, 400);
    await victim.get(authorizeUrl(service, application));
    assert.equal((await victim.submit(page, { email: person.email, password: PASSWORD })).status, 400);
    const own = await victim.get(authorizeUrl(service, application));
    for (const changed of [{ state: 'another' }, { client_id: 'another' }, { request: 'A'.repeat(43) }]) {
      assert.equal(
        (await victim.submit(own, sent({ email: person.email, password: PASSWORD, ...changed }))).status,
        400,
        JSON.stringify(changed),
      );
    }
  });

  test('session fixation: a planted cookie never becomes a session', async () => {
    const single = await startTestService({ LOMBARD_SINGLE_SIGN_ON: 'yes' });
    try {
      const app = await createApplication(single);
      const someone = await createPerson(single);
      const planted = 'P'.repeat(43);
      const victim = new Visitor();
      victim.cookies.set(cookieOf(single, 'session'), planted).set(cookieOf(single, 'browser'), planted);
      await victim.submit(await victim.get(authorizeUrl(single, app)), { email: someone.email, password: PASSWORD });
      const issued = victim.cookies.get(cookieOf(single, 'session'));
      assert.notEqual(issued, planted);
      const attacker = new Visitor();
      attacker.cookies.set(cookieOf(single, 'session'), planted).set(cookieOf(single, 'browser'), planted);
      assert.equal((await attacker.get(authorizeUrl(single, app))).status, 200, 'asked for a password');
    } finally {
      await single.stop();
    }
  });

  test('clickjacking, caching, loading, leaking: every page forbids it', async () => {
    const visitor = new Visitor();
    const page = await visitor.get(authorizeUrl(service, application));
    const pages = [
      page,
      await visitor.submit(page, { email: 'x', password: 'y' }),
      await visitor.get(`${service.auth}/2fa?code=x&client_id=y`),
      await visitor.get(`${service.auth}/end-session`),
    ];
    for (const { headers, text } of pages) {
      const policy = headers.get('content-security-policy') ?? '';
      assert.match(policy, /default-src 'none'/);
      assert.match(policy, /frame-ancestors 'none'/);
      assert.match(policy, /form-action 'self'/);
      assert.match(policy, /base-uri 'none'/);
      assert.match(policy, /connect-src 'self'(;|$)/);
      assert.doesNotMatch(policy, /unsafe|script-src/);
      assert.equal(headers.get('x-frame-options'), 'DENY');
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.equal(headers.get('referrer-policy'), 'same-origin');
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.doesNotMatch(text, /<script/i);
    }
    const cookie = page.headers.getSetCookie()[0] ?? '';
    assert.match(cookie, /HttpOnly/);
    assert.match(cookie, /SameSite=Lax/);
  });

  test('cookies of an https address are Secure and bound to the host', async () => {
    const port = await freePort();
    const secure = await startTestService({
      LOMBARD_AUTH_URL: 'https://login.bank.example',
      LOMBARD_AUTH_PORT: String(port),
    });
    try {
      const local = `http://127.0.0.1:${port}`;
      const app = await createApplication(secure);
      const page = await new Visitor().get(authorizeUrl({ ...secure, auth: local } as TestService, app));
      assert.match(
        page.headers.getSetCookie()[0] ?? '',
        /^__Host-lombard-browser=[^;]+; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
      );
      assert.match(page.headers.get('strict-transport-security') ?? '', /max-age=/);
      assert.equal(formsOf(page.text)[0]?.action, 'https://login.bank.example/authenticate');
    } finally {
      await secure.stop();
    }
  });

  test('script in every parameter that comes back', async () => {
    const evil = `"><script>alert(1)</script>'&lt;\`\${7*7}`;
    const visitor = new Visitor();
    const named = await createApplication(service, { name: evil });
    const pages = [
      await visitor.get(
        authorizeUrl(service, named, { state: evil, nonce: evil, login_hint: evil, ui_locales: evil, prompt: evil }),
      ),
      await visitor.get(authorizeUrl(service, named, { client_id: evil })),
      await visitor.get(authorizeUrl(service, named, { redirect_uri: evil })),
      await visitor.get(`${service.auth}/2fa?${new URLSearchParams({ code: evil, client_id: evil, sent: evil })}`),
      await visitor.get(
        `${service.auth}/end-session?${new URLSearchParams({ client_id: evil, id_token_hint: evil, state: evil })}`,
      ),
      await visitor.get(`${service.auth}/${encodeURIComponent(evil)}`),
    ];
    const page = pages[0];
    assert.equal(page?.status, 200);
    if (page) pages.push(await visitor.submit(page, { email: evil, password: evil }));
    for (const { text } of pages) assert.doesNotMatch(text, /<script/i);
    assert.equal(formsOf(page?.text ?? '')[0]?.fields.state, evil);
  });

  test('header splitting: line breaks in state, address and redirects come out encoded or not at all', async () => {
    const split = 'x\r\nset-cookie: stolen=1';
    const answers = [
      await new Visitor().get(authorizeUrl(service, application, { state: split })),
      await new Visitor().get(authorizeUrl(service, application, { redirect_uri: `${CALLBACK}\r\nx: y` })),
      await new Visitor().post(`${service.auth}/authenticate`, {
        email: person.email,
        password: PASSWORD,
        client_id: application.id,
        state: split,
      }),
      await new Visitor().get(
        `${service.auth}/end-session?${new URLSearchParams({ client_id: application.id, state: split })}`,
      ),
    ];
    for (const { headers } of answers) {
      assert.ok(!headers.getSetCookie().some((line) => line.includes('stolen')));
      assert.doesNotMatch(headers.get('location') ?? '', /[\r\n]/);
    }
    const unicode = await new Visitor().post(`${service.auth}/authenticate`, {
      email: person.email,
      password: PASSWORD,
      client_id: application.id,
      state: 'ä\u2028嗨',
    });
    assert.equal(unicode.location?.searchParams.get('state'), 'ä\u2028嗨');
  });

  test('Host and Forwarded headers build nothing', async () => {
    for (const path of [
      '/.well-known/openid-configuration',
      new URL(authorizeUrl(service, application)).pathname + new URL(authorizeUrl(service, application)).search,
    ]) {
      const text = await raw(service, path, {
        host: 'evil.example',
        forwarded: 'host=evil.example;proto=https',
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'https',
        'x-original-url': '/evil.example',
      });
      assert.doesNotMatch(text, /evil\.example/);
      assert.ok(text.includes(service.auth));
    }
  });
});

describe('odd requests', () => {
  test('long passwords cost no more than others', async () => {
    const someone = await createPerson(service);
    for (const length of [1_001, 10_000, 1_000_000]) {
      const started = performance.now();
      const answer = await signInHeadless(service, application, someone, { password: 'x'.repeat(length) });
      assert.equal(answer.status, 400, String(length));
      assert.ok(performance.now() - started < 10_000);
    }
    assert.equal((await signInHeadless(service, application, someone)).status, 200);
  });

  test('a parameter given twice', async () => {
    for (const name of ['client_id', 'state', 'email', 'password']) {
      const fields = new URLSearchParams({
        email: person.email,
        password: PASSWORD,
        client_id: application.id,
        state: 's',
      });
      fields.append(name, fields.get(name) ?? '');
      const answer = await new Visitor().post(`${service.auth}/authenticate`, fields.toString(), {
        accept: '*/*',
        'no-redirect': 'application/json',
      });
      assert.equal(answer.status, 400, name);
      assert.equal(answer.body.error, 'invalid_request', name);
    }
    for (const name of ['grant_type', 'code', 'redirect_uri']) {
      const code = await codeOf(person);
      const fields = new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
      fields.append(name, 'x');
      const answer = await new Visitor().post(`${service.auth}/token`, fields.toString(), {
        accept: '*/*',
        authorization: application.basic,
      });
      assert.equal(answer.body.error, 'invalid_request', name);
    }
    const page = await new Visitor().get(
      `${authorizeUrl(service, application)}&redirect_uri=${encodeURIComponent('https://evil.example/')}`,
    );
    assert.equal(page.status, 400);
  });

  test('__proto__, constructor and brackets are names like any other', async () => {
    const fields = `__proto__=x&constructor=y&__proto__[email]=z&client_id[]=q&email=${encodeURIComponent(person.email)}&password=${encodeURIComponent(PASSWORD)}&client_id=${application.id}&state=s`;
    const answer = await new Visitor().post(`${service.auth}/authenticate?__proto__=1`, fields, {
      accept: '*/*',
      'no-redirect': 'application/json',
    });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(({} as Record<string, unknown>).email, undefined);
  });

  test('NUL, lone surrogates, broken UTF-8 and percent signs: 400, never 500', async () => {
    for (const fields of [
      'client_id=%00',
      `client_id=${application.id}&email=%00&password=x&state=s`,
      `client_id=${application.id}&email=a&password=%00&state=s`,
      `client_id=${application.id}&email=%ff&password=%ff&state=%ff`,
      'client_id=%',
      '%%%=%zz',
      '\u0000',
    ]) {
      for (const path of [
        '/authenticate',
        '/token',
        '/revoke',
        '/introspect',
        '/verify?client_id=%00&code=%00',
        '/send-verification-code?client_id=x&code=%00',
        '/end-session',
      ]) {
        const answer = await new Visitor().post(`${service.auth}${path}`, fields, {
          accept: '*/*',
          authorization: application.basic,
          'no-redirect': 'application/json',
        });
        assert.ok([200, 400, 401].includes(answer.status), `${path} ${fields}: ${answer.status} ${answer.text}`);
      }
    }
    const binary = await fetch(`${service.auth}/token`, {
      method: 'POST',
      body: Buffer.from([0xff, 0xfe]),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    assert.equal(binary.status, 400);
  });

  test('a secret, token or password is in no log line', async () => {
    const { createLog } = await import('../../src/process/log.ts');
    const lines: string[] = [];
    const log = createLog('trace', false);
    const stream = (log as unknown as { [key: symbol]: { write(line: string): void } })[
      Object.getOwnPropertySymbols(log).find((symbol) => String(symbol) === 'Symbol(pino.stream)') as symbol
    ];
    assert.ok(stream);
    stream.write = (line) => void lines.push(line);
    const { startService } = await import('../../src/service.ts');
    const logged = await startService({ ...service.config, roles: new Set(['auth']) }, log, {
      databaseUrl: database.url,
    });
    try {
      const there = { ...service, auth: logged.addresses.auth } as TestService;
      const tokens = await tokensOf(there, application, person);
      await signInHeadless(there, application, person, { password: 'not my password' });
      await refreshTokens(there, application, tokens.refresh_token);
      await new Visitor().get(authorizeUrl(there, application, { state: 'secret-state' }));
      const text = lines.join('');
      assert.match(text, /signed in/);
      for (const secret of [
        PASSWORD,
        'not my password',
        application.secret,
        tokens.access_token,
        tokens.refresh_token,
        tokens.id_token,
        person.email,
      ]) {
        assert.ok(!text.includes(secret), `the log has ${secret}`);
      }
    } finally {
      await logged.stop();
    }
  });
});

/** The fields of a case that it has. */
function sent(fields: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** A request with headers that fetch would not send. */
function raw(one: TestService, path: string, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const url = new URL(one.auth);
    const sent = request(
      { host: url.hostname, port: url.port, path, headers: { accept: 'text/html', ...headers } },
      (answer) => {
        let text = JSON.stringify(answer.headers);
        answer.on('data', (chunk) => {
          text += chunk;
        });
        answer.on('end', () => resolve(text));
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}
