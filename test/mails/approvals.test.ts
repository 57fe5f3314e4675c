import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type ApprovalsWorld, approvalsWorld } from '../world/approvals.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** Mails about payments that wait and that were rejected, as the sandbox's mailbox keeps them. */

interface KeptMail {
  to: string;
  subject: string;
  text: string;
  html: string;
  message_id: string;
}

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

const mailbox = async (at: TestService): Promise<KeptMail[]> => (await at.operator('GET', '/mailbox')).body.reverse();

/** What a person has got, once everything that is due now has been sent. */
async function mailsOf(email: string): Promise<KeptMail[]> {
  await settled(service);
  return (await mailbox(service)).filter(({ to }) => to === email);
}

/** Waits until the worker has looked once more, from begin to end, and has nothing left that is due. */
async function settled(at: TestService): Promise<void> {
  // The worker forgets the notice of somebody who wants no mails, and makes the mails of all others, in one transaction.
  const { client_id: clientId } = (await at.operator('POST', '/clients', { client_name: 'Nobody' })).body;
  const fields = { name: 'Nobody', email: `${randomUUID()}@example.com`, approval_mails: false };
  const made = await at.operator('POST', '/contacts', { ...fields, clients: [{ client_id: clientId }] });
  const contactId = made.body.contact_id;
  await at.query('insert into payment_notices (client_id, payment_id, contact_id) values ($1, 0, $2)', [
    clientId,
    contactId,
  ]);
  // What is written past the service is found where something else is written.
  await at.operator('PATCH', `/clients/${clientId}`, { client_name: 'Nobody else' });
  const open = `(select count(*) from payment_notices where contact_id = $1) + (select count(*) from mails where state = 'due')`;
  const due = async () => (await at.query(`select ${open} > 0 as open`, [contactId])).rows[0].open;
  await until(async () => !(await due()), { what: 'no mail is due' });
}

const advance = (seconds: number) => service.operator('PUT', '/clock', { advance_seconds: seconds });

const reject = (world: ApprovalsWorld, name: string, id: string, reason?: string) =>
  world.ask(
    world.person(name),
    'PATCH',
    `/payments/${id}`,
    reason === undefined ? undefined : { reason },
    '&action=reject',
  );

test('each approver is told, the creator is not; a digest follows after 15 minutes, of what still waits', async () => {
  const world = await approvalsWorld(service, ['ann', 'bob'], { authorisation_workflow: '4-eyes' });
  const clerk = await world.hire('clerk', ['can_manage_payments']);
  const first = await world.create('1250.50');
  const ann = world.person('ann');
  const mails = await mailsOf(ann.email);
  assert.equal(mails.length, 1);
  const mail = mails[0] as KeptMail;
  assert.equal(mail.subject, 'Please approve: 1,250.50 EUR to Müller GmbH');
  for (const part of [
    `${service.api}/app/payments/${first}?client_id=${world.clientId}`,
    `${service.api}/app/approvals`,
    'Dear ann,',
    '1 December 2099',
    'Lombard Sandbox',
  ])
    assert.ok(mail.text.includes(part), `${part} is not in ${mail.text}`);
  assert.ok(mail.html.includes(`href="${service.api}/app/payments/${first}?client_id=${world.clientId}"`), mail.html);
  assert.equal((await mailsOf(world.person('bob').email)).length, 1);
  assert.equal((await mailsOf(world.owner.email)).length, 0, 'the creator may not approve');
  assert.equal((await mailsOf(clerk.email)).length, 0, 'whoever may not approve is not told');

  const [second, third, fourth] = [await world.create(2), await world.create(3), await world.create(4)];
  assert.equal((await mailsOf(ann.email)).length, 1, 'one in 15 minutes');
  assert.equal((await world.patch(world.person('bob'), third, 'authorise')).status, 204);
  await advance(840);
  assert.equal((await mailsOf(ann.email)).length, 1);
  await advance(60);
  const [, digest, ...further] = await mailsOf(ann.email);
  assert.equal(further.length, 0);
  assert.equal(digest?.subject, '2 payments wait for your approval');
  assert.ok(digest.text.includes(second) && digest.text.includes(fourth));
  assert.ok(!digest.text.includes(third), 'it waits no longer');
  assert.ok(!digest.text.includes(first), 'it was in the first mail');
  await advance(1_000);
  assert.equal((await mailsOf(ann.email)).length, 2, 'nobody is told twice');
});

test('an approval of two levels tells nobody a second time; what was decided meanwhile sends no mail', async () => {
  const world = await approvalsWorld(service, ['ann', 'bob', 'cat'], { authorisation_workflow: '6-eyes' });
  const first = await world.create();
  await settled(service);
  await world.patch(world.person('ann'), first, 'authorise');
  const second = await world.create();
  await reject(world, 'bob', second);
  await advance(1_000);
  for (const name of ['ann', 'bob', 'cat']) assert.equal((await mailsOf(world.person(name).email)).length, 1, name);
});

test('who comes to be an approver is told of what waits already', async () => {
  const world = await approvalsWorld(service, ['ann'], { authorisation_workflow: '4-eyes' });
  const ids = [await world.create(), await world.create()];
  await settled(service);
  const dan = await world.hire('dan', ['can_manage_payments']);
  assert.equal((await mailsOf(dan.email)).length, 0);
  await service.operator('PATCH', `/contacts/${dan.id}`, { clients: [{ client_id: world.clientId }] });
  const [mail, ...further] = await mailsOf(dan.email);
  assert.equal(further.length, 0);
  for (const id of ids) assert.ok(mail?.text.includes(id), mail?.text);
});

test('the creator is told of a rejection, with the reason and who gave it; not of its own', async () => {
  const world = await approvalsWorld(service, ['ann'], { authorisation_workflow: '4-eyes' });
  const id = await world.create(75);
  const reason = 'The account is <b>not</b> theirs\u202e & "wrong"';
  assert.equal((await reject(world, 'ann', id, reason)).status, 204);
  const [mail, ...further] = await mailsOf(world.owner.email);
  assert.equal(further.length, 0);
  assert.equal(mail?.subject, 'Rejected: 75 EUR to Müller GmbH');
  assert.ok(mail.text.includes('ann has rejected a payment that you created.'), mail.text);
  assert.ok(mail.text.includes('The account is <b>not</b> theirs & "wrong"'), mail.text);
  assert.ok(mail.html.includes('&lt;b&gt;not&lt;/b&gt;'), mail.html);
  assert.ok(mail.text.includes(`${service.api}/app/payments/${id}?client_id=${world.clientId}`));
  const silent = await world.create(76);
  await reject(world, 'ann', silent);
  const [, second] = await mailsOf(world.owner.email);
  assert.match(second?.text ?? '', /Reason: +none given/);
  const cancelled = await world.create(77);
  await world.ask(world.owner, 'DELETE', `/payments/${cancelled}`);
  assert.equal((await mailsOf(world.owner.email)).length, 2, 'a cancellation is no rejection');
});

test("in the contact's language", async () => {
  const world = await approvalsWorld(service, [], { authorisation_workflow: '4-eyes' });
  const expected = [
    ['de', /^Bitte freigeben: 1\.250,50 EUR an Müller GmbH$/, 'Alle Zahlungen, die auf Sie warten'],
    ['fr', /^À approuver : 1.250,50 EUR pour Müller GmbH$/u, 'Tous les paiements qui vous attendent'],
    ['es', /^Pendiente de aprobar: 1\.?250,50 EUR a Müller GmbH$/, 'Todos los pagos que le esperan'],
  ] as const;
  for (const [language] of expected) await world.hire(language, undefined, { language });
  await world.create('1250.50');
  for (const [language, subject, label] of expected) {
    const [mail] = await mailsOf(world.person(language).email);
    assert.match(mail?.subject ?? '', subject);
    assert.ok(mail?.text.includes(label), mail?.text);
    assert.ok(mail?.html.includes(`<html lang="${language}">`));
  }
});

test('the person’s switch, and the institution’s', async (t) => {
  const world = await approvalsWorld(service, ['ann'], { authorisation_workflow: '4-eyes' });
  const ann = world.person('ann');
  const off = await service.operator('PATCH', `/contacts/${ann.id}`, { approval_mails: false });
  assert.equal(off.body.approval_mails, false);
  await world.create();
  assert.equal((await mailsOf(ann.email)).length, 0);
  await service.operator('PATCH', `/contacts/${ann.id}`, { approval_mails: true });
  assert.equal((await mailsOf(ann.email)).length, 0, 'what came meanwhile is not told later');
  await world.create();
  assert.equal((await mailsOf(ann.email)).length, 1);

  const silent = await startTestService({ LOMBARD_APPROVAL_MAILS: 'no' });
  t.after(() => silent.stop());
  const quiet = await approvalsWorld(silent, ['bob'], { authorisation_workflow: '4-eyes' });
  const id = await quiet.create();
  await reject(quiet, 'bob', id, 'no');
  await settled(silent);
  assert.deepEqual(await mailbox(silent), []);
});

test('imports tell nobody without ?notify=true', async () => {
  const world = await approvalsWorld(service, ['ann', 'bob'], { authorisation_workflow: '6-eyes' });
  const send = (query: string, ...ids: string[]) =>
    service.operator('POST', `/imports/payments${query}`, undefined, {
      raw: ids.map((payment_id) => JSON.stringify({ ...world.base, payment_id })).join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
    });
  assert.equal((await send('', 'QUIET-1', 'QUIET-2')).body.accepted, 2);
  assert.equal((await mailsOf(world.person('ann').email)).length, 0);
  assert.equal((await send('?notify=true', 'LOUD-1', 'LOUD-2')).body.accepted, 2);
  assert.equal((await world.patch(world.person('bob'), 'QUIET-1', 'authorise')).status, 204);
  const [mail, ...further] = await mailsOf(world.person('ann').email);
  assert.equal(further.length, 0);
  assert.ok(mail?.text.includes('LOUD-1') && mail.text.includes('LOUD-2'));
  assert.ok(!mail?.text.includes('QUIET'));
});

test('an import that lets somebody approve what waits tells nobody without ?notify=true', async () => {
  const world = await approvalsWorld(service, ['ann'], { authorisation_workflow: '4-eyes' });
  const id = await world.create();
  const clerk = await world.hire('clerk', ['can_manage_payments']);
  const permit = async (permission: string, query = '') => {
    const line = { contact_id: clerk.id, clients: [{ client_id: world.clientId, permissions: [permission] }] };
    const sent = await service.operator('POST', `/imports/contacts?on_conflict=update${query}`, undefined, {
      raw: JSON.stringify(line),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    assert.deepEqual([sent.body.accepted, sent.body.rejected], [1, 0], sent.text);
  };
  await permit('can_authorise_payments');
  assert.deepEqual(await mailsOf(clerk.email), []);
  await permit('can_manage_payments');
  await permit('can_authorise_payments', '&notify=true');
  const [told] = await mailsOf(clerk.email);
  assert.ok(told?.text.includes(id));
});

test('a reset of the client forgets what people were to be told', async () => {
  const world = await approvalsWorld(service, ['ann'], { authorisation_workflow: '4-eyes' });
  await world.create();
  assert.equal((await world.ask(world.owner, 'POST', '/sandbox/reset')).status, 204);
  await settled(service);
  const { rows } = await service.query('select from payment_notices where client_id = $1', [world.clientId]);
  assert.equal(rows.length, 0);
});
