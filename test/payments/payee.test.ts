import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createWorld } from '../world/client.ts';
import { startTestService, type TestService } from '../world/service.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service?.stop());

const PAYEE = {
  beneficiary_name: 'Müller GmbH',
  iban: 'DE89370400440532013000',
  swift_code: 'COBADEFFXXX',
  account_number: null,
  bank_identifier: null,
};
const CHANGED = {
  beneficiary_name: 'Somebody else',
  iban: 'GB29NWBK60161331926819',
  swift_code: 'NWBKGB2L',
  account_number: '31926819',
  bank_identifier: '601613',
};

test('a payment keeps the payee that it was created with; later payments have the changed one', async () => {
  const world = await createWorld(service, 'Payee', {
    payment_approvals_enabled: true,
    authorisation_workflow: '4-eyes',
  });
  const approver = await world.hire('Approver');
  const { payment_id: single } = (await world.pay()).body;
  const line = JSON.stringify({ ...world.base, payment_id: 'IMPORTED' });
  const headers = { 'content-type': 'application/x-ndjson' };
  const imported = await service.operator('POST', '/imports/payments', undefined, { raw: line, headers });
  assert.equal(imported.body.accepted, 1, imported.text);
  const patched = await service.operator('PATCH', `/beneficiaries/${world.beneficiaryId}`, CHANGED);
  assert.equal(patched.status, 200, patched.text);

  const token = await world.signIn();
  const shown = async () => (await service.client(token, 'GET', `/payments?client_id=${world.clientId}`)).body;
  const payeeOf = (payment: Record<string, unknown>) =>
    Object.fromEntries(Object.keys(PAYEE).map((name) => [name, payment[name]]));
  assert.deepEqual((await shown()).map(payeeOf), [PAYEE, PAYEE]);

  const action = { action: 'authorise', contact_id: approver.contactId };
  for (const id of [single, 'IMPORTED']) {
    const approved = await service.operator('POST', `/payments/${id}/actions`, action);
    assert.deepEqual(payeeOf(approved.body), PAYEE, approved.text);
  }
  const { rows: told } = await service.query(
    "select body from webhook_events where client_id = $1 and body like '%AUTHORIZED%'",
    [world.clientId],
  );
  for (const { body } of told) assert.deepEqual(payeeOf(JSON.parse(body).data[0]), PAYEE);
  assert.ok(told.length >= 2);

  const later = await world.pay();
  assert.deepEqual(payeeOf(later.body), CHANGED);
  for (const step of ['validate', 'send', 'complete', 'start_return', 'return']) {
    const moved = await service.operator('POST', `/payments/${single}/actions`, { action: step });
    assert.equal(moved.status, 200, moved.text);
  }
  const { rows } = await service.query('select debtor_name from transactions where client_id = $1', [world.clientId]);
  assert.deepEqual(rows, [{ debtor_name: PAYEE.beneficiary_name }]);
});
