import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Lombard, type LombardOptions } from '../../sdk/src/index.ts';
import {
  answer,
  cut,
  cutBody,
  type Fault,
  type FaultServer,
  failure,
  silence,
  startFaultServer,
} from '../world/faults.ts';

/** What is repeated, how often and after what wait; time limits; aborts; errors. */

const PAYMENT = { payment_id: 'PAY1' };
const OK = answer(200, PAYMENT);
const DONE = answer(204);
const PAYEE = {
  name: 'Ärzte GmbH',
  country_code: 'DE',
  bank_country_code: 'DE',
  bank_currency_code: 'EUR',
  iban: 'DE1',
};
const refused = (status: number, code: string, headers: Record<string, string> = {}) =>
  answer(status, { code, message: 'No', details: 'query.x: must be y' }, { 'x-request-id': 'req-1', ...headers });

let server: FaultServer;
before(async () => {
  server = await startFaultServer();
});
after(() => server.stop());

const connect = (options: Partial<LombardOptions> = {}) =>
  new Lombard({ baseUrl: server.url, clientId: 'CLI1', accessToken: 'token', ...options });

describe('a request that changes nothing', () => {
  const READS: [string, Fault, string][] = [
    ['502', refused(502, 'integration_error'), 'integration_error'],
    ['503 from a gateway', answer(503, '<h1>busy</h1>'), 'invalid_response'],
    ['504', answer(504), 'invalid_response'],
    ['a lost connection', cut, 'connection_lost'],
    ['a connection that is lost in the body', cutBody, 'connection_lost'],
    ['429', refused(429, 'rate_limited', { 'retry-after': '0' }), 'rate_limited'],
  ];
  for (const [name, fault, code] of READS) {
    test(`is sent again after ${name}, twice by default`, async () => {
      server.script(fault, fault, OK);
      assert.deepEqual(await connect().payments.get('PAY1'), PAYMENT);
      assert.equal(server.seen.length, 3);
      server.script(fault, fault, fault, OK);
      assert.equal((await failure(connect().payments.get('PAY1'))).code, code);
      assert.equal(server.seen.length, 3);
      server.script(fault, OK);
      assert.equal((await failure(connect({ retries: 0 }).payments.get('PAY1'))).code, code);
      assert.equal(server.seen.length, 1);
    });
  }

  test('reading the subscriptions is a POST, and is repeated all the same', async () => {
    const data = { subscriptions: { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } } };
    server.script(cut, answer(502), answer(200, { data }));
    assert.deepEqual(await connect().subscriptions.list(), []);
    assert.equal(server.seen.length, 3);
  });

  for (const status of [400, 403, 404, 409, 500, 501]) {
    test(`is not sent again after ${status}`, async () => {
      server.script(refused(status, 'some_code'));
      const error = await failure(connect().payments.get('PAY1'));
      assert.deepEqual(
        [error.status, error.code, error.details, error.requestId, error.name],
        [status, 'some_code', 'query.x: must be y', 'req-1', 'LombardError'],
      );
      assert.equal(server.seen.length, 1);
    });
  }
});

describe('a change', () => {
  const CHANGES: [string, (lombard: Lombard) => Promise<unknown>][] = [
    ['authorise', ({ payments }) => payments.authorise('PAY1')],
    ['reject', ({ payments }) => payments.reject('PAY1')],
    ['cancel', ({ payments }) => payments.cancel('PAY1')],
    ['statement', ({ statements }) => statements.request({ date_from: '2026-07-01', date_to: '2026-07-31' })],
    ['replace', ({ approvals }) => approvals.replace({ groups: [], ruleset: { currency: 'EUR', rules: [] } })],
    ['multi payment', ({ multipayments }) => multipayments.reject('MP1')],
    ['create', ({ subscriptions }) => subscriptions.create({ url: 'https://a.example/', types: [] })],
    ['update', ({ subscriptions }) => subscriptions.update('S1', { active: true })],
    ['delete', ({ subscriptions }) => subscriptions.delete('S1')],
    ['ping', ({ subscriptions }) => subscriptions.ping('S1')],
    ['graphql', (lombard) => lombard.graphql('mutation { deleteSubscription(input: {id: "1"}) { clientMutationId } }')],
    ['call', (lombard) => lombard.call('DELETE /payments/{payment_id}', { path: { payment_id: 'PAY1' } })],
  ];
  for (const [name, change] of CHANGES) {
    test(`${name}: never after 5xx or a lost connection, always after 429`, async () => {
      for (const fault of [
        answer(500),
        answer(502),
        answer(503, undefined, { 'retry-after': '0' }),
        answer(504),
        cut,
        cutBody,
      ]) {
        server.script(fault, DONE);
        await failure(change(connect()));
        assert.equal(server.seen.length, 1);
      }
      const busy = refused(429, 'rate_limited', { 'retry-after': '0' });
      server.script(busy, busy, busy, DONE);
      assert.equal((await failure(change(connect()))).code, 'rate_limited');
      assert.equal(server.seen.length, 3);
      const [first, , third] = server.seen;
      assert.deepEqual([third?.method, third?.path, third?.body], [first?.method, first?.path, first?.body]);
    });
  }
});

describe('a POST with a key', () => {
  const key = { idempotencyKey: 'order-1' };
  const request = (lombard: Lombard) =>
    lombard.statements.request({ date_from: '2026-07-01', date_to: '2026-07-31' }, key);

  test('is sent again with the same key and body', async () => {
    for (const fault of [answer(502), cut, cutBody]) {
      server.script(fault, answer(202, 'accepted'));
      await request(connect());
      assert.deepEqual(
        server.seen.map(({ headers }) => headers['idempotency-key']),
        ['order-1', 'order-1'],
      );
      assert.equal(server.seen[0]?.body, server.seen[1]?.body);
    }
  });

  test('no other change is', async () => {
    server.script(cut, DONE);
    await failure(connect().call('DELETE /payments/{payment_id}', { path: { payment_id: 'PAY1' }, ...key }));
    assert.equal(server.seen.length, 1);
  });
});

describe('Retry-After', () => {
  test('a second is waited for, and a moment', async () => {
    server.script(refused(429, 'rate_limited', { 'retry-after': '1' }), DONE);
    const began = performance.now();
    await connect().payments.authorise('PAY1');
    assert.ok(performance.now() - began >= 990);
    const moment = new Date(Date.now() + 2_000).toUTCString();
    server.script(refused(429, 'rate_limited', { 'retry-after': moment }), DONE);
    await connect().payments.authorise('PAY1');
    assert.ok(Date.now() >= Date.parse(moment) - 10);
    assert.equal(server.seen.length, 2);
  });
  test('more than two minutes are the caller’s affair', async () => {
    server.script(refused(429, 'rate_limited', { 'retry-after': '86400' }), DONE);
    assert.equal((await failure(connect().payments.authorise('PAY1'))).status, 429);
  });
  test('nonsense and nothing are a short wait', async () => {
    server.script(refused(429, 'rate_limited', { 'retry-after': 'soon' }), refused(429, 'rate_limited'), DONE);
    await connect().payments.authorise('PAY1');
    assert.equal(server.seen.length, 3);
  });
});

describe('time limit and abort', () => {
  test('an attempt that takes too long ends as timeout, and is not repeated', async () => {
    for (const fault of [silence, (response) => response.writeHead(200).write('{')] as Fault[]) {
      server.script(fault);
      let attempts = 0;
      const counting: typeof fetch = (...given) => {
        attempts += 1;
        return fetch(...given);
      };
      const error = await failure(connect({ timeout: 50, fetch: counting }).payments.get('PAY1'));
      assert.deepEqual([error.code, error.status, attempts], ['timeout', undefined, 1]);
    }
  });

  test('an abort rejects with AbortError: before, during the request, in the wait before a repetition', async () => {
    for (const reason of [undefined, new Error('my own'), 'text']) {
      server.script(refused(429, 'rate_limited', { 'retry-after': '60' }));
      await assert.rejects(connect().payments.get('P', { signal: AbortSignal.abort(reason) }), { name: 'AbortError' });
      assert.equal(server.seen.length, 0);
      const during = new AbortController();
      server.script(() => during.abort(reason));
      await assert.rejects(connect().payments.get('P', { signal: during.signal }), { name: 'AbortError' });
      const waiting = new AbortController();
      server.script((...given) => {
        refused(429, 'rate_limited', { 'retry-after': '60' })(...given);
        setTimeout(() => waiting.abort(reason), 50);
      });
      await assert.rejects(connect().payments.get('P', { signal: waiting.signal }), { name: 'AbortError' });
      assert.equal(server.seen.length, 1);
    }
    server.script(silence);
    await assert.rejects(connect().payments.get('P', { signal: AbortSignal.timeout(20) }), { name: 'AbortError' });
  });

  test('every method takes a signal', async () => {
    const signal = AbortSignal.abort();
    const lombard = connect();
    const {
      payments,
      beneficiaries,
      balances,
      transactions,
      accounts,
      approvals,
      subscriptions,
      statements,
      documents,
    } = lombard;
    const config = { groups: [], ruleset: { currency: 'EUR', rules: [] } };
    for (const call of [
      payments.search({}, { signal }).page(),
      payments.search({}, { signal }).total,
      payments.search({}, { signal })[Symbol.asyncIterator]().next(),
      payments.authorise('P', { signal }),
      payments.reject('P', { signal }),
      payments.cancel('P', { signal }),
      payments.approvals('P', { signal }),
      accounts.list({ signal }),
      accounts.get('A', { signal }),
      accounts.all({}, { signal }),
      accounts.statement('A', { from_value_datetime: '2026-07-01T00:00:00Z' }, { signal }),
      payments.create({ payments: [] }, { signal }),
      payments.decide('reject', { payment_ids: [] }, { signal }),
      payments.challenge(['P'], { signal }),
      beneficiaries.list({}, { signal }).page(),
      beneficiaries.search({}, { signal }).page(),
      beneficiaries.get('B', { signal }),
      beneficiaries.create(PAYEE, { signal }),
      beneficiaries.update('B', {}, { signal }),
      beneficiaries.delete('B', { signal }),
      balances.list({}, { signal }),
      transactions.list({ currencies: 'EUR' }, { signal }).page(),
      lombard.quotes.fxAvailable({ signal }),
      statements.request({ date_from: '2026-07-01', date_to: '2026-07-31' }, { signal }),
      documents.get('pi', 'P', { signal }),
      approvals.settings({ signal }),
      approvals.configuration({ signal }),
      approvals.replace(config, { signal }),
      approvals.rehearse(config, { signal }),
      approvals.versions({ signal }).page(),
      lombard.multipayments.reject('M', { signal }),
      lombard.massBeneficiaries.get('M', { signal }),
      lombard.massBeneficiaries.errors('M', {}, { signal }).page(),
      lombard.massBeneficiaries.beneficiaries('M', {}, { signal }).page(),
      lombard.massBeneficiaries.waitUntil('M', 'created', { signal }),
      subscriptions.list({ signal }),
      subscriptions.create({ url: 'https://a.example', types: [] }, { signal }),
      subscriptions.update('S', {}, { signal }),
      subscriptions.delete('S', { signal }),
      subscriptions.ping('S', { signal }),
      lombard.graphql('{ webhookTypes }', {}, { signal }),
      lombard.call('GET /accounts/currency-accounts', { signal }),
    ])
      await assert.rejects(call, { name: 'AbortError' });
  });

  test('a fetch that knows no signals is left behind', async () => {
    const deaf: typeof fetch = () => new Promise(() => {});
    assert.equal((await failure(connect({ fetch: deaf, timeout: 20 }).payments.get('P'))).code, 'timeout');
    await assert.rejects(connect({ fetch: deaf }).payments.get('P', { signal: AbortSignal.timeout(20) }), {
      name: 'AbortError',
    });
  });
});

describe('what is sent and understood', () => {
  test('an address with a path, identifiers with any character, parameters that are undefined', async () => {
    server.script(OK);
    const lombard = connect({ baseUrl: `${server.url}/lombard/?x=1#y`, clientId: 'CLI & 1' });
    await lombard.payments.get('PAY/1 ä?');
    assert.equal(server.seen[0]?.path, '/lombard/payments/PAY%2F1%20%C3%A4%3F');
    assert.equal(server.seen[0]?.query.get('client_id'), 'CLI & 1');
    assert.equal(server.seen[0]?.headers.authorization, 'Bearer token');
    server.script(answer(200, [], { 'x-total-count': '0' }));
    await lombard.call('GET /payments', { query: { status: 'pending', ...({ reference: undefined } as object) } });
    assert.equal(server.seen[0]?.query.toString(), 'client_id=CLI+%26+1&status=pending');
    for (const id of ['', '.', '..', 7 as unknown as string])
      await assert.rejects(lombard.payments.get(id), { name: 'TypeError', message: /^payment_id: / });
  });

  test('an option that is wrong is named', () => {
    const given = { baseUrl: server.url, clientId: 'CLI1' };
    for (const [name, wrong] of Object.entries({
      baseUrl: 'nowhere',
      clientId: '',
      retries: -1,
      timeout: 0,
      authUrl: 'ftp://a.example',
      refreshToken: 'alone',
    }))
      assert.throws(() => new Lombard({ ...given, [name]: wrong }), {
        name: 'TypeError',
        message: new RegExp(`^${name}: `),
      });
  });

  test('what is no answer of the service is invalid_response', async () => {
    server.script(answer(200, '<html>', { 'content-type': 'application/json' }));
    assert.equal((await failure(connect().payments.get('P'))).code, 'invalid_response');
    server.script(answer(200, []));
    const error = await failure(connect().payments.search().page());
    assert.deepEqual([error.code, error.status], ['invalid_response', 200]);
    assert.match(error.details, /x-total-count/);
    server.script(answer(404, 'null', { 'content-type': 'application/json' }));
    assert.equal((await failure(connect().payments.get('P'))).code, 'invalid_response');
  });

  test('an error of GraphQL has its code and message', async () => {
    const errors = [
      { message: 'id: is no subscription of the client', extensions: { code: 'subscription_not_found' } },
    ];
    server.script(answer(200, { data: { updateSubscription: null }, errors }, { 'x-request-id': 'req-2' }));
    const error = await failure(connect().subscriptions.update('S', {}));
    assert.deepEqual(
      [error.status, error.code, error.details, error.requestId],
      [200, 'subscription_not_found', errors[0]?.message, 'req-2'],
    );
    server.script(answer(400, { errors: [{ message: 'Syntax Error' }] }));
    assert.deepEqual(
      [(await failure(connect().graphql('{'))).code, (await failure(connect().graphql('{'))).status],
      ['graphql_error', 400],
    );
  });
});
