import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { FX_OPEN, moveClock } from '../world/exchange.ts';
import { filesOf as filesOfWorld, NEW, ROW } from '../world/files.ts';
import { type OrdersWorld, ordersWorld } from '../world/orders.ts';
import { type Answer, call, startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** Many payments in one file (instructions, second page, 8). */

let service: TestService;
before(async () => {
  service = await startTestService();
  await moveClock(service, FX_OPEN);
  await service.operator('PUT', '/exchange-rates', { base_currency: 'GBP', rates: { EUR: 1.185, USD: 1.25 } });
});
after(() => service.stop());

const filesOf = (world: OrdersWorld) => filesOfWorld(service, world);
/** How many trades of a file are taken as a whole, and how many rows wait until they are added to their trades. */
const allocated = async (id: string) => {
  const { rows } = await service.query(
    `select count(*) filter (where t.allocated = t.buy_amount)::int as taken, count(d.trade_id)::int as deltas
     from trades t left join trade_allocation_deltas d using (client_id, trade_id) where t.mass_payment_id = $1`,
    [id],
  );
  return rows[0];
};
const refusal = ({ status, body }: Answer) => [status, body?.code];

describe('a file of JSON', () => {
  test('is judged row by row, held for its confirmation, and made once', async () => {
    const world = await ordersWorld(service, { funds: '5000.00' });
    const files = filesOf(world);
    const bad = new Set([3, 77, 150, 151, 152, 198, 199]);
    const rows = Array.from({ length: 200 }, (_, n) =>
      files.row((100 + n) / 100, { instruction_id: `I-${n}`, ...(bad.has(n) && { beneficiary_id: 'BEN999999' }) }),
    );
    const held = await files.judged(files.file(rows));
    const { mass_payment_id: id } = held;
    assert.equal(held.mass_payment_status, 'Processed');
    assert.deepEqual(held.payments_summary, {
      ...{ payments_received: 200, payments_processed: 200, payments_errored: 7, payments_created: 0 },
    });
    const errors = await world.ask('GET', `/mass-payments/${id}/errors`, undefined, '&page_size=5');
    assert.equal(errors.headers.get('x-total-count'), '7');
    assert.deepEqual(
      errors.body.map((row: { request_index: number }) => row.request_index),
      [3, 77, 150, 151, 152],
    );
    const { errors: faults, request_index: _index, ...sent } = errors.body[0];
    assert.deepEqual(sent, rows[3]);
    assert.equal(faults[0].code, 'beneficiary_not_found');
    assert.equal((await files.confirm(id)).status, 202);
    const made = await files.reaches(id, 'Created', 'Failed');
    assert.equal(made.mass_payment_status, 'Created');
    assert.deepEqual(made.payments_summary, {
      ...{ payments_received: 200, payments_processed: 200, payments_errored: 7, payments_created: 193 },
    });
    assert.deepEqual([made.trades_created, made.new_beneficiaries, made.sums[0].payments], [193, 0, 193]);
    const found = await world.ask('GET', '/payments', undefined, `&mass_payment_id=${id}&page_size=500`);
    assert.equal(found.body.length, 193);
    const trades = await world.ask('GET', '/trades', undefined, `&mass_payment_id=${id}&page_size=1`);
    assert.equal(trades.headers.get('x-total-count'), '193', 'those of single payments too');
    assert.equal((await world.trade(trades.body[0].trade_id)).mass_payment_id, id);
    assert.deepEqual(await allocated(id), { taken: 193, deltas: 0 }, 'by their own payments, without a roll-up');
    const references = new Set(found.body.map(({ payment_id: payment }: { payment_id: string }) => payment));
    assert.equal(references.size, 193);
    const received = await world.ask('GET', `/mass-payments/${id}/payments-received`, undefined, '&page_size=1000');
    assert.deepEqual(
      [received.body.length, received.body[0].status, received.body[3].status, received.body[3].payment_id],
      [200, 'created', 'invalid', null],
    );
    assert.equal(received.text.match(/"beneficiary_id":/g)?.length, 200, 'each row names its payee once');
    const paid = await world.paid(received.body[0].payment_id);
    assert.deepEqual(
      [paid.mass_payment_id, paid.request_index, paid.instruction_id, paid.source, paid.reason, paid.contact_id],
      [id, 0, 'I-0', 'client', 'salary_payroll', world.ordererId],
    );
    const [, held_, available] = await world.funds();
    assert.equal(Number(held_) + Number(available), 5000);
    assert.deepEqual(refusal(await files.confirm(id)), [409, 'transition_not_allowed']);
  });

  test('goes on by itself where no row is bad', async () => {
    const world = await ordersWorld(service);
    const files = filesOf(world);
    const sent = await files.send(
      files.file([files.row(10), { ...ROW, payment_amount: 5, ...NEW }], { auto_commit: true }),
    );
    assert.deepEqual(Object.keys(sent.body), ['mass_payment_id', 'external_reference_id', 'mass_payment_status']);
    const made = await files.reaches(sent.body.mass_payment_id, 'Created', 'Failed');
    assert.deepEqual(
      [made.mass_payment_status, made.new_beneficiaries, made.payments_summary.payments_created],
      ['Created', 1, 2],
    );
    const bad = await files.judged(files.file([files.row(10), files.row(10)], { auto_commit: true }));
    assert.deepEqual(
      [bad.mass_payment_status, bad.payments_summary.payments_errored],
      ['Processed', 1],
      'an equal row',
    );
    const errors = await world.ask('GET', `/mass-payments/${bad.mass_payment_id}/errors`);
    assert.deepEqual([errors.body[0].request_index, errors.body[0].errors[0].code], [1, 'duplicate_row']);
  });

  test('an unknown field, a wrong type, a row that is no object and a missing permission are faults of their rows', async () => {
    const world = await ordersWorld(service);
    const files = filesOf(world);
    const rows = [
      files.row(1),
      files.row(1, { note: 1 }),
      files.row(1, { payment_amount: '1' }),
      'x' as never,
      files.row(2),
    ];
    const held = await files.judged(files.file(rows));
    const { body } = await world.ask('GET', `/mass-payments/${held.mass_payment_id}/errors`);
    assert.deepEqual(
      body.map((row: { request_index: number; errors: { code: string }[] }) => [
        row.request_index,
        row.errors[0]?.code,
      ]),
      [
        [1, 'unknown_field'],
        [2, 'invalid_format'],
        [3, 'invalid_format'],
      ],
    );
    const { token } = await world.clerk(['can_create_payments', 'can_manage_multipayments']);
    const sent = await files.send(files.file([{ ...ROW, payment_amount: 1, ...NEW }]), token);
    const failed = await files.reaches(sent.body.mass_payment_id, 'Processed', 'Failed');
    assert.deepEqual([failed.mass_payment_status, failed.error.code], ['Failed', 'payments_invalid']);
    const row = (await world.ask('GET', `/mass-payments/${sent.body.mass_payment_id}/errors`)).body[0];
    assert.equal(row.errors[0].code, 'permission_denied');
  });

  test('a row is told as it was sent, and no name stands twice beside it', async () => {
    const world = await ordersWorld(service);
    const files = filesOf(world);
    const odd = '{"payment_amount":1.50,"errors":"mine","request_index":77,"status":"x"}';
    const sent = await call(`${service.api}/mass-payments?client_id=${world.clientId}`, 'POST', {
      ...{ token: world.token, headers: { 'content-type': 'application/json' } },
      raw: JSON.stringify(files.file([files.row(1), 'ODD'])).replace('"ODD"', odd),
    });
    assert.equal(sent.status, 202, sent.text);
    const id = sent.body.mass_payment_id;
    await files.reaches(id, 'Processed');
    for (const list of ['payments-received', 'errors']) {
      const { text, body } = await world.ask('GET', `/mass-payments/${id}/${list}`);
      assert.equal(text.match(/"request_index":/g)?.length, body.length, text);
      assert.equal(text.match(/"beneficiary_id":/g)?.length ?? 0, list === 'errors' ? 0 : body.length, text);
      assert.ok(text.includes('"payment_amount":1.50,'), text);
      assert.deepEqual(body.at(-1).request_index, 1, text);
    }
    const [row] = (await world.ask('GET', `/mass-payments/${id}/payments-received`)).body;
    assert.deepEqual([row.status, row.beneficiary_id], ['valid', world.beneficiaryId]);
  });

  test('rows that the account no longer covers are errors; the others are made', async () => {
    const world = await ordersWorld(service, { funds: '100.00' });
    const files = filesOf(world);
    const held = await files.judged(files.file([60, 50, 40].map((amount) => files.row(amount))));
    await files.confirm(held.mass_payment_id);
    const made = await files.reaches(held.mass_payment_id, 'Created', 'Failed');
    assert.deepEqual(made.payments_summary, {
      ...{ payments_received: 3, payments_processed: 3, payments_errored: 1, payments_created: 2 },
    });
    const { body } = await world.ask('GET', `/mass-payments/${held.mass_payment_id}/errors`);
    assert.deepEqual([body[0].request_index, body[0].errors[0].code], [1, 'insufficient_funds']);
  });

  test('is taken back, once', async () => {
    const world = await ordersWorld(service);
    const files = filesOf(world);
    const held = await files.judged(files.file([files.row(1)]));
    const cancel = () => world.ask('DELETE', `/mass-payments/${held.mass_payment_id}`);
    assert.equal((await cancel()).status, 204);
    assert.equal((await files.get(held.mass_payment_id)).mass_payment_status, 'Cancelled');
    assert.deepEqual(refusal(await cancel()), [409, 'transition_not_allowed']);
  });

  test('a reference is used once for ever, also at once', async () => {
    const world = await ordersWorld(service);
    const files = filesOf(world);
    const file = files.file([files.row(1)]);
    const both = await Promise.all([files.send(file), files.send(file)]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [202, 409]);
    assert.deepEqual(refusal(await files.send(file)), [409, 'already_exists']);
    const { body } = await world.ask(
      'GET',
      '/mass-payments',
      undefined,
      `&external_reference_id=${file.external_reference_id}`,
    );
    assert.equal(body.length, 1);
    assert.equal((await world.ask('GET', '/mass-payments', undefined, '&mass_payment_status=Created')).body.length, 0);
    assert.deepEqual(refusal(await world.ask('GET', `/mass-payments/${randomUUID()}`)), [
      404,
      'mass_payment_not_found',
    ]);
  });

  test('its fields are checked', async () => {
    const world = await ordersWorld(service);
    const files = filesOf(world);
    const rows = [files.row(1)];
    for (const [fields, field] of [
      [{ external_reference_id: '' }, 'external_reference_id'],
      [{ external_reference_id: 'é' }, 'external_reference_id'],
      [{ auto_commit: 'yes' }, 'auto_commit'],
      [{ sell_currency: undefined, trade_id: undefined, funding_account_id: undefined }, 'sell_currency'],
      [{ trade_id: 'TRD000001' }, 'trade_id'],
      [{ reason: undefined }, 'reason'],
      [{ maximum_sell_amount: 0 }, 'maximum_sell_amount'],
      [{ maximum_sell_amount: 10.125 }, 'maximum_sell_amount'],
      [{ payment_instructions: [] }, 'payment_instructions'],
      [{ note: 1 }, 'note'],
    ] as const) {
      const refused = await files.send(files.file(rows, fields));
      assert.deepEqual(refusal(refused), [400, 'invalid_body'], JSON.stringify(fields));
      assert.ok(refused.body.details.startsWith(`body.${field}`), refused.text);
    }
    assert.deepEqual(refusal(await files.send(files.file(rows, { funding_account_id: 999_999 }))), [
      404,
      'currency_account_not_found',
    ]);
    const ofTrade = { sell_currency: undefined, funding_account_id: undefined, trade_id: 'TRD999999' };
    assert.deepEqual(refusal(await files.send(files.file(rows, ofTrade))), [404, 'trade_not_found']);
    const { token } = await world.clerk(['can_create_payments']);
    assert.deepEqual(refusal(await files.send(files.file(rows), token)), [403, 'permission_denied']);
  });
});

test('a row of nothing but unknown fields tells ten of them, and costs as others do', async () => {
  const world = await ordersWorld(service);
  const files = filesOf(world);
  const noise = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`field ${n}`, n]));
  const held = await files.judged(files.file([noise, files.row(1)]));
  assert.equal(held.payments_summary.payments_errored, 1);
  const { status, body } = await world.ask('GET', `/mass-payments/${held.mass_payment_id}/errors`);
  assert.equal(status, 200);
  const unknown = body[0].errors.filter(({ code }: { code: string }) => code === 'unknown_field');
  assert.deepEqual([unknown.length, Object.keys(body[0]).length], [10, 100_002]);
});

describe('a file of CSV', () => {
  const HEADER = 'payment_currency,payment_amount,payment_reference,direction,trade_type,beneficiary_id,value_date';
  const query = (world: OrdersWorld, fields = '') =>
    `&external_reference_id=${randomUUID()}&auto_commit=false&sell_currency=EUR&funding_account_id=${world.account}&reason=other${fields}`;

  test('makes the same payments as JSON', async () => {
    const world = await ordersWorld(service);
    const files = filesOf(world);
    const line = (amount: string) => `EUR,${amount},"Invoice, 42",buy,spot,${world.beneficiaryId},`;
    const sent = await files.csv(`\ufeff${HEADER}\r\n${line('10.50')}\r\n${line('x')}\r\nEUR,1\r\n`, query(world));
    assert.equal(sent.status, 202, sent.text);
    const held = await files.reaches(sent.body.mass_payment_id, 'Processed', 'Failed');
    assert.deepEqual(
      [held.payments_summary.payments_errored, held.sums],
      [2, [{ currency: 'EUR', amount: 10.5, payments: 1 }]],
    );
    const { body } = await world.ask('GET', `/mass-payments/${held.mass_payment_id}/errors`);
    assert.deepEqual([body[0].payment_amount, body[0].errors[0].code], ['x', 'invalid_format']);
    assert.deepEqual(
      [body[1].payment_currency, body[1].errors[0].details],
      ['EUR', 'the row has 2 cells, and the header 7'],
    );
    await files.confirm(held.mass_payment_id);
    await files.reaches(held.mass_payment_id, 'Created');
    const rows = (await world.ask('GET', `/mass-payments/${held.mass_payment_id}/payments-received`)).body;
    const paid = await world.paid(rows[0].payment_id);
    assert.deepEqual([paid.amount, paid.reference], [10.5, 'Invoice, 42']);
  });

  test('empty lines are skipped, and the rows below keep their places', async () => {
    const world = await ordersWorld(service);
    const files = filesOf(world);
    const line = (amount: string) => `EUR,${amount},Invoice,buy,spot,${world.beneficiaryId},`;
    const text = [HEADER, '', line('10.50'), '', ' \t', line('x'), ',,,,,,', '', ''].join('\r\n');
    const sent = await files.csv(text, query(world));
    assert.equal(sent.status, 202, sent.text);
    const held = await files.reaches(sent.body.mass_payment_id, 'Processed', 'Failed');
    assert.deepEqual([held.payments_summary.payments_received, held.payments_summary.payments_errored], [3, 2]);
    const errors = await files.errors(held.mass_payment_id);
    assert.deepEqual(
      errors.map((row: { request_index: number; errors: object[] }) => [row.request_index, row.errors.length]),
      [
        [4, 1],
        [5, 8],
      ],
    );
    const { body: rows } = await world.ask('GET', `/mass-payments/${held.mass_payment_id}/payments-received`);
    assert.deepEqual(
      rows.map((row: { request_index: number; status: string }) => [row.request_index, row.status]),
      [
        [1, 'valid'],
        [4, 'invalid'],
        [5, 'invalid'],
      ],
    );
    assert.deepEqual(refusal(await files.csv(`${HEADER}\n\n\n`, query(world))), [400, 'invalid_body']);
  });

  for (const [name, text] of [
    ['an unknown column', 'payment_currency,colour\nEUR,red\n'],
    ['a column twice', 'payment_currency,payment_currency\nEUR,EUR\n'],
    ['a quote that never ends', 'payment_currency\n"EUR\n'],
    ['a header alone', 'payment_currency\n'],
    ['nothing', ''],
    ['5,001 rows', `payment_currency\n${'EUR\n'.repeat(5_001)}`],
    ['a row behind 10,000 empty lines', `payment_currency\n${'\n'.repeat(10_000)}EUR\n`],
    ['NUL', 'payment_currency\nE\0R\n'],
    ['no UTF-8', Buffer.from('payment_reference\n\xff\n', 'latin1')],
  ] as const)
    test(`${name}: 400`, async () => {
      const world = await ordersWorld(service);
      assert.deepEqual(refusal(await filesOf(world).csv(text, query(world))), [400, 'invalid_body']);
    });

  test('its fields are parameters', async () => {
    const world = await ordersWorld(service);
    const files = filesOf(world);
    const text = `${HEADER}\nEUR,1,Invoice,buy,spot,${world.beneficiaryId},\n`;
    for (const [fields, code] of [
      ['&auto_commit=true&sell_currency=EUR', 'missing_parameter'],
      ['&external_reference_id=a&sell_currency=EUR', 'missing_parameter'],
      ['&external_reference_id=a&auto_commit=true', 'missing_parameter'],
      ['&external_reference_id=a&auto_commit=perhaps&sell_currency=EUR', 'invalid_parameter'],
      ['&external_reference_id=a&auto_commit=true&sell_currency=EUR&maximum_sell_amount=much', 'invalid_parameter'],
      ['&external_reference_id=a&auto_commit=true&sell_currency=EUR&maximum_sell_amount=1.000', 'invalid_parameter'],
      ['&external_reference_id=a&auto_commit=true&sell_currency=EUR&trade_id=TRD1', 'invalid_parameter'],
    ] as const)
      assert.deepEqual(refusal(await files.csv(text, fields)), [400, code], fields);
    const unknown = `&external_reference_id=a&auto_commit=true&sell_currency=EUR&reason=other&funding_account_id=999999`;
    const { status, body } = await files.csv(text, unknown);
    assert.deepEqual([status, body.code], [404, 'currency_account_not_found']);
    assert.match(body.details, /^query\.funding_account_id: /);
    const key = { 'idempotency-key': randomUUID() };
    const address = query(world);
    const [one, other] = [await files.csv(text, address, key), await files.csv(text, address, key)];
    assert.deepEqual([one.status, other.text], [202, one.text]);
  });
});

describe('with exchanges', () => {
  const selling = { sell_currency: 'GBP', funding_account_id: undefined, reason: 'other' };

  test('one trade for each currency and day, at the price of the moment, within what is accepted', async () => {
    await moveClock(service, FX_OPEN);
    const world = await ordersWorld(service, { client: { fx_enabled: true } });
    const files = filesOf(world);
    const held = await files.judged(files.file([files.row(100), files.row(50.5)], selling));
    assert.deepEqual([held.sell_amount, held.trades_created], [127.64, 0]);
    assert.ok(held.estimated_at);
    const finer = await files.confirm(held.mass_payment_id, { maximum_sell_amount: 100.001 });
    assert.deepEqual([finer.status, finer.body.errors?.[0].code], [400, 'invalid_format'], finer.text);
    assert.equal((await files.confirm(held.mass_payment_id, { maximum_sell_amount: 100 })).status, 202);
    const again = await files.reaches(held.mass_payment_id, 'Processed');
    await until(async () => (await files.get(held.mass_payment_id)).error !== null);
    assert.equal((await files.get(again.mass_payment_id)).error.code, 'rate_moved');
    assert.equal((await files.confirm(held.mass_payment_id, { maximum_sell_amount: 127.64 })).status, 202);
    const made = await files.reaches(held.mass_payment_id, 'Created', 'Failed');
    assert.deepEqual(
      [made.mass_payment_status, made.sell_amount, made.trades_created, made.error],
      ['Created', 127.64, 1, null],
    );
    const { body: trades } = await world.ask('GET', '/trades', undefined, `&mass_payment_id=${held.mass_payment_id}`);
    assert.deepEqual([trades.length, trades[0].buy_amount], [1, 150.5]);
  });

  test('waits for FX to open, and can be taken back meanwhile', async () => {
    // A Saturday.
    await moveClock(service, '2026-11-21T12:00:00Z');
    const world = await ordersWorld(service, { client: { fx_enabled: true } });
    const files = filesOf(world);
    const [one, other] = [
      await files.judged(files.file([files.row(10)], selling)),
      await files.judged(files.file([files.row(20)], selling)),
    ];
    for (const { mass_payment_id: id } of [one, other]) {
      assert.equal((await files.confirm(id)).status, 202);
      await until(
        async () =>
          (await service.query('select waited from mass_payments where mass_payment_id = $1', [id])).rows[0].waited,
      );
      assert.equal((await files.get(id)).mass_payment_status, 'Queued for creating');
    }
    assert.equal((await world.ask('DELETE', `/mass-payments/${other.mass_payment_id}`)).status, 204);
    await moveClock(service, FX_OPEN);
    assert.equal((await files.reaches(one.mass_payment_id, 'Created', 'Failed')).mass_payment_status, 'Created');
  });

  test('fails where its maker may no longer do this, or the money is not there', async () => {
    const world = await ordersWorld(service, { client: { fx_enabled: true } });
    const files = filesOf(world);
    const { body: account } = await service.operator('POST', '/currency-accounts', {
      client_id: world.clientId,
      currency: 'GBP',
    });
    const poor = await files.judged(
      files.file([files.row(10)], { ...selling, funding_account_id: account.account_id }),
    );
    await files.confirm(poor.mass_payment_id);
    const failed = await files.reaches(poor.mass_payment_id, 'Created', 'Failed');
    assert.deepEqual([failed.mass_payment_status, failed.error.code], ['Failed', 'insufficient_funds']);
    const { id, token } = await world.clerk(['can_create_payments', 'can_manage_multipayments']);
    const sent = await files.send(files.file([files.row(1)]), token);
    await files.reaches(sent.body.mass_payment_id, 'Processed');
    await service.operator('PATCH', `/contacts/${id}`, { clients: [{ client_id: world.clientId, permissions: [] }] });
    await files.confirm(sent.body.mass_payment_id);
    const denied = await files.reaches(sent.body.mass_payment_id, 'Created', 'Failed');
    assert.deepEqual([denied.mass_payment_status, denied.error.code], ['Failed', 'permission_denied']);
  });
});

test('the limit of the day takes rows in their order', async () => {
  const world = await ordersWorld(service);
  const files = filesOf(world);
  const limit = { daily_payment_limit: { amount: 100, currency: 'EUR' } };
  assert.equal((await service.operator('PATCH', `/clients/${world.clientId}`, limit)).status, 200);
  const held = await files.judged(files.file([60, 50, 40].map((amount) => files.row(amount))));
  await files.confirm(held.mass_payment_id);
  const made = await files.reaches(held.mass_payment_id, 'Created', 'Failed');
  assert.equal(made.payments_summary.payments_created, 2);
  const { body } = await world.ask('GET', `/mass-payments/${held.mass_payment_id}/errors`);
  assert.deepEqual([body[0].request_index, body[0].errors[0].code], [1, 'limit_exceeded']);
});

test('a payee in a file that waits is in use', async () => {
  const world = await ordersWorld(service);
  const files = filesOf(world);
  const held = await files.judged(files.file([files.row(1)]));
  const remove = () => world.ask('DELETE', `/beneficiaries/${world.beneficiaryId}`);
  assert.deepEqual(refusal(await remove()), [409, 'beneficiary_in_use']);
  await world.ask('DELETE', `/mass-payments/${held.mass_payment_id}`);
  assert.equal((await remove()).status, 204);
});
