import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FX_OPEN, moveClock } from '../world/exchange.ts';
import { filesOf, NEW, ROW } from '../world/files.ts';
import { validated } from '../world/iso20022.ts';
import { ordersWorld } from '../world/orders.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { PAYEE, treasuryOf } from '../world/treasury.ts';
import { until } from '../world/until.ts';

/** What has become of a trade, a day or a payee by the time a file is made (instructions, second page, 8 and 9). */

let service: TestService;
before(async () => {
  service = await startTestService();
  await moveClock(service, FX_OPEN);
  await service.operator('PUT', '/exchange-rates', { base_currency: 'GBP', rates: { EUR: 1.185, USD: 1.25 } });
});
after(() => service.stop());

/** Enough rows for many batches, so that something can happen between two of them. */
const ROWS = 300;

for (const status of ['Cancelled', 'Rejected', 'Closed'])
  for (const [name, fieldsOf] of [
    ['that pays for a file', (trade_id: string) => ({ trade_id, sell_currency: undefined })],
    ['that a file has bought', () => ({ sell_currency: 'GBP' })],
  ] as const)
    test(`nothing more is paid from a trade ${name} once it is ${status}`, async () => {
      const world = await ordersWorld(service, { client: { fx_enabled: true } });
      const files = filesOf(service, world);
      const of = fieldsOf(world.tradeId);
      const rows = Array.from({ length: ROWS }, (_, n) => files.row(1 + n));
      const sent = files.file(rows, { funding_account_id: undefined, reason: undefined, auto_commit: true, ...of });
      const { status: answered, body, text } = await files.send(sent);
      assert.equal(answered, 202, text);
      const id = body.mass_payment_id;
      await until(async () => (await files.get(id)).payments_summary.payments_created > 0, { seconds: 60 });
      const { body: received } = await world.ask('GET', `/mass-payments/${id}/payments-received`);
      const paid = received.find((row: { payment_id: string | null }) => row.payment_id !== null);
      const { trade_id: trade } = await world.paid(paid.payment_id);
      const ended = await service.operator('PATCH', `/trades/${trade}`, { status });
      assert.equal(ended.status, 200, ended.text);
      const file = await files.reaches(id, 'Created');
      const { payments_created: created, payments_errored: errored } = file.payments_summary;
      assert.equal(created + errored, ROWS);
      assert.ok(errored > 0, `${created} were made`);
      const codes = (await files.errors(id)).flatMap(({ errors }: { errors: { code: string; details: string }[] }) =>
        errors.map(({ code, details }) => `${code} ${details}`),
      );
      assert.deepEqual([...new Set(codes)], [`trade_not_open the trade is "${status}"`]);
    });

test('a day that has moved since a pain.001 was judged is told as moved', async () => {
  const world = await ordersWorld(service, { client: { fx_enabled: true } });
  const treasury = treasuryOf(service, world);
  await service.operator('PUT', '/fx-availability', { mode: 'closed' });
  const agent = '<BICFI>DEUTDEFF</BICFI>';
  const transfers = [
    { ...PAYEE, amount: '7.00' },
    { ...PAYEE, amount: '8.00', currency: 'USD', agent },
  ];
  const day = '2026-11-27';
  const { messageId, xml } = treasury.file({ blocks: [{ day, transfers }] });
  const taken = await treasury.send(xml);
  assert.equal(taken.status, 202, taken.text);
  const of = async () => validated('pain.002.001.10', await treasury.status(messageId), '//m:TxSts', '//m:Rsn/m:Cd');
  const judged = await until(async () => {
    const found = await of();
    return !found[0]?.includes('PDNG') && found;
  });
  assert.deepEqual(judged, [['ACCP', 'ACCP'], []]);
  await moveClock(service, '2026-11-30T10:00:00Z');
  await service.operator('PUT', '/fx-availability', { mode: 'open' });
  await treasury.settled(messageId);
  const { body: payments } = await world.ask('GET', '/payments');
  for (const { payment_id: id } of payments) await world.act(id, 'validate');
  assert.deepEqual(await of(), [
    ['ACWC', 'ACWC'],
    ['DT06', 'DT06'],
  ]);
  await moveClock(service, FX_OPEN);
});

test('a payee that another file has made meanwhile is not new', async () => {
  const world = await ordersWorld(service);
  const files = filesOf(service, world);
  const row = (payment_amount: number) => ({ ...ROW, payment_amount, ...NEW });
  const judged = await Promise.all([1, 2].map((n) => files.judged(files.file([row(n), row(n + 10)]))));
  assert.deepEqual(
    judged.map(({ new_beneficiaries: fresh }) => fresh),
    [1, 1],
  );
  for (const { mass_payment_id: id } of judged) {
    await files.confirm(id);
    await files.reaches(id, 'Created');
  }
  const made = await Promise.all(judged.map(({ mass_payment_id: id }) => files.get(id)));
  assert.deepEqual(
    made.map(({ new_beneficiaries: fresh, payments_summary: { payments_created: created } }) => [fresh, created]),
    [
      [1, 2],
      [0, 2],
    ],
  );
});
