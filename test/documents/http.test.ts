import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createWorld } from '../world/client.ts';
import { infoOf, noPoppler, textOf } from '../world/pdf.ts';
import { startTestService, type TestService } from '../world/service.ts';

let service: TestService;
let world: Awaited<ReturnType<typeof createWorld>>;
let token: string;
before(async () => {
  service = await startTestService({
    LOMBARD_INSTITUTION_NAME: 'Banque Exemplaire',
    LOMBARD_INSTITUTION_ADDRESS: '3 Quai des Bergues|1201 Genève',
  });
  world = await createWorld(service, 'Acme & Co');
  token = await world.signIn();
});
after(() => service.stop());

const get = (query: string) => service.client(token, 'GET', `/documents?${query}`);
const act = (id: string, action: string, fields: object = {}) =>
  service.operator('POST', `/payments/${id}/actions`, { action, ...fields });

async function pdf(type: string, id: string): Promise<Buffer> {
  const answer = await get(`type=${type}&id=${encodeURIComponent(id)}&client_id=${world.clientId}`);
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
  assert.match(answer.body, /^[A-Za-z0-9+/]+=*$/, 'a JSON string of base64');
  const bytes = Buffer.from(answer.body, 'base64');
  assert.equal(bytes.subarray(0, 5).toString(), '%PDF-');
  return bytes;
}

/** Text without line breaks: a value may be set in two lines. */
const flat = (bytes: Buffer) => textOf(bytes).replace(/\s+/g, ' ');

test('Accept chooses between the PDF itself and its base64 text, which is the default', async () => {
  const { body: payment } = await world.pay();
  const path = `/documents?type=pi&id=${payment.payment_id}&client_id=${world.clientId}`;
  const bytes = await pdf('pi', payment.payment_id);
  const ask = (accept: string) =>
    fetch(`${service.api}${path}`, { headers: { authorization: `Bearer ${token}`, accept } });
  for (const accept of [
    'application/pdf',
    'Application/PDF',
    'application/pdf; q=0.1',
    'application/pdf, application/json;q=0.9',
    'application/json;q=0.5 , application/pdf;q=0.8, */*;q=0.1',
    'application/pdf, */*',
    'application/pdf, application/json;q=0',
    '*/*, application/json;q=0.3',
  ]) {
    const answer = await ask(accept);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'application/pdf', accept);
    assert.equal(answer.headers.get('content-disposition'), `inline; filename="pi-${payment.payment_id}.pdf"`);
    assert.match(answer.headers.get('vary') ?? '', /Accept/);
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), bytes, accept);
  }
  for (const accept of [
    '',
    '*/*',
    'application/*',
    'application/json',
    'application/json, application/pdf',
    'application/pdf;q=0.5, application/json',
    'application/pdf;q=0, */*',
    'application/pdf;q=nonsense, */*;q=0.1',
    'text/html',
    'application/json, text/plain, */*',
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  ]) {
    const answer = await ask(accept);
    assert.deepEqual(
      [answer.status, answer.headers.get('content-type')],
      [200, 'application/json; charset=utf-8'],
      accept,
    );
    assert.deepEqual(Buffer.from((await answer.json()) as string, 'base64'), bytes, accept);
    assert.match(answer.headers.get('vary') ?? '', /Accept/);
  }
  const none = await fetch(`${service.api}${path.replace(payment.payment_id, 'none')}`, {
    headers: { authorization: `Bearer ${token}`, accept: 'application/pdf' },
  });
  assert.deepEqual([none.status, ((await none.json()) as { code: string }).code], [404, 'document_not_found']);
});

test('wrong parameters: 400 that names them, in the order token, client, parameters', async () => {
  const { body: payment } = await world.pay();
  const mine = `client_id=${world.clientId}`;
  const id = payment.payment_id;
  for (const [query, status, code, details] of [
    [`type=pi&id=${id}`, 400, 'missing_parameter', 'query.client_id'],
    [`id=${id}&${mine}`, 400, 'missing_parameter', 'query.type'],
    [`type=&id=${id}&${mine}`, 400, 'invalid_parameter', 'query.type: must be one of pi, pr, tr'],
    [`type=xx&id=${id}&${mine}`, 400, 'invalid_parameter', 'query.type: must be one of pi, pr, tr'],
    [`type=PI&id=${id}&${mine}`, 400, 'invalid_parameter', 'query.type'],
    [`type=pi&type=pr&id=${id}&${mine}`, 400, 'invalid_parameter', 'query.type: must be sent once'],
    [`type=pi&${mine}`, 400, 'missing_parameter', 'query.id'],
    [`type=pi&id=&${mine}`, 400, 'missing_parameter', 'query.id'],
    [`type=pi&id=a&reference=b&${mine}`, 400, 'invalid_parameter', 'query.reference'],
    [`type=pi&id=${id}%00&${mine}`, 400, 'invalid_parameter', ''],
    [`type=pi&id=none&${mine}`, 404, 'document_not_found', 'query.id'],
    [`type=tr&id=none&${mine}`, 404, 'document_not_found', 'query.id'],
    [`type=tr&id=${id}&${mine}`, 404, 'document_not_found', 'query.id'],
    [`type=pi&id=${world.tradeId}&${mine}`, 404, 'document_not_found', 'query.id'],
    [`type=pr&id=${id}&${mine}`, 404, 'document_not_found', 'query.type'],
    [`type=pi&id=${id}&client_id=nobody`, 404, 'client_not_found', 'query.client_id'],
  ] as const) {
    const answer = await get(query);
    assert.deepEqual([answer.status, answer.body.code], [status, code], query);
    assert.ok(answer.body.details.startsWith(details), `${query}: ${answer.body.details}`);
  }
  const other = await createWorld(service, 'Other');
  const foreign = await other.pay();
  const refused = await get(`type=pi&id=${foreign.body.payment_id}&${mine}`);
  assert.deepEqual([refused.status, refused.body.code], [404, 'document_not_found']);
  assert.equal((await get(`type=tr&id=${other.tradeId}&${mine}`)).status, 404);
  assert.equal((await service.client('unknown', 'GET', '/documents')).status, 401);
});

test('a document that does not exist is told under the parameter that was sent', async () => {
  for (const type of ['pi', 'pr', 'tr'])
    for (const parameter of ['id', 'reference']) {
      const { status, body } = await get(`type=${type}&${parameter}=NONE&client_id=${world.clientId}`);
      assert.deepEqual([status, body.details.split(':')[0]], [404, `query.${parameter}`]);
    }
});

test('the links of payments and trades lead to their documents, and `reference` does too', async () => {
  const { body } = await world.pay({ reference: 'linked' });
  const [payment] = (await service.client(token, 'GET', `/payments?reference=linked&client_id=${world.clientId}`)).body;
  const link = new URL(payment.payment_instruction);
  const followed = await service.client(token, 'GET', `${link.pathname}${link.search}`);
  assert.equal(followed.status, 200);
  assert.equal(payment.payment_receipt, null);
  const trade = await service.operator('GET', `/trades/${world.tradeId}`);
  const receipt = new URL(trade.body.trade_receipt);
  assert.equal((await service.client(token, 'GET', `${receipt.pathname}${receipt.search}`)).status, 200);
  const named = await get(`type=pi&reference=${body.payment_id}&client_id=${world.clientId}`);
  assert.equal(named.body, followed.body);
});

test('a receipt exists from sending on, also when the payment is returned', async () => {
  const { body } = await world.pay();
  const id: string = body.payment_id;
  const receipt = () => get(`type=pr&id=${id}&client_id=${world.clientId}`);
  for (const action of ['validate']) assert.equal((await act(id, action)).status, 200);
  assert.equal((await receipt()).status, 404);
  assert.equal((await act(id, 'send')).status, 200);
  assert.equal((await receipt()).status, 200);
  const shown = await service.client(token, 'GET', `/payments/${id}?client_id=${world.clientId}`);
  const link = new URL(shown.body.payment_receipt);
  assert.equal((await service.client(token, 'GET', `${link.pathname}${link.search}`)).status, 200);
  for (const action of ['start_return', 'return']) assert.equal((await act(id, action)).status, 200);
  assert.equal((await receipt()).status, 200);
});

test('the same facts give the same bytes, whenever they are asked for', async () => {
  const { body } = await world.pay();
  const first = await pdf('pi', body.payment_id);
  await service.operator('PUT', '/clock', { advance_seconds: 1_000 });
  assert.deepEqual(await pdf('pi', body.payment_id), first);
  const all = await Promise.all(Array.from({ length: 8 }, () => pdf('pi', body.payment_id)));
  assert.ok(all.every((one) => one.equals(first)));
  assert.deepEqual(await pdf('tr', world.tradeId), await pdf('tr', world.tradeId));
});

test('an instruction says what is stored: parties, amount, references, approvals', { skip: noPoppler }, async () => {
  const own = await createWorld(service, 'Ελληνική Ναυτιλία ООО', {
    payment_approvals_enabled: true,
    authorisation_workflow: '4-eyes',
    account_number: 'LOM-77',
  });
  const approver = await own.hire('Сергей Иванов');
  const { body } = await own.pay({
    amount: '1234567.5',
    reference: 'INV “42”',
    fee_amount: '15',
    fee_currency: 'GBP',
    charges: 'SHA',
  });
  const approved = await act(body.payment_id, 'authorise', { contact_id: approver.contactId });
  assert.equal(approved.status, 200, approved.text);
  const answer = await service.client(
    await own.signIn(),
    'GET',
    `/documents?type=pi&id=${body.payment_id}&client_id=${own.clientId}`,
  );
  const bytes = Buffer.from(answer.body, 'base64');
  const text = flat(bytes);
  for (const expected of [
    'Payment instruction',
    'Banque Exemplaire',
    '1201 Genève',
    'Ελληνική Ναυτιλία ООО',
    'LOM-77',
    body.payment_id,
    body.uuid,
    'INV “42”',
    '1,234,567.50',
    'Euro',
    'Müller GmbH',
    'COBADEFFXXX',
    '15.00',
    'SHA',
    '4-eyes',
    'Approved',
    'Сергей Иванов',
    'Authorised',
    'Owner of',
  ]) {
    assert.ok(text.includes(expected), `${expected} in ${text}`);
  }
  assert.ok(text.replaceAll(' ', '').includes('DE89370400440532013000'));
  assert.equal(infoOf(bytes).Title, `Payment instruction ${body.payment_id}`);
  assert.match(infoOf(bytes).Tagged ?? '', /yes/);
});

test('a trade receipt lists its payments, and says how many it does not list', { skip: noPoppler }, async () => {
  const trade = await service.operator('POST', '/trades', {
    client_id: world.clientId,
    contact_id: world.contactId,
    buy_currency: 'EUR',
    sell_currency: 'GBP',
    buy_amount: '1000000000000000',
    rate: '1.25',
    trade_type: 'forward',
    maturity_date: '2026-12-24T00:00:00Z',
  });
  const id: string = trade.body.trade_id;
  const { body } = await world.pay({ trade_id: id, amount: '0.10' });
  const few = flat(await pdf('tr', id));
  for (const expected of [
    'Trade receipt',
    id,
    'forward',
    '1,000,000,000,000,000.00',
    '800,000,000,000,000.00',
    '1.25',
    body.payment_id,
    '0.10',
  ])
    assert.ok(few.includes(expected), `${expected} in ${few}`);
  assert.ok(!few.includes('further payments'));
  await service.query(
    `insert into payments (client_id, payment_id, contact_id, trade_id, beneficiary_id, uuid, scheme, amount, payment_currency, status, invoice_required,
       ordered_by_name, beneficiary_name, created, payment_date, authorisation_workflow)
     select client_id, payment_id || '-' || n, contact_id, trade_id, beneficiary_id, gen_random_uuid(), scheme, n, payment_currency, status, invoice_required,
       ordered_by_name, beneficiary_name, created, payment_date, authorisation_workflow from payments, generate_series(1, 206) n where payment_id = $1`,
    [body.payment_id],
  );
  const many = flat(await pdf('tr', id));
  assert.ok(many.includes('and 7 further payments of this trade'), many.slice(-400));
});

test('names of 500 characters, quotes, right-to-left and emoji, and an amount of 10^15', {
  skip: noPoppler,
}, async () => {
  const beneficiary = await service.operator('POST', '/beneficiaries', {
    client_id: world.clientId,
    beneficiary_name: `שלום "عالم" 😀 ${'Ñandú-'.repeat(80)}`.slice(0, 500),
    iban: 'DE89370400440532013000',
  });
  assert.equal(beneficiary.status, 201, beneficiary.text);
  const { body } = await world.pay({
    beneficiary_id: beneficiary.body.beneficiary_id,
    amount: '1000000000000000',
    reference: `“'"<&>#$*_\`[]{}\\`,
  });
  const text = flat(await pdf('pi', body.payment_id));
  assert.ok(text.includes('1,000,000,000,000,000.00'));
  assert.ok(text.includes(`“'"<&>#$*_\`[]{}\\`), text);
  assert.ok(text.includes('Ñandú-'));
});
