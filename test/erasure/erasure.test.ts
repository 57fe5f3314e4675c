import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { PersonEraser } from '../../src/erasure/person.ts';
import { accessToken } from '../world/access-token.ts';
import { approvalsWorld } from '../world/approvals.ts';
import { pageSession } from '../world/page-session.ts';
import { call, startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';
import { PASSWORD } from '../world/visitor.ts';

/** A person is erased everywhere, and the audit trail still proves itself. */

const [NAME, FORMER] = ['Zaphod "Z" Beeblebröx', 'Zaphod Prefect'];
const PHONE = '+441632960001';
/** As the core called the person before Lombard knew them: no row of the trail has it. */
const FORGOTTEN = "Zoé O'Prefect & Sons".normalize('NFD');
const EMAIL = `zaphod.${randomUUID()}@example.com`;

let service: TestService;
let contactId: string;
let clientId: string;
let base: object;
let namesake: string;
let payment: string;

before(async () => {
  service = await startTestService();
  const world = await approvalsWorld(service, ['Other']);
  clientId = world.clientId;
  base = world.base;
  // Somebody else of the same name stays.
  namesake = (await world.hire(NAME)).id;
  contactId = (await world.hire(FORMER, undefined, { phone: PHONE, email: `former.${EMAIL}`, password: PASSWORD })).id;
  await ask(`former.${EMAIL}`);
  const renamed = await service.operator('PATCH', `/contacts/${contactId}`, { name: NAME, email: EMAIL });
  assert.equal(renamed.status, 200, renamed.text);
  await world.configure({ A: ['Other'] }, [['0', [['A']]]]);
  const token = await accessToken(service, contactId);
  await world.configure({ A: ['Other', FORMER] }, [['0', [['A']]]]);
  payment = await world.create(100, { contact_id: contactId });
  await world.create(50, { contact_id: namesake });
  const third = await world.create();
  await service.client(token, 'PATCH', `/payments/${third}?client_id=${clientId}&action=authorise`);
  for (const path of ['/payments', `/payments/${payment}`])
    assert.equal(
      (await service.client(token, 'GET', `${path}?client_id=${clientId}&note=${encodeURIComponent(NAME)}`)).status,
      200,
    );
  await leaveCopies();
  await forgetName();
});
after(() => service.stop());

/** The person asks for a new password, and gets a mail. */
async function ask(email: string): Promise<void> {
  const form = new URLSearchParams({ email }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  await call(`${service.auth}/forgotten-password`, 'POST', { raw: form, headers });
  const got = async () =>
    (await service.query("select from mailbox where lower(mail->>'to') = lower($1)", [email])).rows;
  await until(async () => (await got()).length > 0);
}

/** A payment, its audit row and a mail have a name that the retention of the trail has forgotten. */
async function forgetName(): Promise<void> {
  await service.query('update payments set ordered_by_name = $2 where payment_id = $1', [payment, FORGOTTEN]);
  await service.query(
    `insert into audit (at, actor, request_id, action, entity, entity_id, client_id, after)
     values (now(), 'operator:core', 'r', 'update', 'payment', $1, $2, $3)`,
    [payment, clientId, JSON.stringify({ ordered_by_name: FORGOTTEN })],
  );
  const shown = FORGOTTEN.normalize('NFC');
  const mail = {
    to: 'other@example.com',
    text: `Dear Other,\n\n${shown} has rejected a payment that you created.`,
    html: `<p>${shown.replace('&', '&amp;').replace("'", '&#39;')} has rejected a payment that you created.</p>`,
  };
  await service.query("insert into mailbox (sent_at, message_id, mail) values (now(), '<2>', $1)", [
    JSON.stringify(mail),
  ]);
}

/** What gateways, imports and deliveries leave. */
async function leaveCopies(): Promise<void> {
  const mail = { to: EMAIL.toUpperCase(), subject: 'Code', text: `Dear ${NAME},\nyour code` };
  await service.query("insert into mailbox (sent_at, message_id, mail) values (now(), '<1>', $1)", [
    JSON.stringify(mail),
  ]);
  await service.query('insert into text_messages (sent_at, recipient, text) values (now(), $1, $2)', [
    PHONE,
    `${NAME}: 123456`,
  ]);
  await service.query(
    `insert into imports (import_id, kind, state, lines_read, accepted, unchanged, rejected, sha256, started_at, updated_at)
     values ('IMP', 'contacts', 'done', 1, 0, 0, 1, '', now(), now())`,
  );
  await service.query("insert into import_errors values ('IMP', 1, 'already_exists', $1)", [
    `body.email: ${EMAIL} is taken`,
  ]);
  await service.query(
    `insert into statement_requests (statement_id, client_id, contact_id, email, contact_name, date_from, date_to, format, delivery, request_id,
       created_at) values (gen_random_uuid(), $1, $2, $3, $4, now(), now(), 'pdf', 'email', 'r', now())`,
    [clientId, contactId, EMAIL, NAME],
  );
  await service.query(
    `insert into refused_requests (at, listener, status, details, request_id) values (now(), 'client', 400, $1, 'r')`,
    [`body.email: "${EMAIL}" is taken`],
  );
  await service.query(
    "insert into sign_in_attempts (at, outcome, email, address, request_id) values (now(), 'ok', $1, '::1', 'r')",
    [EMAIL],
  );
  await service.query('insert into password_requests (email, at, mailed) values (lower($1), now(), true)', [EMAIL]);
  await leaveNotification('ONBOARDING_STATUS_CHANGE', { contact_name: NAME }, null);
  await leaveNotification('PAYMENT_STATUS_CHANGE', { payment_webhook_status: ['CREATED'], ordered_by: NAME }, payment);
}

/** A notification that still waits. */
async function leaveNotification(type: string, body: object, paymentId: string | null): Promise<void> {
  await service.query(
    `with e as (insert into webhook_events (client_id, type, body, payment_id, created_at) values ($1, $4::webhook_type, $2, $5, now()) returning *),
       s as (insert into subscriptions (client_id, contact_id, url, active, types, created_at, updated_at)
         values ($1, $3, 'https://receiver.example', true, array[$4]::webhook_type[], now(), now()) returning id),
       n as (insert into notifications (id, client_id, subscription_id, event_id, type, status, created_at)
         select notification_id(e.id, s.id, e.created_at), e.client_id, s.id, e.id, e.type, 'pending', e.created_at from e, s returning *)
     insert into webhook_queue (notification_id, client_id, subscription_id, event_id, created_at, due_at, attempts, round_attempts, ping)
       select id, client_id, subscription_id, event_id, created_at, '2100-01-01', 0, 0, false from n`,
    [clientId, JSON.stringify(body), contactId, type, paymentId],
  );
}

/** The tables in which a text stands, with how many rows. */
async function placesOf(text: string): Promise<Record<string, number>> {
  const { rows: tables } = await service.query(
    `select quote_ident(c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and not c.relispartition and n.nspname = 'public' order by 1`,
  );
  const found: Record<string, number> = {};
  for (const { name } of tables) {
    const { rows } = await service.query(
      `select count(*)::int as rows from ${name} t where strpos(lower(t::text), lower($1)) > 0`,
      [text],
    );
    if (rows[0].rows > 0) found[name] = rows[0].rows;
  }
  return found;
}

describe('erasing a contact', () => {
  let erasure: string;

  test('only once it is disabled, and with the scope', async () => {
    const early = await service.operator('POST', `/contacts/${contactId}/erase`);
    assert.deepEqual([early.status, early.body.code], [409, 'contact_not_disabled']);
    assert.equal((await service.operator('POST', '/contacts/CON999999/erase')).body.code, 'contact_not_found');
    assert.equal((await service.operator('GET', `/erasures/${randomUUID()}`)).body.code, 'erasure_not_found');
    const { body } = await service.operator('POST', '/operator-tokens', {
      name: randomUUID(),
      scopes: ['identity', 'read'],
    });
    const refused = await service.operator('POST', `/contacts/${contactId}/erase`, undefined, { token: body.token });
    assert.deepEqual([refused.status, refused.body.details], [403, 'token: needs the scope system']);
  });

  test('a second time gives the same erasure, which ends', async () => {
    await service.operator('PATCH', `/contacts/${contactId}`, { status: 'disabled' });
    const begun = await service.operator('POST', `/contacts/${contactId}/erase`);
    assert.equal(begun.status, 202, begun.text);
    erasure = begun.body.erasure_id;
    assert.deepEqual((await service.operator('POST', `/contacts/${contactId}/erase`)).body, { erasure_id: erasure });
    const done = await until(async () => {
      const { body } = await service.operator('GET', `/erasures/${erasure}`);
      return body.state === 'done' && body;
    });
    assert.ok(done.rows > 10 && done.ended_at >= done.started_at);
    assert.deepEqual((await service.operator('POST', `/contacts/${contactId}/erase`)).body, { erasure_id: erasure });
  });

  test('nothing holds the address and the number any more, in any table', async () => {
    for (const text of [EMAIL, `former.${EMAIL}`, PHONE, encodeURIComponent(EMAIL)])
      assert.deepEqual(await placesOf(text), {}, text);
    for (const text of [FORMER, FORGOTTEN, FORGOTTEN.normalize('NFC'), 'O&#39;Prefect'])
      assert.deepEqual(await placesOf(text), {}, text);
  });

  test('the name stays where it is somebody else’s only', async () => {
    const { body: other } = await service.operator('GET', `/contacts/${namesake}`);
    assert.equal(other.name, NAME);
    const { rows } = await service.query(
      'select contact_id, ordered_by_name from payments where client_id = $1 order by id',
      [clientId],
    );
    for (const row of rows)
      assert.equal(row.ordered_by_name === 'erased', row.contact_id === contactId, JSON.stringify(row));
    const { rows: trail } = await service.query(
      `select entity_id, entity, client_id, after::text from audit where strpos(after::text, $1) > 0 or strpos(before::text, $1) > 0`,
      [JSON.stringify(NAME).slice(1, -1)],
    );
    assert.ok(trail.length > 0);
    assert.ok(
      trail.every((row) => row.entity_id === namesake || row.after?.includes(namesake)),
      JSON.stringify(trail),
    );
  });

  test('what stands there instead', async () => {
    const { body: contact } = await service.operator('GET', `/contacts/${contactId}`);
    assert.deepEqual([contact.name, contact.email, contact.phone], ['erased', `erased+${contactId}`, null]);
    const { rows: approvals } = await service.query(
      'select a.value as decision from payment_approvals p, json_array_elements(p.authorisations) a where p.client_id = $1',
      [clientId],
    );
    for (const { decision } of approvals)
      if (decision.contact_id === contactId) assert.equal(decision.contact_name, 'erased');
    const { body: trail } = await service.operator('GET', `/audit?entity=contact&entity_id=${contactId}&limit=100`);
    assert.equal(trail[0].after.name, 'erased');
    assert.equal(trail[0].after.email, `erased+${contactId}`);
    assert.equal(trail[0].after.phone, null);
    assert.ok(trail.some((row: { actor: string }) => row.actor === 'service:erasure'));
    const { rows: told } = await service.query(
      `select n.status, e.body from notifications n join webhook_events e on e.client_id = n.client_id and e.id = n.event_id
       where n.client_id = $1 and n.type = 'ONBOARDING_STATUS_CHANGE'`,
      [clientId],
    );
    assert.deepEqual(told, [{ status: 'cancelled', body: '' }]);
  });

  test('the pages of the client and of the payment go on without it', async () => {
    const pages = await pageSession(service, namesake);
    for (const path of ['home', `payments/${payment}`]) {
      const { status, body } = await pages.call('GET', `/app/data/${path}?client_id=${clientId}`);
      assert.equal(status, 200, JSON.stringify(body));
      assert.doesNotMatch(JSON.stringify(body), /"what":null/);
    }
  });

  test('what was cancelled is not sent again: nothing is left of it', async () => {
    const { rows } = await service.query("select id, subscription_id from notifications where status = 'cancelled'");
    const [{ id, subscription_id: subscription }] = rows;
    const again = await service.operator('POST', `/notifications/${id}/redeliver`);
    assert.deepEqual([again.status, again.body.code], [409, 'transition_not_allowed']);
    assert.match(again.body.details, /^path\.id: names a notification whose content was erased/);
    const since = '2020-01-01T00:00:00Z';
    const replayed = await service.operator('POST', `/subscriptions/${subscription}/replay`, { since });
    assert.deepEqual([replayed.status, replayed.body.count], [202, 0], replayed.text);
    assert.equal((await service.operator('GET', `/notifications/${id}`)).body.status, 'cancelled');
  });

  test('a contact that got a name again is erased again', async () => {
    const again = `again.${EMAIL}`;
    await service.operator('PATCH', `/contacts/${contactId}`, { name: 'Ford', email: again });
    assert.equal((await service.operator('POST', `/contacts/${contactId}/erase`)).body.erasure_id, erasure);
    await until(async () => (await service.operator('GET', `/erasures/${erasure}`)).body.state === 'done');
    assert.deepEqual(await placesOf(again), {});
  });

  test('who was renamed twice leaves no name and no address in mailbox, trail and feed', async () => {
    const renamed = randomUUID();
    const people = ['Wilhelmina Quastenberg', "Mina O'Quastenberg & Söhne", 'Minna Quast'].map((name, number) => ({
      name,
      email: `Former.${number}.${renamed}@example.com`,
    }));
    const [first, ...later] = people as [(typeof people)[0], ...typeof people];
    const made = await service.operator('POST', '/contacts', {
      ...first,
      password: PASSWORD,
      clients: [{ client_id: clientId }],
    });
    assert.equal(made.status, 201, made.text);
    const id: string = made.body.contact_id;
    const token = await accessToken(service, id);
    const use = async ({ name, email }: (typeof people)[0]) => {
      await service.operator('PATCH', `/contacts/${id}`, { name, email, status: 'enabled' });
      await ask(email);
      const created = await service.operator('POST', '/payments', { ...base, contact_id: id });
      assert.equal(created.status, 201, created.text);
      await service.client(token, 'GET', `/payments?client_id=${clientId}&note=${encodeURIComponent(name)}`);
    };
    for (const person of [first, ...later]) await use(person);
    const shown = async () => {
      const places = ['/mailbox', '/audit?limit=1000&after=0', '/changes?limit=1000', '/requests', '/payments'];
      return (await Promise.all(places.map((path) => service.operator('GET', path))))
        .map(({ text }) => text)
        .join('\n');
    };
    const before = await shown();
    for (const { name, email } of people) assert.ok(before.includes(`Dear ${name},`) && before.includes(email), name);
    await service.operator('PATCH', `/contacts/${id}`, { status: 'disabled' });
    const begun = await service.operator('POST', `/contacts/${id}/erase`);
    await until(
      async () => (await service.operator('GET', `/erasures/${begun.body.erasure_id}`)).body.state === 'done',
    );
    const after = (await shown()).toLowerCase();
    for (const text of ['Quast', encodeURIComponent("O'Quast"), `.${renamed}@`])
      assert.equal(after.includes(text.toLowerCase()), false, text);
    for (const { name, email } of people)
      for (const text of [name, email]) {
        // Bodies that nobody waits for end by their own retention.
        const { webhook_events: _, ...places } = await placesOf(text);
        assert.deepEqual(places, {}, text);
      }
  });

  test('a name of two characters goes from free texts too', async () => {
    const name = '李明';
    const contact = { name, email: `${randomUUID()}@example.com`, clients: [{ client_id: clientId }] };
    const id: string = (await service.operator('POST', '/contacts', contact)).body.contact_id;
    await service.operator('POST', '/payments', { ...base, contact_id: id });
    const mail = { to: 'other@example.com', text: `${name}拒绝了您的付款。` };
    await service.query("insert into mailbox (sent_at, message_id, mail) values (now(), '<3>', $1)", [
      JSON.stringify(mail),
    ]);
    await service.query("insert into import_errors values ('IMP', 2, 'invalid_body', $1)", [`body.name: ${name}`]);
    await service.operator('PATCH', `/contacts/${id}`, { status: 'disabled' });
    assert.ok(((await placesOf(name)).payments ?? 0) > 0);
    const begun = await service.operator('POST', `/contacts/${id}/erase`);
    await until(
      async () => (await service.operator('GET', `/erasures/${begun.body.erasure_id}`)).body.state === 'done',
    );
    const { webhook_events: _, ...places } = await placesOf(name);
    assert.deepEqual(places, {});
  });

  test('the contact stays disabled, whatever its name is, and in an import too', async () => {
    for (const patch of [
      { status: 'enabled' },
      { status: 'enabled', name: 'Trillian', email: 'trillian@example.com' },
    ]) {
      const refused = await service.operator('PATCH', `/contacts/${contactId}`, patch);
      assert.deepEqual([refused.status, refused.body.code], [409, 'transition_not_allowed'], refused.text);
      assert.match(refused.body.details, /^body\.status: /);
      const line = JSON.stringify({ contact_id: contactId, ...patch });
      const imported = await service.operator('POST', '/imports/contacts?on_conflict=update', undefined, {
        raw: line,
        headers: { 'content-type': 'application/x-ndjson' },
      });
      assert.deepEqual([imported.body.accepted, imported.body.errors[0].code], [0, 'transition_not_allowed']);
    }
    const { body } = await service.operator('GET', `/contacts/${contactId}`);
    assert.deepEqual([body.status, body.name], ['disabled', 'erased']);
  });

  test('the trail proves itself, and a row that somebody else replaced does not', async () => {
    const proof = (await service.operator('GET', '/audit/verify')).body;
    assert.equal(proof.fault, null);
    const { rows } = await service.query('select audit_id from audit_erasures order by audit_id');
    assert.ok(rows.length > 2);
    await service.query('alter table audit disable trigger all');
    const [first, second] = rows.map(({ audit_id }) => Number(audit_id));
    const faultOf = async () => (await service.operator('GET', '/audit/verify')).body.fault;
    // An erased row that is changed once more, and one whose erasure is another row's.
    await service.query(`update audit set after = '{"name":"nobody"}' where id = $1`, [first]);
    assert.deepEqual([(await faultOf())?.id], [first]);
    const { rows: unerased } = await service.query(
      'select id from audit where id < $1 and id not in (select audit_id from audit_erasures) order by id limit 1',
      [second],
    );
    const victim = Number(unerased[0].id);
    await service.query(`update audit set after = '{}' where id = $1`, [victim]);
    await service.query(
      'insert into audit_erasures select $1, erasure_id, mac from audit_erasures where audit_id = $2',
      [victim, second],
    );
    assert.equal((await faultOf())?.id, Math.min(first as number, victim));
  });
});

test('a mail without the person, however its name is written there', () => {
  const eraser = new PersonEraser({
    contactId: 'CON1',
    names: ['Bo', 'Ann "A" Gone'],
    emails: ['ann@x.example'],
    phones: [],
  });
  const mail = (address: string, text: string) =>
    JSON.parse(eraser.mail(JSON.stringify({ to: address, text, html: '<p>Ann &quot;A&quot; Gone</p>' })));
  assert.deepEqual(mail('Ann@X.example', 'Dear Bo,\nAnn "A" Gone'), {
    to: 'erased+CON1',
    text: 'Dear erased,\nerased',
    html: '<p>erased</p>',
  });
  assert.equal(mail('other@x.example', 'Bo has rejected it').text, 'erased has rejected it');
});

test('a person in records and in texts', () => {
  const eraser = new PersonEraser({ contactId: 'CON1', names: ['Ann'], emails: ['ann@x.example'], phones: ['+44123'] });
  const json = (value: unknown, own = false) => JSON.parse(eraser.json(JSON.stringify(value), own));
  assert.deepEqual(json({ name: 'Ann', phone: '+44123', email: 'ann@x.example' }, true), {
    name: 'erased',
    phone: null,
    email: 'erased+CON1',
  });
  assert.deepEqual(json({ name: 'Ann' }), { name: 'Ann' });
  assert.deepEqual(json({ contact_id: 'CON2', contact_name: 'Ann' }), { contact_id: 'CON2', contact_name: 'Ann' });
  assert.deepEqual(json([{ contact_id: 'CON1', contact_name: 'Ann', level: 1 }]), [
    { contact_id: 'CON1', contact_name: 'erased', level: 1 },
  ]);
  assert.equal(eraser.json('{"a":1.10,"b":12345678901234567890}', false), '{"a":1.10,"b":12345678901234567890}');
  assert.equal(eraser.json('{"a":1.10,"note":"ANN@x.example"}', false), '{"a":1.10,"note":"erased+CON1"}');
  assert.equal(
    eraser.text('joann@x.example, Jo-Ann, mary.ann@x.example'),
    'joann@x.example, Jo-Ann, mary.ann@x.example',
  );
  assert.equal(eraser.text('Ann, Annual, ann%40x.example'), 'erased, Annual, erased+CON1');
});
