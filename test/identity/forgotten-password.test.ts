import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { accessToken } from '../world/access-token.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';
import {
  createApplication,
  createPerson,
  exchange,
  PASSWORD,
  type Person,
  type Seen,
  signInHeadless,
  type TestApplication,
  Visitor,
} from '../world/visitor.ts';

const NEW_PASSWORD = 'another horse, another battery';

let service: TestService;
let application: TestApplication;
before(async () => {
  service = await startTestService();
  application = await createApplication(service);
});
after(() => service.stop());

const ask = async (email: string, visitor = new Visitor()): Promise<Seen> =>
  visitor.submit(await visitor.get(`${service.auth}/forgotten-password`), { email });
const open = (link: string, visitor = new Visitor()) => visitor.get(link);
const choose = async (link: string, password = NEW_PASSWORD) => {
  const visitor = new Visitor();
  return visitor.submit(await open(link, visitor), { password });
};
const advance = (seconds: number) => service.operator('PUT', '/clock', { advance_seconds: seconds });

/** The links that were mailed to a person, the newest last, once every request has been looked at. */
async function links({ email }: Pick<Person, 'email'>): Promise<string[]> {
  const due = "select from password_requests where mailed is null union all select from mails where state = 'due'";
  await until(async () => (await service.query(due)).rowCount === 0);
  const { body } = await service.operator('GET', '/mailbox');
  return body
    .filter((mail: { to: string }) => mail.to === email)
    .map((mail: { text: string }) => /https?:\S+\/new-password\?\S+/.exec(mail.text)?.[0])
    .reverse();
}

const signIn = (person: Pick<Person, 'email'>, password: string) =>
  new Visitor().post(
    `${service.auth}/authenticate`,
    { email: person.email, password, client_id: application.id, state: 'x' },
    { 'no-redirect': 'application/json', accept: '*/*' },
  );

test('from the sign-in page by the mailed link to a new password; the old one and every session end', async () => {
  const person = await createPerson(service);
  const token = await accessToken(service, person.contactId);
  const code = (await signInHeadless(service, application, person)).body.code;
  const { refresh_token: refreshToken } = (await exchange(service, application, code)).body;
  const query = new URLSearchParams({
    client_id: application.id,
    scope: 'openid',
    response_type: 'code',
    state: 'x',
    redirect_uri: 'https://app.example.com/callback',
  });
  const page = await new Visitor().get(`${service.auth}/authenticate?${query}`);
  const [, path] = /<a href="([^"]*)">Forgotten password\?<\/a>/.exec(page.text) ?? [];
  const visitor = new Visitor();
  const form = await visitor.get(new URL(path ?? '', service.auth));
  assert.equal(form.status, 200);
  assert.match(form.text, /name="email"/);
  const asked = await visitor.submit(form, { email: ` ${person.email.toUpperCase()} ` });
  assert.equal(asked.status, 200);
  assert.match(asked.text, /role="status"/);
  const [link = '', ...further] = await links(person);
  assert.equal(further.length, 0);
  assert.ok(link.startsWith(`${service.auth}/new-password?token=`), link);

  for (const _ of [1, 2]) assert.equal((await open(link)).status, 200, 'opening does not use it');
  assert.equal((await choose(link, 'short')).status, 400);
  assert.equal((await signIn(person, PASSWORD)).status, 200, 'nothing has changed yet');
  const changed = await choose(link);
  assert.equal(changed.status, 200, changed.text);
  assert.ok(changed.text.includes(`href="${service.api}/app"`));
  assert.equal((await signIn(person, PASSWORD)).status, 400);
  assert.equal((await signIn(person, NEW_PASSWORD)).status, 200);
  const refused = async () =>
    (await service.client(token, 'GET', `/payments?client_id=${person.clientId}`)).status === 401;
  await until(refused, { what: 'the access token is refused' });
  const refreshed = await new Visitor().post(
    `${service.auth}/token`,
    { grant_type: 'refresh_token', refresh_token: refreshToken, scope: 'openid' },
    { authorization: application.basic },
  );
  assert.equal(refreshed.body.error, 'invalid_grant');
  const again = await open(link);
  assert.equal(again.status, 400, 'used once');
  assert.match(again.text, /role="alert"/);
  const { body: trail } = await service.operator('GET', '/audit?entity=contact&page_size=1000');
  const row = trail.find((each: { entity_id: string; actor: string }) => each.actor === `contact:${person.contactId}`);
  assert.ok('password' in row.after, 'the trail says that the password has changed, and not what it is');
});

test('the institution mails a new contact the link for the first password; it is good for three days, and a newer one ends it', async () => {
  const { clientId } = await createPerson(service);
  const email = `${crypto.randomUUID()}@example.com`;
  const made = await service.operator('POST', '/contacts', {
    ...{ name: 'Uma', email, language: 'de', clients: [{ client_id: clientId }] },
  });
  const person = { contactId: made.body.contact_id, email, clientId };
  const invite = (options = {}) => service.operator('POST', `/contacts/${person.contactId}/invite`, undefined, options);
  // Whoever has no password has not forgotten one.
  await ask(email);
  assert.deepEqual(await links(person), []);
  const { body: support } = await service.operator('POST', '/operator-tokens', {
    name: crypto.randomUUID(),
    role: 'support',
  });
  assert.equal((await invite({ token: support.token })).body.details, 'token: needs the scope identity');
  assert.equal((await invite({ headers: { 'x-reason': 'contract 12' } })).status, 204);
  const [first = ''] = await links(person);
  const { body: mails } = await service.operator('GET', '/mailbox');
  assert.equal(mails.find(({ to }: { to: string }) => to === email).subject, 'Wählen Sie Ihr Passwort');
  const [row] = (
    await service.operator('GET', `/audit?entity=contact&entity_id=${person.contactId}&order=desc&page_size=1`)
  ).body;
  assert.deepEqual([row.after, row.reason], [{ invited: true }, 'contract 12']);
  await invite();
  const [, second = ''] = await links(person);
  assert.equal((await open(first)).status, 400, 'a newer one ends it');
  await advance(2 * 86_400);
  assert.equal((await choose(second)).status, 200);
  assert.equal((await signIn(person, NEW_PASSWORD)).status, 200);
  await invite();
  const late = (await links(person)).at(-1) ?? '';
  await advance(3 * 86_400 + 1);
  assert.equal((await open(late)).status, 400, 'it is over');
  await service.operator('DELETE', '/clock');
  await service.operator('PATCH', `/contacts/${person.contactId}`, { status: 'disabled' });
  assert.deepEqual([(await invite()).status, (await invite()).body.code], [409, 'transition_not_allowed']);
  assert.equal((await service.operator('POST', '/contacts/NOPE/invite')).body.code, 'contact_not_found');
});

test('the answer never tells whether the address exists', async () => {
  const person = await createPerson(service);
  const disabled = await createPerson(service);
  await service.operator('PATCH', `/contacts/${disabled.contactId}`, { status: 'disabled' });
  const answers = [];
  for (const email of [person.email, 'nobody@example.com', disabled.email, 'x'.repeat(400), 'a\u0001b', ''])
    answers.push(await ask(email));
  for (const answer of answers) {
    assert.equal(answer.status, 200);
    assert.equal(answer.text, answers[0]?.text);
    assert.deepEqual([...answer.headers.keys()].sort(), [...(answers[0]?.headers.keys() ?? [])].sort());
  }
  assert.equal((await links(person)).length, 1);
  assert.equal((await links(disabled)).length, 0);
});

test('a newer link ends the older; three an hour for an address, and the fourth is answered the same', async () => {
  const person = await createPerson(service);
  const pages = [];
  for (let n = 0; n < 5; n += 1) pages.push((await ask(person.email)).text);
  assert.equal(new Set(pages).size, 1);
  const three = await links(person);
  assert.equal(three.length, 3);
  for (const older of three.slice(0, 2)) assert.equal((await open(older)).status, 400);
  assert.equal((await open(three[2] as string)).status, 200);
  await advance(3_601);
  await ask(person.email);
  assert.equal((await links(person)).length, 4);
  await service.operator('DELETE', '/clock');
});

test('30 minutes; a contact that was disabled or has another address since', async () => {
  const late = await createPerson(service);
  await ask(late.email);
  const [link = ''] = await links(late);
  await advance(1_801);
  assert.equal((await open(link)).status, 400);
  await service.operator('DELETE', '/clock');
  for (const patch of [{ status: 'disabled' }, { email: `new-${late.email}` }]) {
    const person = await createPerson(service);
    await ask(person.email);
    const [own = ''] = await links(person);
    await service.operator(
      'PATCH',
      `/contacts/${person.contactId}`,
      'email' in patch ? { email: `x${person.email}` } : patch,
    );
    assert.equal((await open(own)).status, 400);
  }
});

test('used in parallel: one changes the password', async () => {
  const person = await createPerson(service);
  await ask(person.email);
  const [link = ''] = await links(person);
  const answers = await Promise.all(
    ['one password here', 'two password here', 'three password'].map((p) => choose(link, p)),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400, 400]);
});

test('the second factor stays, and a lock is lifted', async () => {
  const person = await createPerson(service, { second_factor: 'totp' });
  for (let n = 0; n < 11; n += 1) await signIn(person, 'wrong password');
  assert.equal((await signIn(person, PASSWORD)).status, 429, 'locked');
  await ask(person.email);
  const [link = ''] = await links(person);
  assert.equal((await choose(link)).status, 200);
  const answer = await signIn(person, NEW_PASSWORD);
  assert.equal(answer.status, 200);
  assert.equal(answer.body.second_factor, 'totp');
  const secret = Secret.fromBase32(person.totp ?? '');
  assert.ok(new TOTP({ secret }).generate().length === 6);
});

test('the form of another site is refused; the page cannot be framed and leaks no address', async () => {
  const person = await createPerson(service);
  const foreign = await new Visitor().post(
    `${service.auth}/forgotten-password`,
    { email: person.email },
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
  );
  assert.equal(foreign.status, 403);
  assert.equal((await links(person)).length, 0);
  await ask(person.email);
  const [link = ''] = await links(person);
  const page = await open(link);
  assert.match(page.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
  assert.equal(page.headers.get('referrer-policy'), 'same-origin');
  assert.equal(page.headers.get('cache-control'), 'no-store');
});

test('in the person’s language', async () => {
  const person = await createPerson(service, { language: 'de' });
  const visitor = new Visitor();
  visitor.headers['accept-language'] = 'fr';
  const page = await visitor.get(`${service.auth}/forgotten-password`);
  assert.match(page.text, /<html lang="fr">/);
  await visitor.submit(page, { email: person.email });
  const [link = ''] = await links(person);
  assert.match((await open(link)).text, /Neues Passwort speichern/);
});
