import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Lombard } from '../../sdk/src/index.ts';
import { ordersWorld } from '../world/orders.ts';
import { startTestService, type TestService } from '../world/service.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

test('many payees are tried, sent, waited for and listed', async () => {
  const places = { country_code: 'DE', bank_country_code: 'DE', bank_currency_code: 'EUR' };
  const good = { name: 'Eins', ...places, iban: 'DE89370400440532013000' };
  const { clientId, token: accessToken } = await ordersWorld(service);
  const { massBeneficiaries } = new Lombard({ baseUrl: service.api, clientId, accessToken });
  const tried = await massBeneficiaries.create([good, { ...good, iban: 'DE' }], { validateOnly: true });
  assert.deepEqual([tried.rows_received, tried.rows_errored, tried.errors[0]?.code], [2, 1, 'invalid_iban']);
  const names = Object.keys(good).join(',');
  const csv = [names, ...[good, { ...good, name: 'Zwei' }].map((payee) => Object.values(payee).join(','))].join('\n');
  for (const [file, made] of [
    [new Blob([csv]), 2],
    [Buffer.from(csv), 0],
  ] as const) {
    const { mass_beneficiary_id: id } = await massBeneficiaries.createFromFile(file);
    const found = await massBeneficiaries.waitUntil(id, made > 0 ? 'created' : 'failed');
    assert.deepEqual([found.rows_created, found.rows_errored], [made, 2 - made]);
    assert.deepEqual((await massBeneficiaries.get(id)).status, found.status);
    const listed = await Array.fromAsync(massBeneficiaries.beneficiaries(id, { page_size: 1 }));
    assert.equal(listed.length, made);
    await assert.rejects(massBeneficiaries.waitUntil(id, 'processing'), { code: 'status_unreachable' });
  }
});
