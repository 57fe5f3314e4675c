import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { published } from '../world/change-feed.ts';
import { createWorld } from '../world/client.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** What clients order of beneficiaries (instructions, 4), over HTTP. */

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service?.stop());

const GERMAN = {
  name: 'Müller GmbH',
  country_code: 'DE',
  bank_country_code: 'DE',
  bank_currency_code: 'EUR',
  iban: 'DE89370400440532013000',
};
const AMERICAN = {
  name: 'Acme Inc',
  ...{ country_code: 'US', bank_country_code: 'US', bank_currency_code: 'USD' },
  ...{ account_number: '123456', bank_identifier: '021000021', address_line_1: '1 Road', city: 'Dallas' },
  ...{ state_region: 'TX', post_code: '75001' },
};

type Body = Record<string, unknown>;
async function createParty(name = 'Payers') {
  const world = await createWorld(service, name);
  const password = 'correct horse battery staple';
  const orderer = await world.hire(`Orderer of ${name}`, { password }, ['can_manage_beneficiaries']);
  const token = await service.signIn(orderer.email, password);
  const call = (
    method: string,
    path: string,
    body?: Body,
    options: { headers?: Record<string, string>; query?: string } = {},
  ) =>
    service.client(token, method, `/beneficiaries${path}?client_id=${world.clientId}${options.query ?? ''}`, {
      ...(body && { body }),
      ...(options.headers && { headers: options.headers }),
    });
  const create = async (fields: Body = {}) => {
    const made = await call('POST', '', {
      ...(fields.bank_country_code ? {} : GERMAN),
      name: `Payee ${randomUUID()}`,
      ...fields,
    });
    assert.equal(made.status, 201, made.text);
    return made.body;
  };
  return { ...world, token, call, create, orderer };
}
type Party = Awaited<ReturnType<typeof createParty>>;
const institution = (id: string, patch: Body) => service.operator('PATCH', `/beneficiaries/${id}`, patch);
const versionOf = async (id: string) =>
  Number(JSON.parse((await service.operator('GET', `/beneficiaries/${id}`)).headers.get('etag') ?? '""'));
/** What the feed has of a beneficiary. */
const changesOf = async (party: Party, id: string) => {
  await published(service);
  const { body } = await service.operator(
    'GET',
    `/changes?entities=beneficiary&client_id=${party.clientId}&limit=1000`,
  );
  return body.changes.filter((each: { entity_id: string }) => each.entity_id === id);
};
const eventsOf = async (party: Party) =>
  (
    await service.query(
      "select body from webhook_events where client_id = $1 and type = 'BENEFICIARY_STATUS_CHANGE' order by id",
      [party.clientId],
    )
  ).rows.map(({ body }) => JSON.parse(body).data);

describe('creation', () => {
  test('answers the beneficiary, which the operator, the list and the feed have too', async () => {
    const party = await createParty();
    const made = await party.call('POST', '', {
      ...AMERICAN,
      name: '  Acme   Inc ',
      account_number: '12 34-56',
      swift_code: 'chasus33',
      email_notification: true,
      email_addresses: ['ap@acme.example'],
      bank_name: null,
    });
    assert.equal(made.status, 201, made.text);
    const {
      beneficiary_id: id,
      created,
      bank_accounts: [account],
      ...rest
    } = made.body;
    assert.match(created, /^\d{4}-\d\d-\d\d$/);
    assert.equal(typeof account.account_id, 'number');
    assert.deepEqual(rest, {
      ...{ name: 'Acme Inc', country_code: 'US', email_notification: true, email_addresses: ['ap@acme.example'] },
      ...{ address_line_1: '1 Road', city: 'Dallas', state_region: 'TX', post_code: '75001' },
      ...{ beneficiary_reference: null, reference_information: null, active: true, aml_status: 'Pending Review' },
    });
    assert.deepEqual(account, {
      ...{
        account_id: account.account_id,
        bank_country_code: 'US',
        bank_currency_code: 'USD',
        account_number: '123456',
      },
      ...{ iban: null, bank_identifier: '021000021', swift_code: 'CHASUS33', correspondent_account: null },
      ...{ correspondent_swift_code: null, bank_name: null, bank_address_line_1: null, purpose_of_payment: null },
      reason_for_trade: null,
    });
    assert.match(made.headers.get('location') ?? '', new RegExp(`/beneficiaries/${id}\\?client_id=`));
    assert.deepEqual((await party.call('GET', `/${id}`)).body, made.body);
    assert.deepEqual((await party.call('GET', '', undefined, { query: '&name=ACME inc' })).body, [made.body]);
    const record = (await service.operator('GET', `/beneficiaries/${id}`)).body;
    assert.deepEqual(
      [record.source, record.beneficiary_verified, record.beneficiary_completed, record.account_id, record.created],
      ['client', false, true, account.account_id, created],
    );
    const [change] = await changesOf(party, id);
    const actor = `contact:${party.orderer.contactId}`;
    assert.deepEqual([change.actor, change.action, change.version, change.data], [actor, 'create', 1, record]);
    assert.deepEqual(await eventsOf(party), [[made.body]]);
  });

  test('is refused with all faults of the body, those of the schema among them, and no bank detail', async () => {
    const party = await createParty();
    const refused = await party.call('POST', '', {
      ...{ country_code: 'UK', bank_country_code: 'US', bank_currency_code: 'USD', nme: 'x', city: 7 },
      ...{ account_number: 'SECRET123', bank_identifier: '021000022', post_code: '\u200b1', email_notification: true },
    });
    assert.equal(refused.status, 400, refused.text);
    const { errors, ...first } = refused.body;
    assert.deepEqual(
      errors.map((each: { code: string; details: string; request_index: null }) => [
        each.code,
        each.details.split(':')[0],
        each.request_index,
      ]),
      [
        ['required', 'body.name', null],
        ['invalid_country', 'body.country_code', null],
        ['invalid_account_number', 'body.account_number', null],
        ['invalid_aba', 'body.bank_identifier', null],
        ['required', 'body.address_line_1', null],
        ['invalid_format', 'body.city', null],
        ['required', 'body.state_region', null],
        ['invalid_format', 'body.post_code', null],
        ['required', 'body.email_addresses', null],
        ['unknown_field', 'body.nme', null],
      ],
    );
    assert.deepEqual([first.code, first.details], ['invalid_body', 'body.name: is required']);
    assert.doesNotMatch(refused.text, /SECRET123|021000022/);
    assert.equal(
      (await party.call('POST', '', { ...GERMAN, bank_currency_code: 'EUX' })).body.errors[0].code,
      'invalid_currency',
    );
    const texts = [
      { name: 'a\u0007' },
      { name: ' ' },
      { name: 'x'.repeat(141) },
      { city: 'x'.repeat(36) },
      { city: 'a\u2028b' },
    ];
    for (const fields of texts)
      assert.equal((await party.call('POST', '', { ...GERMAN, ...fields })).body.errors?.[0].code, 'invalid_format');
  });

  test('with validate_only keeps nothing and takes no key', async () => {
    const party = await createParty();
    const headers = { 'idempotency-key': randomUUID() };
    const order = { ...GERMAN, name: 'Meier' };
    const tried = await party.call('POST', '', order, { query: '&validate_only=true', headers });
    assert.equal(tried.status, 200, tried.text);
    const {
      beneficiary_id: id,
      created,
      bank_accounts: [account],
      aml_status: status,
    } = tried.body;
    assert.deepEqual([id, created, account.account_id, status], [null, null, null, 'Pending Review']);
    const none = await party.call('GET', '', undefined, { query: '&name=MEIER&iban=de89%203704-00440532013000' });
    assert.deepEqual([none.body, none.headers.get('x-total-count')], [[], '0']);
    const made = await party.call('POST', '', order, { headers });
    assert.equal(made.status, 201, made.text);
    const again = await party.call('POST', '', order, { headers });
    assert.deepEqual([again.status, again.headers.get('idempotency-replayed'), again.body], [201, 'true', made.body]);
    const other = await party.call('POST', '', { ...order, name: 'Other' }, { headers });
    assert.deepEqual([other.status, other.body.code], [409, 'idempotency_conflict']);
    assert.equal(
      (await party.call('POST', '', order, { query: '&validate_only=true' })).body.code,
      'beneficiary_duplicate',
    );
    assert.equal((await party.call('POST', '', order, { query: '&validate_only=yes' })).body.code, 'invalid_parameter');
    const wrong = { query: '&validate_only=true', headers: { 'idempotency-key': 'k'.repeat(256) } };
    const refused = await party.call('POST', '', { ...order, name: 'Other' }, wrong);
    assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_parameter']);
    assert.equal((await eventsOf(party)).length, 1);
  });

  test('needs the permission, and a stranger finds nothing', async () => {
    const party = await createParty();
    const stranger = await createParty('Strangers');
    const { beneficiary_id: id } = await party.create();
    const reader = await service.signIn(party.email, party.password);
    for (const [method, path] of [
      ['POST', ''],
      ['PATCH', `/${id}`],
      ['DELETE', `/${id}`],
    ] as const) {
      const body = method === 'DELETE' ? undefined : { wrong: true };
      const answer = await service.client(reader, method, `/beneficiaries${path}?client_id=${party.clientId}`, {
        body,
      });
      assert.deepEqual([answer.status, answer.body.code], [403, 'permission_denied'], method);
    }
    assert.equal((await service.client(reader, 'GET', `/beneficiaries/${id}?client_id=${party.clientId}`)).status, 200);
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', {}],
      ['DELETE', undefined],
    ] as const) {
      const answer = await stranger.call(method, `/${id}`, body);
      assert.deepEqual([answer.status, answer.body.code], [404, 'beneficiary_not_found'], method);
    }
    assert.equal((await stranger.call('PATCH', '/none', { iban: 'X' })).body.errors[0].code, 'invalid_iban');
  });
});

describe('duplicates', () => {
  test('the same name, account and currency are one; of equal requests at once one succeeds', async () => {
    const party = await createParty();
    const british = { ...GERMAN, country_code: 'GB', bank_country_code: 'GB', bank_currency_code: 'GBP', iban: null };
    const pair = { ...british, name: 'Strasse Ltd', account_number: '31926819', bank_identifier: '60-16-13' };
    const answers = await Promise.all(Array.from({ length: 12 }, () => party.call('POST', '', pair)));
    const made = answers.filter(({ status }) => status === 201);
    assert.equal(made.length, 1);
    const id = made[0]?.body.beneficiary_id;
    for (const { status, body } of answers.filter((answer) => answer !== made[0]))
      assert.deepEqual([status, body.code, body.details.includes(id)], [409, 'beneficiary_duplicate', true]);
    const iban = { ...british, name: ' STRASSE  ltd', iban: 'GB29NWBK60161331926819' };
    assert.equal((await party.call('POST', '', iban)).body.code, 'beneficiary_duplicate');
    const dollars = { ...iban, bank_currency_code: 'USD', swift_code: 'NWBKGB2L' };
    assert.equal((await party.call('POST', '', dollars)).status, 201);
    assert.equal((await party.call('PATCH', `/${id}`, { name: 'strasse LTD' })).status, 204);
    const other = await party.create({ ...pair, name: 'Other' });
    const renamed = await party.call('PATCH', `/${other.beneficiary_id}`, { name: 'Strasse Ltd' });
    assert.deepEqual([renamed.status, renamed.body.code], [409, 'beneficiary_duplicate']);
    assert.equal((await party.call('DELETE', `/${id}`)).status, 204);
    assert.equal((await party.call('POST', '', iban)).status, 201);
  });

  test('RUB is not allowed', async () => {
    const party = await createParty();
    const russian = {
      ...AMERICAN,
      bank_country_code: 'ZA',
      bank_currency_code: 'RUB',
      swift_code: 'SBZAZAJJ',
      bank_identifier: null,
    };
    assert.equal((await party.call('POST', '', russian)).body.code, 'currency_not_allowed');
    const { beneficiary_id: id } = await party.create({ ...russian, bank_currency_code: 'ZAR' });
    const changed = await party.call('PATCH', `/${id}`, { bank_currency_code: 'RUB' });
    assert.deepEqual([changed.status, changed.body.code], [409, 'currency_not_allowed']);
  });
});

describe('changes', () => {
  test('what changes is written, and judged with all that its row asks for', async () => {
    const party = await createParty();
    const { beneficiary_id: id } = await party.create(AMERICAN);
    await institution(id, { beneficiary_verified: true, version: await versionOf(id) });
    const status = async () => (await party.call('GET', `/${id}`)).body.aml_status;
    assert.equal(await status(), 'OK');
    for (const same of [
      {},
      { city: 'Dallas' },
      { name: ' Acme Inc', account_number: '123 456' },
      { beneficiary_reference: 'R' },
      { beneficiary_reference: null },
      { purpose_of_payment: 'Goods' },
    ]) {
      const answer = await party.call('PATCH', `/${id}`, same);
      assert.equal(answer.status, 204, answer.text);
      assert.equal(await status(), 'OK', JSON.stringify(same));
    }
    const cleared = await party.call('PATCH', `/${id}`, { city: null, nothing: null, bank_identifier: '021000022' });
    assert.deepEqual(
      cleared.body.errors.map((each: { code: string }) => each.code),
      ['invalid_aba', 'required', 'unknown_field'],
    );
    const tried = await party.call('PATCH', `/${id}`, { city: 'Austin' }, { query: '&validate_only=true' });
    assert.deepEqual([tried.status, tried.body.city, tried.body.aml_status], [200, 'Austin', 'Pending Review']);
    assert.equal(await status(), 'OK');
    const before = (await party.call('GET', `/${id}`)).body;
    assert.equal((await party.call('PATCH', `/${id}`, { city: 'Austin', state_region: 'TX' })).status, 204);
    const now = (await party.call('GET', `/${id}`)).body;
    assert.deepEqual(now, { ...before, city: 'Austin', aml_status: 'Pending Review' });
    const told = (await changesOf(party, id)).at(-1);
    assert.deepEqual(told.data, (await service.operator('GET', `/beneficiaries/${id}`)).body);
    const moved = { ...GERMAN, name: 'Acme', account_number: null, bank_identifier: null };
    const missing = await party.call('PATCH', `/${id}`, { bank_country_code: 'DE', bank_currency_code: 'EUR' });
    assert.deepEqual(
      missing.body.errors.map((each: { details: string }) => each.details.split(':')[0]),
      ['body.iban'],
    );
    assert.equal((await party.call('PATCH', `/${id}`, moved)).status, 204);
    assert.deepEqual(
      (await eventsOf(party)).map(([{ aml_status: of, active }]) => [of, active]),
      [
        ['Pending Review', true],
        ['OK', true],
        ['Pending Review', true],
      ],
    );
  });

  test('a payment that is not final binds it; mails and its reference stay free', async () => {
    const party = await createParty();
    const { beneficiary_id: id } = await party.create();
    const paid = await party.pay({ beneficiary_id: id });
    assert.equal(paid.status, 201, paid.text);
    for (const change of [{ name: 'Other' }, { reference_information: 'x' }, { iban: 'DE02120300000000202051' }]) {
      const answer = await party.call('PATCH', `/${id}`, change);
      assert.deepEqual([answer.status, answer.body.code], [409, 'beneficiary_in_use']);
    }
    const free = { email_notification: true, email_addresses: ['a@b.example'], beneficiary_reference: 'R', city: null };
    assert.equal((await party.call('PATCH', `/${id}`, free)).status, 204);
    assert.equal((await party.call('DELETE', `/${id}`)).body.code, 'beneficiary_in_use');
    for (const action of ['validate', 'send', 'complete'])
      await service.operator('POST', `/payments/${paid.body.payment_id}/actions`, { action });
    assert.equal((await party.call('PATCH', `/${id}`, { name: 'Other' })).status, 204);
    assert.equal((await party.call('DELETE', `/${id}`)).status, 204);
    assert.equal((await party.call('GET', `/${id}`)).status, 404);
    assert.equal((await party.call('DELETE', `/${id}`)).status, 404);
    assert.equal((await service.operator('GET', `/beneficiaries/${id}`)).body.beneficiary_active, false);
    assert.equal((await eventsOf(party)).at(-1)?.[0].active, false);
  });

  test('a blocked one can be neither changed nor deleted, nor its account created again, by whatever way', async () => {
    const party = await createParty();
    const { beneficiary_id: id } = await party.create(AMERICAN);
    const other = await party.create();
    assert.equal((await institution(id, { beneficiary_blocked: true })).status, 200);
    assert.equal((await party.call('GET', `/${id}`)).body.aml_status, 'Blocked');
    const blocked = async (method: string, path: string, body?: Body) => {
      const answer = await party.call(method, path, body);
      assert.deepEqual([answer.status, answer.body.code], [409, 'beneficiary_blocked'], answer.text);
    };
    assert.equal((await party.call('PATCH', `/${id}`, {})).status, 204);
    await blocked('PATCH', `/${id}`, { beneficiary_reference: 'R' });
    await blocked('DELETE', `/${id}`);
    assert.equal((await institution(id, { beneficiary_active: false })).status, 200);
    await blocked('POST', '', { ...AMERICAN, name: 'Somebody else' });
    await blocked('POST', '', { ...AMERICAN, name: 'With a BIC', swift_code: 'CHASUS33XXX' });
    const euros = { bank_currency_code: 'EUR', bank_identifier: null, swift_code: 'CHASUS33' };
    await blocked('POST', '', { ...AMERICAN, ...euros, name: 'In euros' });
    await blocked('PATCH', `/${other.beneficiary_id}`, { ...AMERICAN, iban: null });
    assert.equal((await party.call('POST', '', { ...AMERICAN, bank_identifier: '026009593' })).status, 201);
  });
});

describe('the institution', () => {
  test('frees what a client made by the version that it saw', async () => {
    const party = await createParty();
    const { beneficiary_id: id } = await party.create();
    for (const frees of [
      { beneficiary_verified: true },
      { beneficiary_blocked: false },
      { beneficiary_active: true },
    ]) {
      const answer = await institution(id, frees);
      assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_body'], answer.text);
      assert.match(answer.body.details, /^body\.version: is required/);
    }
    const seen = await versionOf(id);
    assert.equal(seen, 1);
    assert.equal((await party.call('PATCH', `/${id}`, { iban: 'DE02120300000000202051' })).status, 204);
    const late = await institution(id, { beneficiary_verified: true, version: seen });
    assert.deepEqual([late.status, late.body.code], [409, 'version_mismatch']);
    assert.equal((await institution(id, { beneficiary_aml_id: 'A', version: seen })).body.code, 'version_mismatch');
    assert.equal((await institution(id, { beneficiary_aml_id: 'A' })).status, 200);
    assert.equal((await institution(id, { beneficiary_verified: true, version: seen + 2 })).status, 200);
    assert.equal((await institution(party.beneficiaryId, { beneficiary_verified: true })).status, 200);
    const list = await service.operator('GET', `/beneficiaries?client_id=${party.clientId}&source=client`);
    assert.deepEqual(
      list.body.map((each: { beneficiary_id: string }) => each.beneficiary_id),
      [id],
    );
  });

  test('frees by an import only with the version too', async () => {
    const party = await createParty();
    const { beneficiary_id: id } = await party.create();
    const line = { client_id: party.clientId, beneficiary_id: id, beneficiary_verified: true };
    const send = (...lines: Body[]) =>
      service.operator('POST', '/imports/beneficiaries?on_conflict=update&notify=true', undefined, {
        raw: lines.map((each) => JSON.stringify(each)).join('\n'),
        headers: { 'content-type': 'application/x-ndjson' },
      });
    const codes = async (...lines: Body[]) =>
      (await send(...lines)).body.errors.map((each: { code: string }) => each.code);
    const more = { city: 'Berlin', email_notification: true, email_addresses: ['a@b.example', 'c\\d@b.example'] };
    const fresh = { client_id: party.clientId, beneficiary_id: randomUUID(), beneficiary_name: 'New', ...more };
    assert.deepEqual(
      await codes(line, { ...line, version: 7 }, { beneficiary_id: id, version: 7 }, { ...fresh, version: 1 }),
      [...['invalid_body', 'version_mismatch', 'version_mismatch', 'version_mismatch']],
    );
    const done = await send({ ...line, version: 1 }, fresh);
    assert.deepEqual([done.body.accepted, done.body.rejected], [2, 0], done.text);
    const { body: stored } = await service.operator('GET', `/beneficiaries/${fresh.beneficiary_id}`);
    assert.deepEqual(
      [stored.city, stored.email_addresses, stored.source],
      [more.city, more.email_addresses, 'institution'],
    );
    assert.equal((await send(fresh)).body.unchanged, 1);
    assert.deepEqual(
      (await eventsOf(party)).map(([{ aml_status: status }]) => status),
      ['Pending Review', 'OK'],
    );
  });

  test('takes the fields of an order with IBAN, BIC and lengths checked, and no row asked for', async () => {
    const party = await createParty();
    const create = (fields: Body) =>
      service.operator('POST', '/beneficiaries', { client_id: party.clientId, beneficiary_name: 'Core', ...fields });
    const field = async (fields: Body) => {
      const answer = await create(fields);
      return [answer.status, answer.body.details?.split(':')[0]];
    };
    assert.deepEqual(await field({ bank_country_code: 'FR', iban: GERMAN.iban }), [400, 'body.iban']);
    assert.deepEqual(await field({ bank_country_code: 'FR', swift_code: 'COBADEFF' }), [400, 'body.swift_code']);
    assert.deepEqual(await field({ correspondent_swift_code: 'X' }), [400, 'body.correspondent_swift_code']);
    assert.deepEqual(await field({ account_number: '1'.repeat(35) }), [400, 'body.account_number']);
    assert.deepEqual(await field({ country_code: 'UK' }), [400, 'body.country_code']);
    assert.deepEqual(await field({ city: 'x'.repeat(36) }), [400, 'body.city']);
    const made = await create({ iban: GERMAN.iban, bank_country_code: 'DE', email_addresses: ['a@b.example'] });
    assert.deepEqual([made.status, made.body.source, made.body.email_addresses], [201, 'institution', ['a@b.example']]);
    assert.deepEqual((await create({ iban: GERMAN.iban, bank_country_code: 'DE' })).status, 201);
    assert.deepEqual(await eventsOf(party), []);
  });
});

describe('reading', () => {
  test('lists in the order of creation, by page and by filters, which a search takes in its body', async () => {
    const party = await createParty();
    const ids: string[] = [];
    for (const name of ['B', 'a', 'C']) ids.push((await party.create({ name })).beneficiary_id);
    const idsOf = (list: { beneficiary_id: string }[]) => list.map(({ beneficiary_id: id }) => id);
    const page = await party.call('GET', '', undefined, { query: '&page=2&page_size=2' });
    assert.deepEqual([idsOf(page.body), page.headers.get('x-total-count')], [ids.slice(1), '4']);
    assert.deepEqual(idsOf((await party.call('POST', '/search', { name: 'A' })).body), [ids[1]]);
    const search = await party.call(
      'POST',
      '/search',
      { iban: 'de89 3704 0044 0532 0130 00' },
      { query: '&page_size=1' },
    );
    assert.deepEqual([search.body.length, search.headers.get('x-total-count')], [1, '4']);
    assert.deepEqual((await party.call('POST', '/search', { account_number: '1', iban: ' ' })).body, []);
    const wrong = await party.call('POST', '/search', { iban: 7, ibn: null });
    assert.deepEqual(
      wrong.body.errors.map((each: { code: string }) => each.code),
      ['invalid_format', 'unknown_field'],
    );
    const none = await party.call('PATCH', `/${ids[0]}`, { name: 'x' }, { headers: { 'idempotency-key': '' } });
    assert.equal(none.status, 204, 'only a POST has a key');
  });

  test('the metadata needs a token and no client', async () => {
    const party = await createParty();
    const read = (query: string) => service.client(party.token, 'GET', `/metadata/beneficiary${query}`);
    const gb = await read('?country=GB&currency=GBP');
    assert.deepEqual(gb.body[0].currencies[0].mandatory_data, [
      ['account_number', 'bank_identifier|Sort Code'],
      ['iban'],
    ]);
    assert.ok((await read('')).body.length >= 250);
    for (const query of ['?country=UK', '?currency=EUX', '?country=gb'])
      assert.equal((await read(query)).body.code, 'invalid_parameter');
    assert.equal((await service.client('', 'GET', '/metadata/beneficiary')).status, 401);
  });
});
