import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import { Lombard, type LombardOptions, type OrderOptions } from '../../sdk/src/index.ts';
import { answer, cut, cutBody, type FaultServer, failure, type Seen, startFaultServer } from '../world/faults.ts';

/** What a client orders: its key, what is repeated, what a refusal tells. */

const PAYMENT = { payment_id: 'PAY1' };
const PAYEE = {
  name: 'Ärzte GmbH',
  country_code: 'DE',
  bank_country_code: 'DE',
  bank_currency_code: 'EUR',
  iban: 'DE1',
};
const DONE = answer(204);
const refused = (status: number, code: string) =>
  answer(status, { code, message: 'No', details: 'query.x: must be y' });

let server: FaultServer;
before(async () => {
  server = await startFaultServer();
});
after(() => server.stop());

const connect = (options: Partial<LombardOptions> = {}) =>
  new Lombard({ baseUrl: server.url, clientId: 'CLI1', accessToken: 'token', ...options });

const payments = [{ beneficiary_id: 'BEN1', amount: 12.5, payment_date: '2026-12-01', reference: 'Invoice 7' }];
const period = { from_value_datetime: '2026-07-01T00:00:00Z' };
const made = { url: 'http://a.example/accounts/7/statements/STA1/file' };
const ORDERS: [string, unknown, (lombard: Lombard, options: OrderOptions) => Promise<unknown>][] = [
  ['a payment', [PAYMENT], (lombard, options) => lombard.payments.create({ payments, trade_id: 'TRD1' }, options)],
  ['a beneficiary', {}, (lombard, options) => lombard.beneficiaries.create(PAYEE, options)],
  ['many payments', {}, (lombard, options) => lombard.multipayments.create({ trade_id: 'TRD1' }, [], options)],
  ['a file', {}, (lombard, options) => lombard.massPayments.createFromFile('a\n', { auto_commit: true }, options)],
  ['a list of payees', {}, (lombard, options) => lombard.massBeneficiaries.create([PAYEE], options)],
  ['a code for many', {}, (lombard, options) => lombard.payments.challenge(['PAY1', 'PAY2'], options)],
  ['a statement', made, (lombard, options) => lombard.accounts.statement(7, period, options)],
  ['any, by call', [], (lombard, options) => lombard.call('POST /payments', { body: { payments }, ...options })],
];
for (const [name, success, order] of ORDERS) {
  test(`${name} has a key of its own, and is sent again with it`, async () => {
    const keys = new Set<unknown>();
    for (const [fault, other] of [
      [answer(502), cut],
      [cutBody, answer(503)],
    ] as const) {
      server.script(fault, other, answer(201, success));
      await order(connect(), {});
      const [first, second, third] = server.seen;
      assert.match(String(first?.headers['idempotency-key']), /^[!-~]{16,255}$/);
      for (const one of [second, third])
        assert.deepEqual(
          [one?.headers['idempotency-key'], one?.body, one?.path],
          [first?.headers['idempotency-key'], first?.body, first?.path],
        );
      keys.add(first?.headers['idempotency-key']);
    }
    assert.equal(keys.size, 2);
    server.script(answer(201, success));
    await order(connect(), { idempotencyKey: 'order-7' });
    assert.equal(server.seen[0]?.headers['idempotency-key'], 'order-7');
  });
}

test('is sent again with the same key after a refreshed token', async () => {
  const expired = refused(401, 'token_expired');
  const fresh = { access_token: 'second', refresh_token: 'next', expires_in: 3600 };
  server.script(cut, expired, answer(200, fresh), cut, answer(201, [PAYMENT]));
  const lombard = connect({ authUrl: server.url, application: { id: 'app' }, refreshToken: 'first' });
  await lombard.payments.create({ payments, trade_id: 'TRD1' });
  const orders = server.seen.filter(({ path }) => path === '/payments');
  assert.deepEqual(
    orders.map(({ headers }) => headers.authorization),
    ['Bearer token', 'Bearer token', 'Bearer second', 'Bearer second'],
  );
  assert.equal(new Set(orders.map(({ headers }) => headers['idempotency-key'])).size, 1);
  assert.equal(new Set(orders.map(({ body }) => body)).size, 1);
});

test('a search by body changes nothing: it is sent again without a key; changes and decisions are not', async () => {
  server.script(cut, answer(502), answer(200, [], { 'x-total-count': '0' }));
  const { beneficiaries, payments: orders } = connect();
  assert.deepEqual((await beneficiaries.search({ iban: 'DE1', page_size: 7 }).page(2)).items, []);
  assert.equal(server.seen.length, 3);
  const { path, query, body, headers } = server.seen[2] as Seen;
  assert.deepEqual(
    [path, query.toString(), body, headers['idempotency-key']],
    ['/beneficiaries/search', 'client_id=CLI1&page_size=7&page=2', '{"iban":"DE1"}', undefined],
  );
  for (const change of [
    () => beneficiaries.update('BEN1', { name: 'A' }, { validateOnly: true }),
    () => beneficiaries.delete('BEN1'),
    () => orders.decide('reject', { payment_ids: ['PAY1'] }),
  ]) {
    server.script(cut, DONE);
    await failure(change());
    assert.equal(server.seen.length, 1);
  }
});

test('validateOnly is a parameter of the request', async () => {
  server.script(answer(200, {}));
  const { beneficiaries } = connect();
  await beneficiaries.create(PAYEE, { validateOnly: true });
  await beneficiaries.update('BEN1', PAYEE, { validateOnly: true });
  await beneficiaries.create(PAYEE, { validateOnly: false });
  assert.deepEqual(
    server.seen.map(({ query }) => query.get('validate_only')),
    ['true', 'true', null],
  );
});

test('a refusal has all faults of the body', async () => {
  const errors = [
    { code: 'required', message: 'Missing', details: 'body.name: is required', request_index: null },
    { code: 'invalid_iban', message: 'Wrong', details: 'body.iban: is not valid', request_index: null },
  ];
  server.script(answer(400, { code: 'invalid_body', message: 'No', details: 'body.name: is required', errors }));
  const error = await failure(connect().beneficiaries.create(PAYEE));
  assert.deepEqual([error.code, error.details, error.errors], ['invalid_body', 'body.name: is required', errors]);
  server.script(refused(409, 'insufficient_funds'));
  assert.deepEqual((await failure(connect().payments.create({ payments }))).errors, []);
});

test('a statement is waited for, and comes as its bytes', async () => {
  const bytes = Buffer.from([0x25, 0x50, 0x44, 0x46, 0xff, 0x00, 0xfe]);
  const file = (response: ServerResponse) => response.end(bytes);
  server.script(answer(202, made), answer(202, { status: 'queued' }), cut, answer(202, { status: 'running' }), file);
  const got = await connect().accounts.statement('7', period, { format: 'csv' });
  assert.deepEqual(Buffer.from(got), bytes);
  assert.equal(server.seen[0]?.query.get('format'), 'csv');
  assert.equal(server.seen.at(-1)?.path, '/accounts/7/statements/STA1/file');
  const controller = new AbortController();
  server.script(answer(202, made), (response, seen) => {
    answer(202, { status: 'queued' })(response, seen);
    controller.abort();
  });
  const waiting = connect().accounts.statement('7', period, { signal: controller.signal });
  await assert.rejects(waiting, { name: 'AbortError' });
});
