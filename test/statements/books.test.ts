import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { startTestService, type TestService } from '../world/service.ts';
import { createStatementWorld, mailsOf, type StatementWorld } from '../world/statements.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

type Row = Record<string, string>;

async function csvOf(world: StatementWorld, body: object): Promise<Row[][]> {
  const answer = await world.ask({ format: 'csv', ...body });
  assert.equal(answer.status, 202, answer.text);
  const { statement_id: id } = await world.until('sent', 'failed');
  const [mail] = await mailsOf(service, id);
  assert.ok(mail, 'there is a mail');
  return mail.attachments.map(({ content }) => parse(Buffer.from(content, 'base64'), { columns: true, bom: true }));
}

/** Money in hundred-millionths, apart from the product's own arithmetic. */
function units(text: string): bigint {
  const [, sign, integer = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  assert.ok(integer !== '', text);
  return BigInt(`${sign}${integer}${fraction.padEnd(8, '0')}`);
}

/** A small generator, so that a seed gives the same transactions everywhere. */
function random(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** First and last instant of London days, written down from the law and not reckoned by the program. */
const LONDON_DAYS: [day: string, from: string, to: string][] = [
  ['2026-03-28', '2026-03-28T00:00:00Z', '2026-03-29T00:00:00Z'],
  ['2026-03-29', '2026-03-29T00:00:00Z', '2026-03-29T23:00:00Z'],
  ['2026-03-30', '2026-03-29T23:00:00Z', '2026-03-30T23:00:00Z'],
  ['2026-10-24', '2026-10-23T23:00:00Z', '2026-10-24T23:00:00Z'],
  ['2026-10-25', '2026-10-24T23:00:00Z', '2026-10-26T00:00:00Z'],
  ['2026-10-26', '2026-10-26T00:00:00Z', '2026-10-27T00:00:00Z'],
];

test('London days: each of the days around the clock changes has exactly its own instants', async () => {
  const world = await createStatementWorld(service, ['EUR']);
  const booked: [moment: number, id: string][] = [];
  for (const edge of new Set(LONDON_DAYS.flatMap(([, from, to]) => [from, to]))) {
    for (const shift of [-1, 0, 1]) {
      const moment = Date.parse(edge) + shift;
      const made = await world.book('EUR', 'CREDIT_TRANSACTION', '1.00', {
        booking_datetime: new Date(moment).toISOString(),
      });
      booked.push([moment, made.transaction_id]);
    }
  }
  for (const [day, from, to] of LONDON_DAYS) {
    const [rows = []] = await csvOf(world, { date_from: day, date_to: day });
    const expected = booked
      .filter(([moment]) => moment >= Date.parse(from) && moment < Date.parse(to))
      .sort(([a], [b]) => a - b)
      .map(([, id]) => id);
    assert.deepEqual(
      rows.filter((row) => row.entry === 'transaction').map((row) => row.transaction_id),
      expected,
      day,
    );
    assert.ok(expected.length >= 2);
    assert.equal(units(rows[0]?.balance ?? ''), units(`${booked.filter(([at]) => at < Date.parse(from)).length}.00`));
    assert.ok(rows.slice(1, -1).every((row) => row.booking_date === day));
  }
});

test('random transactions, booked out of order, are an independent sum', async (t) => {
  const seed = Number(process.env.LOMBARD_TEST_SEED ?? Date.now() % 1_000_000);
  t.diagnostic(`LOMBARD_TEST_SEED=${seed}`);
  const pick = random(seed);
  const world = await createStatementWorld(service, ['EUR', 'GBP', 'JPY']);
  const start = Date.parse('2026-03-20T00:00:00Z');
  const lines = Array.from({ length: 3_000 }, (_, index) => {
    const currency = ['EUR', 'GBP', 'JPY'][pick(3)] as string;
    const decimals = currency === 'JPY' ? 0 : pick(9);
    const debit = pick(3) === 0;
    // Few distinct instants, so that ties are common; some with microseconds that a millisecond would hide.
    const at = new Date(start + pick(40) * 43_200_000).toISOString();
    return {
      transaction_id: `R${seed}-${index}`,
      client_id: world.clientId,
      currency_account_id: world.accounts.get(currency) as number,
      kind: debit ? 'DEBIT_TRANSACTION' : 'CREDIT_INCOMING_TRANSACTION',
      amount: {
        amount: `${pick(10 ** 9) + 1}${decimals ? `.${String(pick(10 ** decimals)).padStart(decimals, '0')}` : ''}`,
        currency,
      },
      booking_datetime: pick(2) === 0 ? at : at.replace('.000Z', `.000${String(pick(1_000)).padStart(3, '0')}Z`),
    };
  });
  // The first half through the importer, the rest one by one.
  const imported = await service.operator('POST', '/imports/transactions', undefined, {
    raw: lines
      .slice(0, 2_900)
      .map((line) => JSON.stringify(line))
      .join('\n'),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  assert.equal(imported.body?.accepted, 2_900, imported.text);
  for (const line of lines.slice(2_900))
    assert.equal((await service.operator('POST', '/transactions', line)).status, 201);

  const { rows: stored } = await service.query(
    "select transaction_id, to_char(booking_datetime at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US') as at from transactions where client_id = $1",
    [world.clientId],
  );
  const instants = new Map(stored.map((row) => [row.transaction_id as string, row.at as string]));
  const [from, to] = ['2026-03-25', '2026-04-05'];
  const first = '2026-03-25T00:00:00.000000';
  const end = '2026-04-05T23:00:00.000000';
  const files = await csvOf(world, { date_from: from, date_to: to });
  assert.equal(files.length, 3);
  for (const [index, currency] of ['EUR', 'GBP', 'JPY'].entries()) {
    const rows = files[index] as Row[];
    // Ties keep the order in which they were booked.
    const own = lines
      .map((line, order) => ({ ...line, order, at: instants.get(line.transaction_id) as string }))
      .filter((line) => line.amount.currency === currency)
      .sort((a, b) => (a.at === b.at ? a.order - b.order : a.at < b.at ? -1 : 1));
    const signed = (line: (typeof own)[number]) =>
      line.kind === 'DEBIT_TRANSACTION' ? -units(line.amount.amount) : units(line.amount.amount);
    let balance = own.filter((line) => line.at < first).reduce((sum, line) => sum + signed(line), 0n);
    const inside = own.filter((line) => line.at >= first && line.at < end);
    assert.ok(inside.length > 100);
    assert.deepEqual([rows[0]?.entry, rows.at(-1)?.entry], ['opening_balance', 'closing_balance']);
    assert.equal(units(rows[0]?.balance ?? ''), balance, 'opening balance');
    assert.deepEqual(
      rows.slice(1, -1).map((row) => row.transaction_id),
      inside.map((line) => line.transaction_id),
    );
    for (const [place, line] of inside.entries()) {
      const row = rows[place + 1] as Row;
      balance += signed(line);
      assert.equal(units(row.amount as string), signed(line));
      assert.equal(units(row.balance as string), balance, `balance after ${line.transaction_id}`);
    }
    assert.equal(units(rows.at(-1)?.balance ?? ''), balance, 'closing balance');
  }
});

test('a statement says what was booked when it was asked for, however late it is made', async () => {
  const world = await createStatementWorld(service, ['EUR'], 'Late Ltd');
  await world.book('EUR', 'CREDIT_TRANSACTION', '10', { booking_datetime: '2026-05-01T10:00:00Z' });
  // The request is accepted while nobody works on it.
  await service.query('create rule sleeping as on update to statement_deliveries do instead nothing');
  await world.ask({ date_from: '2026-05-01', date_to: '2026-05-02', format: 'csv' });
  await world.book('EUR', 'DEBIT_TRANSACTION', '3', { booking_datetime: '2026-05-01T09:00:00Z' });
  await service.query('drop rule sleeping on statement_deliveries');
  const { statement_id: id } = await world.until('sent');
  const [mail] = await mailsOf(service, id);
  const rows: Row[] = parse(Buffer.from(mail?.attachments[0]?.content ?? '', 'base64'), { columns: true, bom: true });
  assert.deepEqual(
    rows.map((row) => [row.entry, row.amount, row.balance]),
    [
      ['opening_balance', '', '0'],
      ['transaction', '10', '10'],
      ['closing_balance', '', '10'],
    ],
  );
  const [again = []] = await csvOf(world, { date_from: '2026-05-01', date_to: '2026-05-02' });
  assert.deepEqual(
    again.map((row) => row.balance),
    ['0', '-3', '7', '7'],
  );
});

test('books that contradict themselves are not sent', async () => {
  const world = await createStatementWorld(service, ['EUR'], 'Broken Ltd');
  const made = await world.book('EUR', 'CREDIT_TRANSACTION', '10');
  await service.query('update transactions set balance_after = 11 where transaction_id = $1', [made.transaction_id]);
  await world.ask({ date_from: '2026-01-01', date_to: '2026-12-31', format: 'csv' });
  const { deliveries, statement_id: id } = await world.until('retrying');
  assert.match(
    deliveries[0]?.last_error ?? '',
    /its transactions before 2026-01-01 add up to 0, but its balance gives 1$/,
  );
  assert.deepEqual(await mailsOf(service, id), []);
});

test('an amount that camt.053 has no room for fails for good, and says which formats have room', async () => {
  const world = await createStatementWorld(service, ['EUR'], 'Large Ltd');
  await world.book('EUR', 'CREDIT_TRANSACTION', '0.00000001', { booking_datetime: '2026-05-01T10:00:00Z' });
  await world.ask({ date_from: '2026-05-01', date_to: '2026-05-02', format: 'camt.053' });
  const { deliveries } = await world.until('failed', 'sent');
  assert.match(deliveries[0]?.last_error ?? '', /^camt\.053 has room for amounts of 18 digits.*0\.00000001 EUR/);
  assert.deepEqual([deliveries[0]?.attempts, deliveries[0]?.next_attempt_at], [1, null]);
  await world.ask({ date_from: '2026-05-01', date_to: '2026-05-02', format: 'pdf' });
  assert.equal((await world.until('failed', 'sent')).status, 'sent');
});
