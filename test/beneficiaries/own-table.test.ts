import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { bankTable } from '../../src/beneficiaries/bank-table.ts';
import { accessToken } from '../world/access-token.ts';
import { createWorld } from '../world/client.ts';
import { lombard } from '../world/command.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** An institution's own table of bank details. */

const folder = mkdtempSync(join(tmpdir(), 'lombard-table-'));
const file = join(folder, 'bank-details.json');
let service: TestService;
before(async () => {
  const { rows, ...rest } = bankTable(undefined);
  const south = {
    ...{ country: 'ZA', currency: 'ZAR', groups: [['account_number', 'bank_identifier']], also: ['city'] },
    formats: { bank_identifier: { digits: [6, 6], code: 'invalid_bank_identifier', label: 'Branch Code' } },
  };
  writeFileSync(file, JSON.stringify({ ...rest, rows: [south, ...rows] }));
  service = await startTestService({ LOMBARD_BANK_DETAILS: file });
});
after(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

test('decides what a payee needs, what the metadata says, and what the command prints', async () => {
  const world = await createWorld(service, 'Own table');
  const { contactId } = await world.hire('Orderer', {}, ['can_manage_beneficiaries']);
  const token = await accessToken(service, contactId);
  const payee = {
    name: 'Veld',
    country_code: 'ZA',
    bank_country_code: 'ZA',
    bank_currency_code: 'ZAR',
    account_number: '1',
  };
  const create = (more: object) =>
    service.client(token, 'POST', `/beneficiaries?client_id=${world.clientId}`, { body: { ...payee, ...more } });
  const refused = await create({ bank_identifier: '12345' });
  assert.deepEqual(
    refused.body.errors.map((each: { code: string; details: string }) => `${each.code} ${each.details.split(':')[0]}`),
    ['invalid_bank_identifier body.bank_identifier', 'required body.city'],
  );
  assert.equal((await create({ bank_identifier: '123 456', city: 'Durban' })).status, 201);
  const { body } = await service.client(token, 'GET', '/metadata/beneficiary?country=ZA&currency=ZAR');
  assert.deepEqual(body[0].currencies[0].mandatory_data, [['account_number', 'bank_identifier|Branch Code', 'city']]);
  const { code, stdout } = await lombard(['bank-details'], { LOMBARD_BANK_DETAILS: file }).ended;
  assert.deepEqual([code, JSON.parse(stdout)], [0, bankTable(file)]);
});
