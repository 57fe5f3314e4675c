import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createWorld } from '../world/client.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** Where clients pay in: what the institution gives, and what a client sees of it. */
let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service?.stop());

const ROUTE = { account_number: 'GB29NWBK60161331926819', account_number_type: 'IBAN' };
const BASE = {
  ...{
    currency: 'EUR',
    country: 'GB',
    financial_institution_name: 'National Bank',
    account_holder_name: 'Ashdown Ltd',
  },
  international: { ...ROUTE, bank_identifier: 'NWBKGB2L', bank_identifier_type: 'SWBIC' },
};

async function make(fields: object = {}): Promise<string> {
  const { status, body, text } = await service.operator('POST', '/account-details', { ...BASE, ...fields });
  assert.equal(status, 201, text);
  return body.account_details_id;
}

test('a creation answers the record, a PATCH changes it, and null clears what is optional', async () => {
  const { clientId } = await createWorld(service);
  const { body: account } = await service.operator('POST', '/accounts', { client_id: clientId, currency: 'EUR' });
  const made = await service.operator('POST', '/account-details', {
    ...{ ...BASE, client_id: clientId, account_id: account.account_id, bank_city: 'London' },
    domestic: { account_number: '31926819', bank_identifier: '601613', bank_identifier_type: 'GBDSC' },
  });
  assert.equal(made.status, 201, made.text);
  const { account_details_id: id } = made.body;
  assert.deepEqual(made.body, {
    ...{ ...BASE, account_details_id: id, client_id: clientId, account_id: account.account_id },
    ...{ account_details_type: 'dedicated', status: 'confirmed', bank_city: 'London' },
    ...{ bank_address_line_1: null, bank_address_line_2: null, bank_post_code: null },
    domestic: {
      ...{ account_number: '31926819', account_number_type: null },
      ...{ bank_identifier: '601613', bank_identifier_type: 'GBDSC' },
    },
  });
  const path = `/account-details/${id}`;
  assert.equal(made.headers.get('location'), path);
  assert.deepEqual((await service.operator('GET', path)).body, made.body);
  const changed = await service.operator('PATCH', path, { domestic: null, account_id: null, status: 'pending' });
  assert.equal(changed.status, 200, changed.text);
  assert.deepEqual(changed.body, { ...made.body, domestic: null, account_id: null, status: 'pending' });
  for (const [method, id_, body, code, details] of [
    ['PATCH', id, { international: null }, 'invalid_body', 'body.domestic: is required'],
    ['PATCH', id, { currency: 'GBP' }, 'invalid_body', 'body.currency: is not a field'],
    ['PATCH', id, { country: 'Germany' }, 'invalid_body', 'body.country'],
    ['PATCH', id, { account_id: randomUUID() }, 'account_not_found', 'body.account_id'],
    ['PATCH', randomUUID(), {}, 'account_details_not_found', 'path.account_details_id'],
    ['GET', 'none', undefined, 'account_details_not_found', 'path.account_details_id'],
  ] as const) {
    const answer = await service.operator(method, `/account-details/${id_}`, body);
    assert.equal(answer.body.code, code, answer.text);
    assert.ok(answer.body.details.startsWith(details), answer.body.details);
  }
});

test('a creation is refused where it makes no sense', async () => {
  const { clientId } = await createWorld(service);
  const stranger = await createWorld(service);
  const { body: foreign } = await service.operator('POST', '/accounts', {
    client_id: stranger.clientId,
    currency: 'EUR',
  });
  const { international: _, ...without } = BASE;
  for (const [body, status, code, details] of [
    [without, 400, 'invalid_body', 'body.domestic: is required'],
    [{ ...BASE, country: undefined }, 400, 'invalid_body', 'body.country: is required'],
    [
      { ...BASE, international: { account_number_type: 'IBAN' } },
      400,
      'invalid_body',
      'body.international.account_number',
    ],
    [{ ...BASE, account_id: foreign.account_id }, 400, 'invalid_body', 'body.account_id: must be left out'],
    [{ ...BASE, client_id: clientId, account_id: foreign.account_id }, 404, 'account_not_found', 'body.account_id'],
    [{ ...BASE, client_id: 'NOBODY' }, 404, 'client_not_found', 'body.client_id'],
  ] as const) {
    const answer = await service.operator('POST', '/account-details', body);
    assert.deepEqual([answer.status, answer.body.code], [status, code], answer.text);
    assert.ok(answer.body.details.startsWith(details), answer.body.details);
  }
});

test('a client sees what is confirmed, its own before those of all, and nobody else’s', async () => {
  const world = await createWorld(service);
  const stranger = await createWorld(service);
  const currency = { currency: 'CHF' };
  const pooled = await make(currency);
  const late = await make({ ...currency, client_id: world.clientId });
  const own = await make({ client_id: world.clientId, currency: 'AUD' });
  await make({ ...currency, client_id: stranger.clientId });
  const pending = await make({ ...currency, client_id: world.clientId, status: 'pending' });
  const token = await world.signIn();
  const seen = async (query = '') => {
    const { status, body, text } = await service.client(
      token,
      'GET',
      `/account-details?client_id=${world.clientId}${query}`,
    );
    assert.equal(status, 200, text);
    return body as Record<string, unknown>[];
  };
  const ids = async (query: string) => (await seen(query)).map((each) => each.account_details_id);
  const [first] = await seen('&currency=CHF&account_details_type=pooled');
  assert.deepEqual(first, {
    ...{ ...BASE, ...currency, account_details_id: pooled, account_id: null, account_details_type: 'pooled' },
    ...{ status: 'confirmed', domestic: null, reference_for_payment: world.clientId },
  });
  assert.deepEqual(await ids('&currency=CHF'), [late, pooled]);
  assert.deepEqual(await ids('&account_details_type=dedicated'), [own, late]);
  await service.operator('PATCH', `/account-details/${pending}`, { status: 'confirmed' });
  assert.deepEqual(await ids('&currency=CHF'), [late, pending, pooled]);
  for (const query of ['&currency=chf', '&account_details_type=mine'])
    assert.equal(
      (await service.client(token, 'GET', `/account-details?client_id=${world.clientId}${query}`)).status,
      400,
    );
  const list = await service.operator('GET', `/account-details?client_id=${world.clientId}&currency=CHF`);
  assert.deepEqual(
    list.body.map((each: { account_details_id: string }) => each.account_details_id),
    [late, pending],
  );
  assert.equal(list.headers.get('x-total-count'), '2');
});

test('each change is in the feed, under its client', async () => {
  const { clientId } = await createWorld(service);
  const { cursor } = (await service.operator('GET', '/changes?after=now')).body;
  const [own, pooled] = [await make({ client_id: clientId }), await make()];
  await service.operator('PATCH', `/account-details/${own}`, { status: 'failed' });
  const read = await service.operator('GET', `/changes?after=${cursor}&wait=5&entities=account_details`);
  const told = [...read.body.changes];
  while (told.length < 3) {
    const next = await service.operator(
      'GET',
      `/changes?after=${told.at(-1)?.cursor ?? cursor}&wait=5&entities=account_details`,
    );
    told.push(...next.body.changes);
  }
  assert.deepEqual(
    told.map(({ entity_id, client_id, version, action, data }) => [entity_id, client_id, version, action, data.status]),
    [
      [own, clientId, 1, 'create', 'confirmed'],
      [pooled, null, 1, 'create', 'confirmed'],
      [own, clientId, 2, 'update', 'failed'],
    ],
  );
});
