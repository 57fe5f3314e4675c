import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { amountsOf } from '../../src/payments/views/find.ts';
import { type ApprovalsWorld, approvalsWorld } from '../world/approvals.ts';
import { pageSession } from '../world/page-session.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** What a text names of a client: for the pages' one field. */

let service: TestService;
let world: ApprovalsWorld;
before(async () => {
  service = await startTestService();
  world = await approvalsWorld(service, []);
});
after(() => service?.stop());

describe('the amounts that a text may mean', () => {
  for (const [text, ...amounts] of [
    ['12', '12'],
    ['1,234.50', '1234.50'],
    ['1.234,50', '1234.50'],
    ["1'234.5", '1234.5'],
    ['1 234,5', '1234.5'],
    ['1,234', '1.234', '1234'],
    ['1,234,567', '1234567'],
    ['12.', '12.0'],
    ['0.001', '0.001'],
    ['EUR 12'],
    ['-12'],
    [''],
    ['1'.repeat(21)],
  ] as const)
    test(JSON.stringify(text), () => assert.deepEqual(amountsOf(text), amounts));
});

test('an id, a UETR, a reference, an amount and a part of a name; of this client only', async () => {
  const id = await world.create('1234.50', { reference: 'Rent 11' });
  await world.create('7', { reference: 'Rent 12' });
  const other = await approvalsWorld(service, []);
  await other.create('1234.50', { reference: 'Rent 11' });
  const { uuid } = (await service.operator('GET', `/payments/${id}`)).body;
  const { call } = await pageSession(service, world.owner.id);
  const find = async (q: string) =>
    (await call('POST', `/app/data/find?client_id=${world.clientId}`, { q })).body as {
      payments: { payment_id: string }[];
      payees: { beneficiary_id: string; account: string }[];
      more: { payments: boolean; payees: boolean };
    };
  for (const q of [id, id.toLowerCase(), uuid, 'Rent 11', '1.234,50', ' 1,234.50 ']) {
    const { payments } = await find(q);
    assert.deepEqual(
      payments.map((payment) => payment.payment_id),
      [id],
      q,
    );
  }
  const { payees } = await find('MÜLL');
  assert.deepEqual(
    payees.map(({ beneficiary_id, account }) => [beneficiary_id, account]),
    [[world.beneficiaryId, '3000']],
  );
  assert.deepEqual(await find('%_'), { payments: [], payees: [], more: { payments: false, payees: false } });
  for (let paid = 1; paid <= 7; paid += 1) await world.create('55', { reference: `Rate ${paid}` });
  const many = await find('55');
  assert.deepEqual([many.payments.length, many.more], [6, { payments: true, payees: false }]);
  for (const body of [{}, { q: ' ' }, { q: 'x'.repeat(141) }, { q: 'a\u0000' }]) {
    const { status } = await call('POST', `/app/data/find?client_id=${world.clientId}`, body);
    assert.equal(status, 400, JSON.stringify(body));
  }
  assert.equal((await call('POST', `/app/data/find?client_id=${other.clientId}`, { q: 'x' })).status, 404);
});
