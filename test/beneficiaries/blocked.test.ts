import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accountBlocked, keysOf } from '../../src/beneficiaries/account-key.ts';
import { createWorld } from '../world/client.ts';
import { startTestService, type TestService } from '../world/service.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service?.stop());

test('an IBAN of GB is the account that sort code and number name; eight letters of a BIC are its head office', () => {
  const keys = (payee: object) => ({ ...keysOf({ beneficiary_name: 'A', ...payee }) });
  const british = keys({ iban: 'GB29NWBK60161331926819' });
  assert.equal(british.paid_account, 'GB 601613 31926819');
  const pair = { account_number: '31926819', bank_identifier: '601613' };
  for (const more of [{ bank_country_code: 'GB' }, { swift_code: 'NWBKGB2L' }, { currency: 'GBP' }])
    assert.deepEqual(keys({ ...pair, ...more }), british);
  assert.notEqual(keys({ ...pair, bank_country_code: 'AU' }).paid_account, british.paid_account);
  assert.equal(keys({ account_number: '1', swift_code: 'CHASUS33' }).paid_bic, 'CHASUS33XXX');
  assert.equal(keys({ account_number: '1', swift_code: 'CHASUS33' }).paid_country, 'US');
  const name = (text: string) => keysOf({ beneficiary_name: text }).name_key;
  assert.equal(name(' MU\u0308LLER   Straße'), name('Müller STRASSE'));
});

test('an account is blocked under whatever name and in whatever currency, also of a payee that was deleted', async () => {
  const world = await createWorld(service, 'Blocked');
  const make = async (fields: object) => {
    const beneficiary = { client_id: world.clientId, beneficiary_name: 'Payee', ...fields };
    const made = await service.operator('POST', '/beneficiaries', beneficiary);
    assert.equal(made.status, 201, made.text);
    return made.body.beneficiary_id as string;
  };
  const us = { bank_country_code: 'US', account_number: '123 456' };
  const blocked = [
    await make({
      iban: 'GB29 NWBK 6016 1331 9268 19',
      currency: 'GBP',
      beneficiary_blocked: true,
      beneficiary_active: false,
    }),
    await make({ ...us, bank_identifier: '021000021', currency: 'USD', beneficiary_blocked: true }),
  ];
  const same = [
    await make({ beneficiary_name: 'Other', account_number: '31926819', bank_identifier: '60-16-13', currency: 'GBP' }),
    await make({ beneficiary_name: 'Other', ...us, swift_code: 'CHASUS33', currency: 'EUR' }),
  ];
  const others = [
    await make({ ...us, bank_identifier: '026009593', currency: 'USD' }),
    await make({ account_number: '123456', swift_code: 'SBZAZAJJ', currency: 'ZAR' }),
    await make({ beneficiary_name: 'Without an account' }),
    world.beneficiaryId,
  ];
  const { rows } = await service.query(
    `select b.beneficiary_id as id from beneficiaries b where b.client_id = $1 and ${accountBlocked('b', '$1')}`,
    [world.clientId],
  );
  assert.ok(others.every((id) => !rows.some((row) => row.id === id)));
  assert.deepEqual(rows.map(({ id }) => id).sort(), [...blocked, ...same].sort());
});
