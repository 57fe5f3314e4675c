import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { FX_OPEN, moveClock } from '../world/exchange.ts';
import { filesOf, NEW, ROW } from '../world/files.ts';
import { type OrdersWorld, ordersWorld } from '../world/orders.ts';
import { type Answer, startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** What changes while a file of payments waits, and what comes at the same moment (instructions, second page, 8). */

let service: TestService;
before(async () => {
  service = await startTestService();
  await moveClock(service, FX_OPEN);
  await setRates(1.185);
});
after(() => service.stop());

const setRates = (EUR: number) =>
  service.operator('PUT', '/exchange-rates', { base_currency: 'GBP', rates: { EUR, USD: 1.25 } });
const setFx = async (mode: 'open' | 'closed' | 'auto') =>
  assert.equal((await service.operator('PUT', '/fx-availability', { mode })).status, 200);
const refusal = ({ status, body }: Answer) => [status, body?.code];
const selling = { sell_currency: 'GBP', funding_account_id: undefined, reason: 'other' };
const ORDERING = ['can_create_payments', 'can_manage_multipayments', 'can_trade', 'can_manage_beneficiaries'];

/** A file as the institution reads it: its client may be disabled. */
const seen = async (id: string) => (await service.operator('GET', `/mass-payments/${id}`)).body;
const ended = (id: string) =>
  until(async () => {
    const file = await seen(id);
    return ['Created', 'Failed'].includes(file.mass_payment_status) && file;
  });
const waitsForFx = (id: string) =>
  until(
    async () =>
      (await service.query('select waited from mass_payments where mass_payment_id = $1', [id])).rows[0].waited,
  );
const errorsOf = async (world: OrdersWorld, id: string) =>
  (await filesOf(service, world).errors(id)).map((row: { request_index: number; errors: { code: string }[] }) => [
    row.request_index,
    row.errors.map(({ code }) => code).join(),
  ]);

describe('while a file waits', () => {
  for (const [name, change] of [
    [
      'its client is disabled',
      (world: OrdersWorld) => service.operator('PATCH', `/clients/${world.clientId}`, { status: 'disabled' }),
    ],
    [
      'its maker is disabled',
      (_world: OrdersWorld, id: string) => service.operator('PATCH', `/contacts/${id}`, { status: 'disabled' }),
    ],
    ...ORDERING.map((permission): [string, (world: OrdersWorld, id: string) => Promise<Answer>] => [
      `its maker loses ${permission}`,
      (world, id) =>
        service.operator('PATCH', `/contacts/${id}`, {
          clients: [{ client_id: world.clientId, permissions: ORDERING.filter((each) => each !== permission) }],
        }),
    ]),
  ] as const)
    test(`${name}: it has failed, and made nothing`, async () => {
      await setFx('closed');
      const world = await ordersWorld(service, { client: { fx_enabled: true } });
      const files = filesOf(service, world);
      const { id: maker, token } = await world.clerk(ORDERING);
      const rows = [files.row(10), { ...ROW, payment_amount: 5, ...NEW }];
      const { mass_payment_id: id } = await files.judged(files.file(rows, selling), token);
      assert.equal((await files.confirm(id)).status, 202);
      await waitsForFx(id);
      const changed = await change(world, maker);
      assert.equal(changed.status, 200, changed.text);
      await setFx('open');
      const file = await ended(id);
      assert.deepEqual([file.mass_payment_status, file.error?.code], ['Failed', 'permission_denied']);
      assert.deepEqual([file.trades_created, file.payments_summary.payments_created], [0, 0]);
    });

  test('a permission that none of its rows needs may go', async () => {
    const world = await ordersWorld(service);
    const files = filesOf(service, world);
    const { id: maker, token } = await world.clerk(ORDERING);
    const { mass_payment_id: id } = await files.judged(files.file([files.row(10)]), token);
    const kept = ['can_create_payments', 'can_manage_multipayments'];
    await service.operator('PATCH', `/contacts/${maker}`, {
      clients: [{ client_id: world.clientId, permissions: kept }],
    });
    await files.confirm(id);
    assert.equal((await ended(id)).mass_payment_status, 'Created');
  });

  test('FX closes again and opens: it is made once, at the price of then', async () => {
    await setFx('closed');
    await setRates(1.185);
    const world = await ordersWorld(service, { client: { fx_enabled: true } });
    const files = filesOf(service, world);
    const { mass_payment_id: id } = await files.judged(files.file([files.row(10)], selling));
    await files.confirm(id, { maximum_sell_amount: 8 });
    await waitsForFx(id);
    await setFx('open');
    await files.reaches(id, 'Processed');
    assert.equal((await files.get(id)).error.code, 'rate_moved');
    await setFx('closed');
    await files.confirm(id);
    await waitsForFx(id);
    await setRates(1.3);
    await setFx('open');
    const file = await ended(id);
    assert.deepEqual([file.mass_payment_status, file.sell_amount, file.trades_created], ['Created', 7.73, 1]);
    await setRates(1.185);
  });

  test('its account is emptied: what is not covered is told, and no money is spent twice', async () => {
    const world = await ordersWorld(service, { funds: '100.00' });
    const files = filesOf(service, world);
    const { mass_payment_id: id } = await files.judged(files.file([60, 30, 20, 10].map((amount) => files.row(amount))));
    assert.equal((await world.order([world.payment('45.00')])).status, 201);
    const debit = await world.book('DEBIT_TRANSACTION', '5.00');
    assert.equal(debit.status, 201, debit.text);
    await files.confirm(id);
    const file = await ended(id);
    assert.deepEqual([file.mass_payment_status, file.payments_summary.payments_created], ['Created', 2]);
    assert.deepEqual(await errorsOf(world, id), [
      [0, 'insufficient_funds'],
      [3, 'insufficient_funds'],
    ]);
    assert.equal(Number((await world.funds())[2]), 0);
  });

  test('its payee is blocked, or deactivated: the row is refused with that', async () => {
    const world = await ordersWorld(service);
    const files = filesOf(service, world);
    const make = async (iban: string) => {
      const made = await service.operator('POST', '/beneficiaries', {
        ...{ client_id: world.clientId, beneficiary_name: iban, iban, swift_code: 'COBADEFFXXX', currency: 'EUR' },
      });
      return made.body.beneficiary_id as string;
    };
    const [blocked, gone] = [await make('DE02120300000000202051'), await make('DE02500105170137075030')];
    const named = [blocked, gone].map((beneficiary_id) => files.row(1, { beneficiary_id }));
    const described = { ...ROW, payment_amount: 2, ...NEW, beneficiary_name: 'DE02500105170137075030' };
    const rows = [...named, { ...described, iban: 'DE02500105170137075030' }, files.row(3)];
    const { mass_payment_id: id } = await files.judged(files.file(rows));
    await service.operator('PATCH', `/beneficiaries/${blocked}`, { beneficiary_blocked: true });
    await service.operator('PATCH', `/beneficiaries/${gone}`, { beneficiary_active: false });
    await files.confirm(id);
    const file = await ended(id);
    assert.equal(file.payments_summary.payments_created, 1);
    assert.deepEqual(await errorsOf(world, id), [
      [0, 'beneficiary_blocked'],
      [1, 'beneficiary_not_found'],
      [2, 'beneficiary_not_found'],
    ]);
  });

  test('a limit comes whose rate nobody knows: its rows are refused, and other files go on', async () => {
    const world = await ordersWorld(service);
    const files = filesOf(service, world);
    await world.pays('10.00');
    const { mass_payment_id: id } = await files.judged(files.file([files.row(1)]));
    const limit = { daily_payment_limit: { amount: 100, currency: 'ZAR' } };
    assert.equal((await service.operator('PATCH', `/clients/${world.clientId}`, limit)).status, 200);
    await files.confirm(id);
    const file = await ended(id);
    assert.deepEqual([file.mass_payment_status, file.payments_summary.payments_errored], ['Created', 1]);
    assert.deepEqual(file.sums, []);
    assert.deepEqual(await errorsOf(world, id), [[0, 'exchange_rate_missing']]);
  });
});

describe('other files', () => {
  test('go on while many wait for FX', async () => {
    await setFx('closed');
    const world = await ordersWorld(service, { client: { fx_enabled: true } });
    const files = filesOf(service, world);
    const waiting = [];
    for (let n = 1; n <= 21; n += 1) {
      const { mass_payment_id: id } = await files.judged(files.file([files.row(n)], selling));
      assert.equal((await files.confirm(id)).status, 202);
      waiting.push(id);
    }
    for (const id of waiting) await waitsForFx(id);
    assert.equal((await files.judged(files.file([files.row(1)]))).mass_payment_status, 'Processed');
    await setFx('open');
    for (const id of waiting) assert.equal((await ended(id)).mass_payment_status, 'Created');
  });

  test('go on while one cannot be worked on', async () => {
    const world = await ordersWorld(service);
    const files = filesOf(service, world);
    const { mass_payment_id: broken } = await files.judged(files.file([files.row(1)]));
    await service.query(`update mass_payment_rows set faults = '5' where mass_payment_id = $1`, [broken]);
    await files.confirm(broken);
    const { mass_payment_id: id } = await files.judged(files.file([files.row(2)]));
    await files.confirm(id);
    assert.equal((await ended(id)).mass_payment_status, 'Created');
    assert.equal((await seen(broken)).mass_payment_status, 'Queued for creating');
    // Nothing is lost: once it can be worked on, it goes on.
    await service.query('update mass_payment_rows set faults = null where mass_payment_id = $1', [broken]);
    assert.equal((await ended(broken)).mass_payment_status, 'Created');
  });
});

describe('at the same moment', () => {
  test('files with one reference: one is taken, whatever they are of', async () => {
    const world = await ordersWorld(service);
    const files = filesOf(service, world);
    const reference = 'SAME';
    const query = `&external_reference_id=${reference}&auto_commit=true&sell_currency=EUR&funding_account_id=${world.account}&reason=other`;
    const csv = `payment_currency,payment_amount,payment_reference,direction,trade_type,beneficiary_id\nEUR,1,Invoice,buy,spot,${world.beneficiaryId}\n`;
    const json = (amount: number) => files.send(files.file([files.row(amount)], { external_reference_id: reference }));
    const sent = await Promise.all([json(1), json(2), files.csv(csv, query), json(3), files.csv(csv, query)]);
    assert.deepEqual(sent.map(({ status }) => status).sort(), [202, 409, 409, 409, 409]);
    for (const each of sent.filter(({ status }) => status === 409))
      assert.deepEqual(refusal(each), [409, 'already_exists']);
    const other = await ordersWorld(service);
    const elsewhere = filesOf(service, other);
    const taken = await elsewhere.send(elsewhere.file([elsewhere.row(1)], { external_reference_id: reference }));
    assert.equal(taken.status, 202, 'a reference is of one client');
  });

  test('equal files: each payment is covered once, and one new payee is made', async () => {
    const world = await ordersWorld(service, { funds: '100.00' });
    const files = filesOf(service, world);
    const rows = [files.row(40), { ...ROW, payment_amount: 30, ...NEW }];
    const sent = await Promise.all([1, 2, 3].map(() => files.send(files.file(rows, { auto_commit: true }))));
    const made = await Promise.all(sent.map(({ body }) => ended(body.mass_payment_id)));
    assert.deepEqual(
      made.map(({ mass_payment_status: status }) => status),
      ['Created', 'Created', 'Created'],
    );
    const created = made.map(({ payments_summary: counts }) => counts.payments_created);
    assert.deepEqual(created.toSorted(), [0, 1, 2]);
    assert.equal(Number((await world.funds())[2]), 0);
    const { body: payees } = await world.ask('GET', '/beneficiaries', undefined, '&name=neu gmbh');
    assert.equal(payees.length, 1);
  });

  test('a file is confirmed and taken back: one of both', async () => {
    const world = await ordersWorld(service);
    const files = filesOf(service, world);
    for (let round = 1; round <= 5; round += 1) {
      const { mass_payment_id: id } = await files.judged(files.file([files.row(round)]));
      const answers = await Promise.all([
        files.confirm(id),
        files.confirm(id),
        world.ask('DELETE', `/mass-payments/${id}`),
      ]);
      const { mass_payment_status: status, payments_summary: counts } = await until(async () => {
        const file = await seen(id);
        return ['Created', 'Cancelled'].includes(file.mass_payment_status) && file;
      });
      const [confirmed, again, cancelled] = answers.map((answer) => answer.status);
      assert.ok(confirmed === 409 || again === 409, `${confirmed} ${again}`);
      assert.deepEqual([status, counts.payments_created], cancelled === 204 ? ['Cancelled', 0] : ['Created', 1]);
    }
  });
});

test('rows that are no objects are equal where they are the same', async () => {
  const world = await ordersWorld(service);
  const files = filesOf(service, world);
  const rows = [files.row(1), 'x', 5, null, [1], [2], {}, 'x', [2]];
  const { mass_payment_id: id } = await files.judged(files.file(rows));
  const duplicates = (await errorsOf(world, id)).filter(([, codes]: [number, string]) =>
    codes.includes('duplicate_row'),
  );
  assert.deepEqual(
    duplicates.map(([index]: [number]) => index),
    [7, 8],
  );
});

test('while requests are answered, a file is made few rows at a time', async () => {
  const world = await ordersWorld(service);
  const files = filesOf(service, world);
  const rows = Array.from({ length: 60 }, (_, n) => files.row((100 + n) / 100));
  const { body: sent } = await files.send(files.file(rows, { auto_commit: true }));
  const { payments_summary: counts } = await files.reaches(sent.mass_payment_id, 'Created', 'Failed');
  assert.equal(counts.payments_created, 60);
  const { rows: made } = await service.query(
    'select count(distinct created)::int as batches from payments where mass_payment_id = $1',
    [sent.mass_payment_id],
  );
  assert.ok(made[0].batches > 2, `${made[0].batches}`);
});
