import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { takeLock } from '../../src/approvals/lock.ts';
import type { Transaction } from '../../src/database/database.ts';
import { connectTo, OWN_LOCKS, poolOfClient, sessionsWaiting } from '../world/cells.ts';
import { FX_OPEN, moveClock } from '../world/exchange.ts';
import { filesOf, NEW, ROW } from '../world/files.ts';
import { pain001 } from '../world/iso20022.ts';
import { type OrdersWorld, ordersWorld } from '../world/orders.ts';
import { type Answer, call, startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** One code of its maker authorises all payments of a file (instructions, second page, 8). */

let service: TestService;
before(async () => {
  service = await startTestService();
  await moveClock(service, FX_OPEN);
  await service.operator('PUT', '/exchange-rates', { base_currency: 'GBP', rates: { EUR: 1.185 } });
});
after(() => service.stop());

interface Given {
  contact_id: string;
  status: number;
  level: number;
}

const refusal = ({ status, body }: Answer) => [status, body?.code];
const ORDERING = ['can_create_payments', 'can_manage_multipayments', 'can_manage_beneficiaries'];
const now = () => service.service.context.clock.now().getTime();
const totp = (secret: string) => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: now() });
const advance = (seconds: number) => service.operator('PUT', '/clock', { advance_seconds: seconds });

/** A client that asks for codes, with a maker of files who has an authenticator. */
async function codedWorld(client: object = {}) {
  const world = await ordersWorld(service, { client: { approval_step_up: true, ...client } });
  const withAuthenticator = async () => {
    const clerk = await world.clerk(ORDERING);
    const { body } = await service.operator('PATCH', `/contacts/${clerk.id}`, { second_factor: 'totp' });
    return { ...clerk, secret: body.totp.secret as string };
  };
  const ask = (token: string, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    service.client(token, method, `${path}?client_id=${world.clientId}`, {
      headers,
      ...(body === undefined ? {} : { body }),
    });
  return {
    ...{
      world,
      ask,
      files: filesOf(service, world),
      maker: await withAuthenticator(),
      other: await withAuthenticator(),
    },
    challenge: (token: string, id: string, headers = {}) =>
      ask(token, 'POST', `/mass-payments/${id}/challenges`, undefined, headers),
    confirm: (token: string, id: string, body?: unknown, headers = {}) =>
      ask(token, 'POST', `/mass-payments/${id}/confirm`, body, headers),
  };
}

const statusesOf = async (world: OrdersWorld, id: string) =>
  (await service.operator('GET', `/payments?client_id=${world.clientId}&mass_payment_id=${id}`)).body.map(
    ({ status }: { status: string }) => status,
  );

test('who sends a file needs a second factor, and is told before anything else', async () => {
  const { world, files, ask, maker } = await codedWorld();
  const { token } = await world.clerk(ORDERING);
  const sent = await ask(token, 'POST', '/mass-payments', { typo: 1 }, { 'idempotency-key': '' });
  assert.deepEqual(refusal(sent), [403, 'second_factor_missing'], sent.text);
  const csv = await call(`${service.api}/mass-payments?client_id=${world.clientId}`, 'POST', {
    ...{ token, raw: 'x', headers: { 'content-type': 'text/csv' } },
  });
  assert.deepEqual(refusal(csv), [403, 'second_factor_missing'], csv.text);
  const xml = await call(`${service.api}/payment-initiations?client_id=${world.clientId}`, 'POST', {
    ...{ token, raw: 'x', headers: { 'content-type': 'application/xml' } },
  });
  assert.deepEqual(refusal(xml), [403, 'second_factor_missing'], xml.text);
  // A second factor that is taken away while the file waits.
  const { mass_payment_id: held } = await files.judged(files.file([files.row(1)]), maker.token);
  await service.operator('PATCH', `/contacts/${maker.id}`, { second_factor: 'none' });
  const proof = { challenge_id: 'x', verification_code: totp(maker.secret) };
  for (const answer of [
    await ask(maker.token, 'POST', `/mass-payments/${held}/challenges`),
    await ask(maker.token, 'POST', `/mass-payments/${held}/confirm`),
    await ask(maker.token, 'POST', `/mass-payments/${held}/confirm`, proof),
  ])
    assert.deepEqual(refusal(answer), [403, 'second_factor_missing'], answer.text);
});

test('one code confirms a file that would go on by itself, and authorises all of its payments', async () => {
  const { world, files, maker, other, challenge, confirm } = await codedWorld();
  const rows = [files.row(10), files.row(2.5), { ...ROW, payment_amount: 1, ...NEW }];
  const held = await files.judged(files.file(rows, { auto_commit: true }), maker.token);
  const { mass_payment_id: id } = held;
  assert.equal(held.mass_payment_status, 'Processed');
  assert.deepEqual(refusal(await challenge(other.token, id)), [403, 'permission_denied'], 'not its maker');
  assert.deepEqual(refusal(await confirm(other.token, id)), [403, 'permission_denied']);
  assert.deepEqual(refusal(await challenge(maker.token, randomUUID())), [404, 'mass_payment_not_found']);
  assert.deepEqual(refusal(await confirm(maker.token, id)), [403, 'step_up_required']);
  const key = { 'idempotency-key': randomUUID() };
  const opened = await challenge(maker.token, id, key);
  assert.equal(opened.status, 201, opened.text);
  assert.deepEqual(Object.keys(opened.body), ['challenge_id', 'second_factor', 'expires_at']);
  assert.equal(opened.body.second_factor, 'totp');
  assert.equal((await challenge(maker.token, id, key)).text, opened.text);
  const proof = { challenge_id: opened.body.challenge_id, verification_code: totp(maker.secret) };
  const wrong = { ...proof, verification_code: proof.verification_code === '000000' ? '000001' : '000000' };
  assert.deepEqual(refusal(await confirm(maker.token, id, wrong)), [403, 'step_up_failed']);
  assert.deepEqual(refusal(await confirm(maker.token, id, { ...proof, challenge_id: 'unknown' })), [
    403,
    'challenge_expired',
  ]);
  const again = await files.judged(files.file([files.row(10)]), maker.token);
  assert.deepEqual(refusal(await confirm(maker.token, again.mass_payment_id, proof)), [403, 'challenge_expired']);
  assert.equal((await files.get(id)).mass_payment_status, 'Processed');
  const once = { 'idempotency-key': randomUUID() };
  const both = await Promise.all([confirm(maker.token, id, proof, once), confirm(maker.token, id, proof)]);
  assert.deepEqual(both.map(({ status }) => status).filter((status) => status === 202).length, 1, both[1].text);
  const made = await files.reaches(id, 'Created', 'Failed');
  assert.deepEqual([made.mass_payment_status, made.payments_summary.payments_created], ['Created', 3]);
  assert.deepEqual(
    await statusesOf(world, id),
    Array.from({ length: 3 }, () => 'Validating beneficiary information'),
  );
  const shown = await service.client(maker.token, 'GET', `/payments?client_id=${world.clientId}&mass_payment_id=${id}`);
  for (const { authorised_by, authorised_date, approvals_workflow: approvals } of shown.body) {
    assert.deepEqual([authorised_by, authorised_date !== null], [maker.id, true]);
    const given = approvals.authorisations.map(({ contact_id, status, level }: Given) => ({
      contact_id,
      status,
      level,
    }));
    assert.deepEqual(given, [{ contact_id: maker.id, status: 1, level: 1 }]);
    assert.deepEqual([approvals.n_eyes_plus_status, approvals.minimum_remaining_authorisations], ['Approved', 0]);
  }
  if (both[0].status === 202)
    assert.equal((await confirm(maker.token, id, proof, once)).text, both[0].text, 'a replay');
  assert.deepEqual(refusal(await confirm(maker.token, id, proof)), [409, 'transition_not_allowed']);
  assert.deepEqual(refusal(await challenge(maker.token, id)), [409, 'transition_not_allowed']);
});

test('a confirmation that is repeated while the first is under way is answered as the first', async (t) => {
  const { world, files, maker, challenge, confirm } = await codedWorld();
  const { mass_payment_id: id } = await files.judged(files.file([files.row(10)]), maker.token);
  const { challenge_id } = (await challenge(maker.token, id)).body;
  const proof = { challenge_id, verification_code: totp(maker.secret) };
  const key = { 'idempotency-key': randomUUID() };
  const holder = await connectTo(service, world.clientId);
  t.after(() => holder.end());
  await holder.query('begin');
  await holder.query('select from mass_payments where mass_payment_id = $1 for update', [id]);
  // The first one has used the code, and waits for the file. The second one waits for the code.
  const both = [];
  for (const waiting of [1, 2]) {
    both.push(confirm(maker.token, id, proof, key));
    await until(async () => (await sessionsWaiting(service)) >= waiting);
  }
  await holder.query('rollback');
  const [first, second] = await Promise.all(both);
  assert.equal(first?.status, 202, first?.text);
  assert.deepEqual([second?.status, second?.text], [202, first?.text]);
});

test('others approve as ever: the code is that of the maker alone', async () => {
  const client = { payment_approvals_enabled: true, authorisation_workflow: '4-eyes' };
  const { world, files, maker, challenge, confirm } = await codedWorld(client);
  const { mass_payment_id: id } = await files.judged(files.file([files.row(10)]), maker.token);
  const { challenge_id } = (await challenge(maker.token, id)).body;
  assert.equal((await confirm(maker.token, id, { challenge_id, verification_code: totp(maker.secret) })).status, 202);
  await files.reaches(id, 'Created');
  assert.deepEqual(await statusesOf(world, id), ['Payment pending of authorization']);
  const shown = await service.client(maker.token, 'GET', `/payments?client_id=${world.clientId}&mass_payment_id=${id}`);
  const [{ authorised_by, approvals_workflow: approvals }] = shown.body;
  assert.deepEqual(
    [authorised_by, approvals.authorisations, approvals.minimum_remaining_authorisations],
    [null, [], 1],
  );
});

test('a text message has the number and the sums; a code ends with what it stands for', async () => {
  const { world, files, challenge, confirm } = await codedWorld();
  const phone = '+44 20 7946 0991';
  const { id: contact, token } = await world.clerk(ORDERING, { second_factor: 'sms', phone });
  assert.ok(contact);
  const rows = [files.row(10), files.row(2.5), files.row(7, { payment_amount: 'x' })];
  const { mass_payment_id: id } = await files.judged(files.file(rows), token);
  const open = async () => {
    const opened = await challenge(token, id);
    assert.equal(opened.status, 201, opened.text);
    const { body: texts } = await service.operator('GET', '/text-messages');
    const { text } = texts.find((each: { to: string }) => each.to === phone);
    const code = /\b(\d{6})\b/.exec(text)?.[1] as string;
    return { text, proof: { challenge_id: opened.body.challenge_id, verification_code: code } };
  };
  const { text, proof } = await open();
  assert.match(text, /2 payments, EUR 12\.50, to DE89370400440532013000/);
  assert.deepEqual(refusal(await challenge(token, id)), [429, 'rate_limited']);
  await service.operator('PATCH', `/beneficiaries/${world.beneficiaryId}`, { iban: 'DE02120300000000202051' });
  assert.deepEqual(refusal(await confirm(token, id, proof)), [403, 'challenge_expired'], 'the account has changed');
  await advance(31);
  const late = await open();
  assert.match(late.text, /DE02120300000000202051/);
  await advance(301);
  assert.deepEqual(refusal(await confirm(token, id, late.proof)), [403, 'challenge_expired'], 'it is over');
  const guessed = await open();
  const code = guessed.proof.verification_code;
  for (let n = 0; n < 5; n += 1) {
    const wrong = String((Number(code) + n + 1) % 1_000_000).padStart(6, '0');
    assert.deepEqual(refusal(await confirm(token, id, { ...guessed.proof, verification_code: wrong })), [
      403,
      'step_up_failed',
    ]);
  }
  assert.deepEqual(refusal(await confirm(token, id, guessed.proof)), [403, 'challenge_expired'], 'five tries');
  await advance(31);
  const last = await open();
  assert.equal((await confirm(token, id, last.proof)).status, 202);
  const made = await files.reaches(id, 'Created', 'Failed');
  assert.deepEqual(made.payments_summary.payments_created, 2);
});

test('a pain.001 waits for the code of its maker too', async () => {
  const { world, files, maker, challenge, confirm } = await codedWorld();
  const blocks = [{ debtor: `<Id><Othr><Id>${world.account}</Id></Othr></Id>`, day: '2026-12-01', transfers: [{}] }];
  const sent = await call(`${service.api}/payment-initiations?client_id=${world.clientId}`, 'POST', {
    ...{ token: maker.token, raw: pain001({ messageId: 'CODED', blocks }) },
    headers: { 'content-type': 'application/xml' },
  });
  assert.equal(sent.status, 202, sent.text);
  const file = await until(async () => {
    const { body } = await world.ask('GET', '/mass-payments', undefined, '&mass_payment_status=Processed');
    return body[0];
  });
  const { mass_payment_id: id } = file;
  const { challenge_id } = (await challenge(maker.token, id)).body;
  assert.equal((await confirm(maker.token, id, { challenge_id, verification_code: totp(maker.secret) })).status, 202);
  const made = await files.reaches(id, 'Created', 'Failed');
  assert.deepEqual([made.mass_payment_status, made.payments_summary.payments_created], ['Created', 1]);
  assert.deepEqual(await statusesOf(world, id), ['Validating beneficiary information']);
});

test('who confirms waits for the lock of the client before the file is locked, as who works on it does', async () => {
  const { world, files, maker, challenge, confirm } = await codedWorld();
  const { mass_payment_id: id } = await files.judged(files.file([files.row(10)]), maker.token);
  const { body: opened } = await challenge(maker.token, id);
  const proof = { challenge_id: opened.challenge_id, verification_code: totp(maker.secret) };
  const holder = await (await poolOfClient(service.service.context.pool, world.clientId)).connect();
  try {
    await holder.query('begin');
    await takeLock(holder as Transaction, world.clientId);
    const confirming = confirm(maker.token, id, proof);
    await until(
      async () =>
        (
          await service.query(
            `select from pg_locks where locktype = 'advisory' and mode = 'ShareLock' and not granted and ${OWN_LOCKS}`,
          )
        ).rowCount,
    );
    await holder.query('select from mass_payments where mass_payment_id = $1 for update nowait', [id]);
    await holder.query('rollback');
    assert.equal((await confirming).status, 202);
  } finally {
    holder.release();
  }
  await files.reaches(id, 'Created');
});
