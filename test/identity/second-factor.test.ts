import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, beforeEach, describe, test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { listening } from '../world/ports.ts';
import { startTestService, type TestService } from '../world/service.ts';
import {
  authorizeUrl,
  createApplication,
  createPerson,
  credentials,
  exchange,
  later,
  nextTimeStep,
  PASSWORD,
  type Person,
  signInHeadless,
  type TestApplication,
  Visitor,
} from '../world/visitor.ts';

let service: TestService;
let application: TestApplication;

before(async () => {
  service = await startTestService();
  application = await createApplication(service);
});
after(() => service.stop());
/** A test ends in the time step it began in. */
beforeEach(() => nextTimeStep(service));

/** The code that the person's authenticator shows, some steps from now. */
function totp(person: Person, steps = 0): string {
  const at = service.service.context.clock.now().getTime() + steps * 30_000;
  return new TOTP({ secret: Secret.fromBase32(person.totp ?? '') }).generate({ timestamp: at });
}

async function lastText(phone: string): Promise<string> {
  const { rows } = await service.query('select text from text_messages where recipient = $1 order by id desc limit 1', [
    phone,
  ]);
  return /\b(\d{6})\b/.exec(rows[0]?.text ?? '')?.[1] ?? '';
}

function verify(
  handle: string,
  code: string,
  options: { application?: TestApplication; json?: boolean; more?: string } = {},
) {
  const one = options.application ?? application;
  return new Visitor().post(
    `${service.auth}/verify?client_id=${one.id}&code=${handle}${options.more ?? ''}`,
    { verification_code: code },
    {
      authorization: one.basic,
      accept: '*/*',
      ...(options.json === false ? {} : { 'no-redirect': 'application/json' }),
    },
  );
}

function resend(handle: string, visitor = new Visitor(), accept = '*/*') {
  return visitor.post(`${service.auth}/send-verification-code?client_id=${application.id}&code=${handle}`, '', {
    accept,
  });
}

describe('an authenticator', () => {
  test('headless: a handle, then the code', async () => {
    const person = await createPerson(service, { second_factor: 'totp' });
    const answer = await signInHeadless(service, application, person);
    assert.equal(answer.status, 200);
    assert.equal(answer.body.second_factor, 'totp');
    const handle = answer.body.code;
    const early = (await exchange(service, application, handle)).body;
    assert.equal(early.error, 'invalid_grant');
    assert.match(early.error_description, /^code: is the handle of a second step, not yet a code: .*\/verify/);
    const stranger = await createApplication(service);
    assert.match((await exchange(service, stranger, handle)).body.error_description, /^code: is unknown/);
    const wrong = await verify(handle, '000000');
    assert.equal(wrong.status, 400);
    assert.equal(wrong.body.error, 'invalid_grant');
    const right = await verify(handle, totp(person));
    assert.equal(right.status, 200, right.text);
    const tokens = await exchange(service, application, right.body.code);
    assert.equal(tokens.status, 200);
    assert.equal((await verify(handle, totp(person, 1))).status, 400, 'a handle works once');
  });

  test('headless with redirects: 302 to /2fa, then 302 to the application', async () => {
    const person = await createPerson(service, { second_factor: 'totp' });
    const answer = await new Visitor().post(`${service.auth}/authenticate`, {
      email: person.email,
      password: PASSWORD,
      client_id: application.id,
      state: 'st',
    });
    assert.equal(answer.status, 302);
    assert.equal(answer.location?.pathname, '/2fa');
    assert.equal(answer.location?.searchParams.get('client_id'), application.id);
    const handle = answer.location?.searchParams.get('code') ?? '';
    const page = await new Visitor().get(answer.location ?? '');
    assert.equal(page.status, 200);
    const redirected = await verify(handle, totp(person), {
      json: false,
      more: `&redirect_uri=${encodeURIComponent('https://app.example.com/callback')}`,
    });
    assert.equal(redirected.status, 302, redirected.text);
    assert.equal(redirected.location?.searchParams.get('state'), 'st');
    assert.equal(
      (await exchange(service, application, redirected.location?.searchParams.get('code') ?? '')).status,
      200,
    );
  });

  test('one step of drift is taken, two are not, and a step works once', async () => {
    const person = await createPerson(service, { second_factor: 'totp' });
    const handle = async () => (await signInHeadless(service, application, person)).body.code;
    assert.equal((await verify(await handle(), totp(person, -2))).status, 400);
    assert.equal((await verify(await handle(), totp(person, 2))).status, 400);
    assert.equal((await verify(await handle(), totp(person, -1))).status, 200);
    const code = totp(person);
    assert.equal((await verify(await handle(), code)).status, 200);
    assert.equal((await verify(await handle(), code)).status, 400, 'the same code again');
    assert.equal((await verify(await handle(), totp(person, 1))).status, 200);
    assert.equal((await verify(await handle(), totp(person))).status, 400, 'an earlier step after a later one');
  });

  test('by page: wrong, right', async () => {
    const person = await createPerson(service, { second_factor: 'totp' });
    const visitor = new Visitor();
    const first = await visitor.submit(await visitor.get(authorizeUrl(service, application)), {
      email: person.email,
      password: PASSWORD,
    });
    assert.equal(first.status, 302);
    const page = await visitor.get(first.location ?? '');
    assert.match(page.text, /autocomplete="one-time-code"/);
    const again = await visitor.submit(page, { verification_code: '123 45' });
    assert.equal(again.status, 400);
    assert.match(again.text, /That code is not right/);
    const code = totp(person);
    const done = await visitor.submit(again, { verification_code: `${code.slice(0, 3)} ${code.slice(3)}` });
    assert.equal(done.status, 302, done.text);
    assert.equal(done.location?.searchParams.get('state'), 'state-1');
    assert.equal((await exchange(service, application, done.location?.searchParams.get('code') ?? '')).status, 200);
  });

  test('a page of another browser, another application, no credentials: nothing', async () => {
    const person = await createPerson(service, { second_factor: 'totp' });
    const visitor = new Visitor();
    const first = await visitor.submit(await visitor.get(authorizeUrl(service, application)), {
      email: person.email,
      password: PASSWORD,
    });
    const stranger = new Visitor();
    await stranger.get(authorizeUrl(service, application));
    assert.equal((await stranger.get(first.location ?? '')).status, 400);
    const handle = first.location?.searchParams.get('code') ?? '';
    const post = (who: Visitor, headers = {}) =>
      who.post(
        `${service.auth}/verify?client_id=${application.id}&code=${handle}`,
        { verification_code: totp(person) },
        headers,
      );
    assert.equal((await post(stranger)).status, 400);
    assert.equal((await post(new Visitor(), { accept: '*/*' })).status, 401);
    const other = await createApplication(service);
    assert.equal((await verify(handle, totp(person), { application: other })).status, 400);
    const mixed = await new Visitor().post(
      `${service.auth}/verify?client_id=${application.id}&code=${handle}`,
      { verification_code: totp(person) },
      { authorization: other.basic, accept: '*/*' },
    );
    assert.equal(mixed.status, 400);
    assert.equal(
      (await verify(handle, totp(person), { application: credentials(application.id, 'wrong') })).status,
      401,
    );
    assert.equal((await post(visitor)).status, 302);
  });

  test('a handle lives five minutes', async () => {
    const person = await createPerson(service, { second_factor: 'totp' });
    const handle = (await signInHeadless(service, application, person)).body.code;
    await later(service, 301, async () => {
      assert.equal((await verify(handle, totp(person))).body.error, 'invalid_grant');
    });
    assert.equal((await verify(handle, totp(person))).status, 200);
  });
});

describe('a text message', () => {
  test('headless: the code arrives, a new one after 30 seconds, the old one works no longer', async () => {
    const person = await createPerson(service, { second_factor: 'sms', phone: '+441632960001' });
    const answer = await signInHeadless(service, application, person);
    assert.equal(answer.body.second_factor, 'sms');
    const early = await resend(answer.body.code);
    assert.equal(early.status, 429);
    assert.ok(Number(early.headers.get('retry-after')) <= 30);
    const old = await lastText('+441632960001');
    assert.match(old, /^\d{6}$/);
    await later(service, 31, async () => {
      assert.equal((await resend(answer.body.code)).status, 204);
      const fresh = await lastText('+441632960001');
      if (fresh !== old) assert.equal((await verify(answer.body.code, old)).status, 400);
      assert.equal((await verify(answer.body.code, fresh)).status, 200);
    });
  });

  test('a code that went to a lost phone signs nobody in once the second factor has changed', async () => {
    const changes = [{ phone: '+441632960099' }, { second_factor: 'none' }, { second_factor: 'totp' }];
    for (const [n, change] of changes.entries()) {
      const phone = `+44163296070${n}`;
      const person = await createPerson(service, { second_factor: 'sms', phone });
      const { body } = await signInHeadless(service, application, person);
      const code = await lastText(phone);
      assert.equal((await service.operator('PATCH', `/contacts/${person.contactId}`, change)).status, 200);
      const late = await verify(body.code, code);
      assert.deepEqual([late.status, late.body.error], [400, 'invalid_grant'], JSON.stringify(change));
    }
  });

  test('by page, with a new code, in German', async () => {
    const phone = '+4930123456';
    const person = await createPerson(service, { second_factor: 'sms', phone });
    const visitor = new Visitor();
    visitor.headers['accept-language'] = 'de';
    const first = await visitor.submit(await visitor.get(authorizeUrl(service, application)), {
      email: person.email,
      password: PASSWORD,
    });
    const page = await visitor.get(first.location ?? '');
    assert.match(page.text, /per SMS/);
    const { rows } = await service.query('select text from text_messages where recipient = $1', [phone]);
    assert.match(rows[0].text, /Bestätigungscode/);
    const early = await visitor.submit(page, {}, 1);
    assert.equal(early.status, 429);
    assert.match(early.text, /Warten Sie 30 Sekunden/);
    await later(service, 31, async () => {
      const sent = await visitor.submit(page, {}, 1);
      assert.equal(sent.status, 303);
      const again = await visitor.get(sent.location ?? '');
      assert.match(again.text, /role="status"/);
      const done = await visitor.submit(again, { verification_code: await lastText(phone) });
      assert.equal(done.status, 302, done.text);
    });
  });

  test('an authenticator sign-in sends no text', async () => {
    const person = await createPerson(service, { second_factor: 'totp' });
    const handle = (await signInHeadless(service, application, person)).body.code;
    assert.equal((await resend(handle)).status, 400);
    assert.equal((await resend('unknown')).status, 400);
  });

  test('twenty texts in 15 minutes are enough', async () => {
    const person = await createPerson(service, { second_factor: 'sms', phone: '+441632960003' });
    for (let count = 0; count < 20; count += 1)
      assert.equal((await signInHeadless(service, application, person)).status, 200);
    assert.equal((await signInHeadless(service, application, person)).status, 429);
  });

  test('the gateway gets {to, text}; when it fails the answer is 502', async () => {
    const got: { body: string; authorization: string | undefined }[] = [];
    let status = 202;
    const gateway = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        got.push({ body, authorization: request.headers.authorization });
        response.writeHead(status).end('ok');
      });
    });
    const port = await listening(gateway);
    const own = await startTestService({ LOMBARD_SMS_URL: `http://user:p%40ss@127.0.0.1:${port}/send` });
    try {
      const app = await createApplication(own);
      const person = await createPerson(own, { second_factor: 'sms', phone: '+441632960002' });
      assert.equal((await signInHeadless(own, app, person)).status, 200);
      assert.equal(JSON.parse(got[0]?.body ?? '{}').to, '+441632960002');
      assert.match(JSON.parse(got[0]?.body ?? '{}').text, /\b\d{6}\b/);
      assert.equal(got[0]?.authorization, `Basic ${Buffer.from('user:p@ss').toString('base64')}`);
      status = 500;
      const failed = await signInHeadless(own, app, person);
      assert.equal(failed.status, 502);
      assert.equal(failed.body.error, 'server_error');
    } finally {
      await own.stop();
      gateway.close();
    }
  });
});
