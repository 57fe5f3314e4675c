import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { type ApprovalsWorld, approvalsWorld, type Person } from '../world/approvals.ts';
import { type Answer, startTestService, type TestService } from '../world/service.ts';
import { nextTimeStep } from '../world/visitor.ts';

const PHONE = '+44 20 7946 0000';
const PENDING = 'Payment pending of authorization';

let service: TestService;
let world: ApprovalsWorld;
/** Its second factor is an authenticator with this secret. */
let totpSecret: string;
let ann: Person;
let bob: Person;
let cat: Person;
let phones = 0;

before(async () => {
  service = await startTestService();
  world = await approvalsWorld(service, ['cat'], { authorisation_workflow: '6-eyes', approval_step_up: true });
  cat = world.person('cat');
  ({ person: ann, secret: totpSecret } = await withAuthenticator('ann'));
  bob = (await withPhone('bob')).person;
});
after(() => service.stop());
/** A test ends in the time step it began in. */
beforeEach(() => nextTimeStep(service));

const now = () => service.service.context.clock.now().getTime();

async function withAuthenticator(name: string): Promise<{ person: Person; secret: string }> {
  const person = await world.hire(name);
  const changed = await service.operator('PATCH', `/contacts/${person.id}`, { second_factor: 'totp' });
  return { person, secret: changed.body.totp.secret };
}

async function withPhone(name: string, fields: object = {}): Promise<{ person: Person; phone: string }> {
  const phone = `${PHONE}${String((phones += 1)).padStart(3, '0')}`;
  return { person: await world.hire(name, undefined, { second_factor: 'sms', phone, ...fields }), phone };
}

/** The code of an authenticator, some steps from now. */
const totp = (secret: string, steps = 0) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: now() + steps * 30_000 });
/** Another code than this one. */
const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

async function lastText(phone: string): Promise<{ text: string; code: string }> {
  const { body } = await service.operator('GET', '/text-messages');
  const { text } = body.find((each: { to: string }) => each.to === phone);
  return { text, code: /\b(\d{6})\b/.exec(text)?.[1] as string };
}

const challenge = (who: Person, id: string): Promise<Answer> => world.ask(who, 'POST', `/payments/${id}/challenges`);
const approve = (who: Person, id: string, body?: object) =>
  world.ask(who, 'PATCH', `/payments/${id}`, body, '&action=authorise');
async function open(who: Person, id: string): Promise<string> {
  const opened = await challenge(who, id);
  assert.equal(opened.status, 201, opened.text);
  return opened.body.challenge_id;
}
function refused(answer: Answer, status: number, code: string): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.body.code, code, answer.text);
}
/** Puts the service's clock forward. */
const advance = (seconds: number) => service.operator('PUT', '/clock', { advance_seconds: seconds });

describe('with an authenticator', () => {
  test('a challenge, then the code: approved, and each code counts once', async () => {
    const { person, secret } = await withAuthenticator('one approval');
    const id = await world.create();
    const opened = await challenge(person, id);
    assert.equal(opened.status, 201, opened.text);
    assert.deepEqual(Object.keys(opened.body).sort(), ['challenge_id', 'expires_at', 'second_factor']);
    assert.equal(opened.body.second_factor, 'totp');
    assert.ok(Math.abs(Date.parse(opened.body.expires_at) - now() - 300_000) < 10_000, opened.body.expires_at);
    const answer = { challenge_id: opened.body.challenge_id, verification_code: totp(secret), reason: 'right' };
    assert.equal((await approve(person, id, answer)).status, 204);
    const entry = (await world.payment(id)).approvals_workflow.authorisations[0];
    assert.equal(entry.contact_id, person.id);
    assert.equal(entry.reason, 'right');
    refused(await approve(person, id, answer), 403, 'challenge_expired');
    const second = await world.create();
    const again = { challenge_id: await open(person, second), verification_code: totp(secret) };
    refused(await approve(person, second, again), 403, 'step_up_failed');
    const next = { ...again, verification_code: totp(secret, 1) };
    assert.equal((await approve(person, second, next)).status, 204, 'the next step of the authenticator');
  });

  test('the code that signed in does not count again', async () => {
    const { person, secret } = await withAuthenticator('signed in');
    const step = Math.floor(now() / 30_000);
    await service.query('update contacts set totp_last_step = $2 where contact_id = $1', [person.id, step]);
    const id = await world.create();
    const answer = { challenge_id: await open(person, id), verification_code: totp(secret) };
    refused(await approve(person, id, answer), 403, 'step_up_failed');
  });

  test('five wrong codes end the challenge, the right one too late', async () => {
    const { person, secret } = await withAuthenticator('guesses');
    const id = await world.create();
    const challengeId = await open(person, id);
    for (const code of [wrong(totp(secret)), '', 'abcdef', '12345', '1234567'])
      refused(await approve(person, id, { challenge_id: challengeId, verification_code: code }), 403, 'step_up_failed');
    const late = { challenge_id: challengeId, verification_code: totp(secret) };
    refused(await approve(person, id, late), 403, 'challenge_expired');
    const again = { challenge_id: await open(person, id), verification_code: totp(secret) };
    assert.equal((await approve(person, id, again)).status, 204);
  });

  test('guessed in parallel, five are looked at', async () => {
    const { person, secret } = await withAuthenticator('parallel guesses');
    const id = await world.create();
    const challengeId = await open(person, id);
    const codes = Array.from({ length: 24 }, (_, n) => wrong(String(Number(totp(secret)) + n)));
    const answers = await Promise.all(
      codes
        .filter((code) => ![-1, 0, 1].some((steps) => totp(secret, steps) === code))
        .map((code) => approve(person, id, { challenge_id: challengeId, verification_code: code })),
    );
    const codesOf = answers.map(({ body }) => body.code);
    assert.equal(codesOf.filter((code) => code === 'step_up_failed').length, 5, codesOf.join());
    assert.ok(codesOf.every((code) => ['step_up_failed', 'challenge_expired'].includes(code)));
  });

  test('the right code in parallel approves once', async () => {
    const { person, secret } = await withAuthenticator('parallel');
    const id = await world.create();
    const answer = { challenge_id: await open(person, id), verification_code: totp(secret) };
    const answers = await Promise.all([1, 2, 3, 4].map(() => approve(person, id, answer)));
    assert.equal(answers.filter(({ status }) => status === 204).length, 1);
    assert.ok(answers.every(({ status, body }) => status === 204 || body.code === 'challenge_expired'));
    assert.equal((await world.payment(id)).approvals_workflow.authorisations.length, 1);
  });

  test('two challenges are both good, and one code serves one of them', async () => {
    const { person, secret } = await withAuthenticator('two challenges');
    const [first, second] = [await world.create(), await world.create()];
    const [one, two] = [await open(person, first), await open(person, second)];
    const code = totp(secret);
    const answers = await Promise.all([
      approve(person, first, { challenge_id: one, verification_code: code }),
      approve(person, second, { challenge_id: two, verification_code: code }),
    ]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 403]);
    assert.equal(answers.find(({ status }) => status === 403)?.body.code, 'step_up_failed');
  });
});

describe('with a phone', () => {
  test('the text message shows code, amount, currency and account; its code approves', async () => {
    const { person, phone } = await withPhone('texted');
    const id = await world.create('1250.50');
    const opened = await challenge(person, id);
    assert.equal(opened.body.second_factor, 'sms');
    const { text, code } = await lastText(phone);
    for (const part of ['1250.50', 'EUR', 'DE89370400440532013000', 'Müller GmbH'])
      assert.ok(text.includes(part), text);
    const answer = { challenge_id: opened.body.challenge_id, verification_code: code };
    refused(await approve(person, id, { ...answer, verification_code: wrong(code) }), 403, 'step_up_failed');
    assert.equal((await approve(person, id, answer)).status, 204);
    refused(await approve(person, id, answer), 403, 'challenge_expired');
  });

  test('in the contact’s language, whatever the request accepts', async () => {
    const { person, phone } = await withPhone('deutsch', { language: 'de' });
    await open(person, await world.create());
    assert.match((await lastText(phone)).text, /gibt die Zahlung von EUR 100 an DE89370400440532013000 /);
  });

  test('at most one text each 30 seconds for a person, whatever the payments', async () => {
    const { person, phone } = await withPhone('hurried');
    const [first, second] = [await world.create(), await world.create()];
    const answers = await Promise.all([first, second, first, second].map((id) => challenge(person, id)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 429, 429, 429]);
    const late = await challenge(person, second);
    refused(late, 429, 'rate_limited');
    const wait = Number(late.headers.get('retry-after'));
    assert.ok(wait >= 1 && wait <= 30, String(wait));
    const { body: texts } = await service.operator('GET', '/text-messages');
    assert.equal(texts.filter((each: { to: string }) => each.to === phone).length, 1);
    await advance(31);
    assert.equal((await challenge(person, second)).status, 201);
    await service.operator('DELETE', '/clock');
  });

  test('a code that went to a former number approves nothing', async () => {
    const { person, phone } = await withPhone('lost phone');
    const id = await world.create();
    const challengeId = await open(person, id);
    const { code } = await lastText(phone);
    await service.operator('PATCH', `/contacts/${person.id}`, { phone: `${PHONE}999` });
    const answer = { challenge_id: challengeId, verification_code: code };
    refused(await approve(person, id, answer), 403, 'step_up_failed');
    assert.equal((await world.payment(id)).status, PENDING);
  });

  test('a code of one challenge does not answer another', async () => {
    const { person, phone } = await withPhone('two texts');
    const [first, second] = [await world.create(), await world.create()];
    await open(person, first);
    const { code } = await lastText(phone);
    await advance(31);
    const two = await open(person, second);
    const { code: right } = await lastText(phone);
    if (code !== right)
      refused(await approve(person, second, { challenge_id: two, verification_code: code }), 403, 'step_up_failed');
    assert.equal((await approve(person, second, { challenge_id: two, verification_code: right })).status, 204);
    await service.operator('DELETE', '/clock');
  });
});

describe('a challenge is good for one person and one payment, as it was', () => {
  test('of another payment, another person, unknown: challenge_expired, and no try is counted', async () => {
    const { person, secret } = await withAuthenticator('careful');
    const [mine, other] = [await world.create(), await world.create()];
    const challengeId = await open(person, mine);
    const answer = { challenge_id: challengeId, verification_code: totp(secret) };
    refused(await approve(person, other, answer), 403, 'challenge_expired');
    refused(await approve(ann, mine, { ...answer, verification_code: totp(totpSecret) }), 403, 'challenge_expired');
    refused(await approve(person, mine, { ...answer, challenge_id: 'unknown' }), 403, 'challenge_expired');
    assert.equal((await approve(person, mine, answer)).status, 204);
  });

  test('another person’s approval does not end it', async () => {
    const [one, two] = [await withAuthenticator('first of two'), await withAuthenticator('second of two')];
    const id = await world.create();
    const [first, second] = [await open(one.person, id), await open(two.person, id)];
    const answer = (challengeId: string, secret: string) => ({
      challenge_id: challengeId,
      verification_code: totp(secret),
    });
    assert.equal((await approve(one.person, id, answer(first, one.secret))).status, 204);
    assert.equal((await approve(two.person, id, answer(second, two.secret))).status, 204);
    assert.equal((await world.payment(id)).status, 'Validating beneficiary information');
  });

  test('the payment was rejected or cancelled since: challenge_expired', async () => {
    const { person, secret } = await withAuthenticator('too late');
    for (const end of [
      (id: string) => world.patch(cat, id, 'reject'),
      (id: string) => world.ask(world.owner, 'DELETE', `/payments/${id}`),
    ]) {
      const id = await world.create();
      const challengeId = await open(person, id);
      assert.equal((await end(id)).status, 204);
      const answer = { challenge_id: challengeId, verification_code: totp(secret) };
      refused(await approve(person, id, answer), 403, 'challenge_expired');
    }
  });

  for (const [what, assignment] of [
    ['amount', 'amount = amount + 1'],
    ['currency', "payment_currency = 'USD'"],
    ['account', "iban = 'GB29NWBK60161331926819'"],
  ]) {
    test(`the ${what} has changed since: challenge_expired`, async () => {
      const { person, secret } = await withAuthenticator(`changed ${what}`);
      const id = await world.create();
      const challengeId = await open(person, id);
      await service.query(`update payments set ${assignment} where client_id = $1 and payment_id = $2`, [
        world.clientId,
        id,
      ]);
      const answer = { challenge_id: challengeId, verification_code: totp(secret) };
      refused(await approve(person, id, answer), 403, 'challenge_expired');
      assert.equal((await world.payment(id)).status, PENDING);
    });
  }

  test('changed at the same moment as the approval: one of the two is refused', async () => {
    const { person, secret } = await withAuthenticator('raced');
    const id = await world.create();
    const answer = { challenge_id: await open(person, id), verification_code: totp(secret) };
    const [approved, rejected] = await Promise.all([approve(person, id, answer), world.patch(cat, id, 'reject')]);
    const { status, approvals_workflow: workflow } = await world.payment(id);
    assert.equal(rejected.status, 204);
    assert.equal(status, 'Payment rejected');
    if (approved.status === 204) assert.equal(workflow.authorisations.length, 2);
    else refused(approved, 403, 'challenge_expired');
  });

  test('five minutes are over: challenge_expired', async () => {
    const { person, secret } = await withAuthenticator('slow');
    const id = await world.create();
    const challengeId = await open(person, id);
    await advance(301);
    refused(
      await approve(person, id, { challenge_id: challengeId, verification_code: totp(secret) }),
      403,
      'challenge_expired',
    );
    await service.operator('DELETE', '/clock');
  });
});

describe('what is refused, in order', () => {
  test('no second factor comes before everything else', async () => {
    const id = await world.create();
    for (const payment of [id, 'PAY-UNKNOWN']) {
      refused(await approve(cat, payment), 403, 'second_factor_missing');
      refused(await approve(cat, payment, { challenge_id: 'x', verification_code: '1' }), 403, 'second_factor_missing');
      refused(await challenge(cat, payment), 403, 'second_factor_missing');
    }
  });

  test('an unknown payment, then what is missing', async () => {
    const id = await world.create();
    refused(await approve(ann, 'PAY-UNKNOWN'), 404, 'payment_not_found');
    refused(await challenge(ann, 'PAY-UNKNOWN'), 404, 'payment_not_found');
    refused(await approve(ann, id), 403, 'step_up_required');
    refused(await approve(ann, id, { challenge_id: await open(ann, id) }), 403, 'step_up_required');
    refused(await approve(ann, id, { verification_code: '123456' }), 403, 'step_up_required');
  });

  test('values of a wrong type: 400 that names the field', async () => {
    const id = await world.create();
    for (const [field, body] of [
      ['challenge_id', { challenge_id: 1, verification_code: '123456' }],
      ['verification_code', { challenge_id: 'x', verification_code: 123456 }],
    ] as const) {
      const answer = await approve(ann, id, body);
      refused(answer, 400, 'invalid_body');
      assert.match(answer.body.details, new RegExp(`^body\\.${field}: `));
    }
  });

  test('without the permission: permission_denied; not an approver now: approval_not_allowed', async () => {
    const clerk = await world.hire('clerk', [], { second_factor: 'sms', phone: PHONE });
    const id = await world.create();
    refused(await challenge(clerk, id), 403, 'permission_denied');
    await service.operator('PATCH', `/contacts/${world.owner.id}`, { second_factor: 'sms', phone: PHONE });
    refused(await challenge(world.owner, id), 409, 'approval_not_allowed');
    assert.ok(!JSON.stringify((await service.operator('GET', '/text-messages')).body).includes(`"${PHONE}"`));
  });
});

describe('what needs no code', () => {
  test('rejecting, and the institution’s approval in a contact’s name, which is marked', async () => {
    const rejected = await world.create();
    assert.equal((await world.patch(bob, rejected, 'reject')).status, 204);
    const id = await world.create();
    const body = { action: 'authorise', contact_id: bob.id };
    assert.equal((await service.operator('POST', `/payments/${id}/actions`, body)).status, 200);
    assert.equal((await world.payment(id)).approvals_workflow.authorisations[0].on_behalf_by, 'institution');
  });

  test('approving where the client does not ask for it; the setting needs the scope approvals', async () => {
    const plain = await approvalsWorld(service, ['eve'], { authorisation_workflow: '4-eyes' });
    const read = await service.operator('GET', `/clients/${plain.clientId}`);
    assert.equal(read.body.approval_step_up, false);
    const first = await plain.create();
    assert.equal((await plain.patch(plain.person('eve'), first, 'authorise')).status, 204);
    const { body: token } = await service.operator('POST', '/operator-tokens', { name: 'core', role: 'core' });
    const change = (options: object) =>
      service.operator('PATCH', `/clients/${plain.clientId}`, { approval_step_up: true }, options);
    const denied = await change({ token: token.token });
    refused(denied, 403, 'permission_denied');
    assert.match(denied.body.details, /approvals/);
    assert.equal((await change({})).body.approval_step_up, true);
    const second = await plain.create();
    refused(await plain.patch(plain.person('eve'), second, 'authorise'), 403, 'second_factor_missing');
  });
});
