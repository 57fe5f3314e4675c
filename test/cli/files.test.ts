import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { type Sandbox, startSandbox } from '../world/demonstration.ts';
import { pain001 } from '../world/iso20022.ts';

/** A client sends files of payments with the command line alone. */

let sandbox: Sandbox;
let account: string;
before(async () => {
  sandbox = await startSandbox({ LOMBARD_AUTOPILOT: 'off' });
  const accounts = await sandbox.json('accounts');
  account = String(accounts.find(({ currency }: { currency: string }) => currency === 'EUR').account_id);
});
after(() => sandbox.stop());

const inAWeek = () => new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10);
function file(name: string, content: string): string {
  const path = join(sandbox.dataDir, '..', name);
  writeFileSync(path, content);
  return path;
}

const HEADER =
  'payment_currency,payment_amount,payment_reference,direction,trade_type,beneficiary_name,beneficiary_country,bank_country,iban';
const row = (reference: string, iban = 'DE89370400440532013000') =>
  `EUR,1.10,${reference},buy,spot,Rohrwerk GmbH,DE,DE,${iban}`;
const source = () => ['--sell_currency', 'EUR', '--funding-account-id', account, '--reason', 'payment_for_goods'];

test('a CSV is sent, waits, is looked at and confirmed; the same file again is refused', async () => {
  const path = file('week.csv', [HEADER, row('Invoice 1'), row('Invoice 2', 'DE89370400440532013001')].join('\n'));
  const sent = await sandbox.run('payments', 'upload', path, ...source(), '--wait', '--json');
  assert.equal(sent.code, 1, sent.stderr);
  const held = JSON.parse(sent.stdout);
  assert.deepEqual([held.mass_payment_status, held.payments_summary.payments_errored], ['Processed', 1]);
  assert.match(held.external_reference_id, /^sha256:[0-9a-f]{32}$/);
  assert.match(sent.stderr, /Processed, 2 of 2 rows judged, 1 wrong, 0 paid/);
  const again = await sandbox.run('payments', 'upload', path, ...source());
  assert.deepEqual([again.code, /already_exists/.test(again.stderr)], [1, true]);
  const { mass_payment_id: id } = held;
  const errors = await sandbox.run('files', 'errors', id);
  assert.match(errors.stdout, /^1 +invalid_iban +iban: /m);
  assert.match(errors.stdout, /^1 of 1 rows with errors$/m);
  const listed = await sandbox.run('files', 'list', '--mass_payment_status', 'Processed');
  assert.match(listed.stdout, new RegExp(`^${id} +sha256:\\w+ +Processed +2 +1 +0 `, 'm'));
  const shown = await sandbox.json('files', 'show', id);
  assert.equal(shown.external_reference_id, held.external_reference_id);
});

test('a list of JSON and a whole body go on to their end', async () => {
  const instruction = {
    ...{ payment_currency: 'EUR', payment_amount: 1.25, payment_reference: 'Invoice 3', direction: 'buy' },
    ...{ trade_type: 'spot', beneficiary_name: 'Rohrwerk GmbH', beneficiary_country: 'DE', bank_country: 'DE' },
    iban: 'DE89370400440532013000',
  };
  const list = file('list.json', JSON.stringify([instruction, { ...instruction, iban: 'no' }]));
  const reference = ['--external_reference_id', 'LIST-1'];
  const done = await sandbox.run(
    'payments',
    'upload',
    list,
    ...source(),
    ...reference,
    '--confirm',
    '--wait',
    '--json',
  );
  assert.equal(done.code, 0, done.stderr);
  const made = JSON.parse(done.stdout);
  assert.deepEqual(
    [made.external_reference_id, made.mass_payment_status, made.payments_summary.payments_created],
    ['LIST-1', 'Created', 1],
  );
  const whole = {
    ...{
      external_reference_id: 'WHOLE-1',
      auto_commit: true,
      sell_currency: 'EUR',
      funding_account_id: Number(account),
    },
    ...{ reason: 'other', payment_instructions: [{ ...instruction, payment_reference: 'Invoice 4' }] },
  };
  const body = file('whole.json', JSON.stringify(whole));
  assert.equal((await sandbox.run('payments', 'upload', body, ...source())).code, 2);
  const auto = await sandbox.json('payments', 'upload', body, '--wait');
  assert.deepEqual([auto.mass_payment_status, auto.payments_summary.payments_created], ['Created', 1]);
});

test('a pain.001 tells its mass payments, and the blocks that are refused', async () => {
  const debtor = `<Id><Othr><Id>${account}</Id></Othr></Id>`;
  const transfers = [{ amount: '1.15', rest: '<RmtInf><Ustrd>Invoice 5</Ustrd></RmtInf>' }];
  const blocks = [
    { id: 'GOOD &amp; NEW', debtor, day: inAWeek(), transfers },
    { id: 'LATE', debtor, day: '2020-01-01', transfers },
  ];
  const path = file('pain.xml', pain001({ messageId: 'MSG-CLI', blocks }));
  const sent = await sandbox.run('payments', 'upload', path, '--wait', '--json');
  assert.equal(sent.code, 1, sent.stderr);
  const told = JSON.parse(sent.stdout);
  assert.deepEqual(
    [told.payment_initiation_id, told.group_status, told.refused, told.mass_payments.length],
    ['MSG-CLI', 'PART', [{ payment_information_id: 'LATE', code: 'DT01' }], 1],
  );
  const [made] = told.mass_payments;
  assert.deepEqual([made.payment_information_id, made.mass_payment_status], ['GOOD & NEW', 'Created']);
  const again = await sandbox.run('payments', 'upload', path);
  assert.deepEqual([again.code, /DU01/.test(again.stderr)], [1, true]);
});

test('what a file says steers neither a terminal nor a spreadsheet', async () => {
  const name = '=cmd|" /C calc"!A0';
  const hostile = {
    ...{
      payment_currency: 'EUR',
      payment_amount: 1.25,
      payment_reference: '\u001b[2J\u009b2J\u202e=1+1',
      direction: 'buy',
    },
    ...{ trade_type: 'spot', beneficiary_name: name, beneficiary_country: 'DE', bank_country: 'DE', iban: 'DE00' },
    ...{ '\u001b]0;owned\u0007\u009b\u202e': 1, '=1+1': 2 },
  };
  const path = file('hostile.json', JSON.stringify([hostile]));
  const sent = await sandbox.run('payments', 'upload', path, ...source(), '--wait');
  assert.equal(sent.code, 1);
  const found = await sandbox.json('files', 'list', '--mass_payment_status', 'Failed');
  const { mass_payment_id: id } = found[0];
  const errors = await sandbox.run('files', 'errors', id);
  const shown = await sandbox.run('files', 'show', id);
  const whole = file('unknown.json', JSON.stringify({ '\u001b[2J\u009b\u202e': 1, payment_instructions: [hostile] }));
  const unknown = await sandbox.run('payments', 'upload', whole);
  assert.match(unknown.stderr, /^lombard: invalid_body: body\./);
  for (const text of [sent.stdout, sent.stderr, errors.stdout, shown.stdout, unknown.stderr]) {
    assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
    for (const line of text.split('\n')) assert.doesNotMatch(line, /^\s*[=+@-]/, line);
  }
  assert.match(errors.stdout, /^0 +invalid_format, invalid_iban, unknown_field, unknown_field /m);
  const json = await sandbox.json('files', 'errors', id);
  assert.equal(json[0].beneficiary_name, name, 'a program is told what was sent');
});

describe('with step-up', () => {
  test('a file is confirmed by the call that has the code', async () => {
    await sandbox.operator('PATCH', '/clients/CLI000001', { approval_step_up: true });
    const { totp } = await sandbox.operator('PATCH', '/contacts/CON000001', { second_factor: 'totp' });
    const path = file('coded.csv', [HEADER, row('Invoice 6')].join('\n'));
    const first = await sandbox.run('payments', 'upload', path, ...source(), '--confirm', '--json');
    assert.equal(first.code, 1);
    const refused = JSON.parse(first.stderr.slice(first.stderr.indexOf('{')));
    assert.equal(refused.code, 'step_up_required');
    const [, challenge = ''] = /--challenge-id (\S+) /.exec(refused.details) ?? [];
    const code = new TOTP({ secret: Secret.fromBase32(totp.secret) }).generate();
    const answer = ['--challenge-id', challenge, '--verification-code', code];
    const done = await sandbox.json('payments', 'upload', path, ...source(), '--confirm', '--wait', ...answer);
    assert.deepEqual([done.mass_payment_status, done.payments_summary.payments_created], ['Created', 1]);
  });
});
