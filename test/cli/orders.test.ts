import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { type Sandbox, startSandbox } from '../world/demonstration.ts';

/** A client orders payments and looks at its money, with the command line alone. */

let sandbox: Sandbox;
let account: string;
let payee: string;
before(async () => {
  sandbox = await startSandbox({ LOMBARD_AUTOPILOT: 'off' });
  const accounts = await sandbox.json('accounts');
  account = String(accounts.find(({ currency }: { currency: string }) => currency === 'EUR').account_id);
  const payees = await sandbox.json('beneficiaries', 'list', '--page_size', '1000');
  payee = payees.find(({ bank_accounts: [bank] }: Payee) => bank?.bank_currency_code === 'EUR').beneficiary_id;
});
after(() => sandbox.stop());

interface Payee {
  bank_accounts: { bank_currency_code: string }[];
}

const inAWeek = () => new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10);
const order = (...more: string[]) => {
  const payment = [
    '--beneficiary_id',
    payee,
    '--amount',
    '120.50',
    '--payment-date',
    inAWeek(),
    '--reference',
    'Invoice 42',
  ];
  return ['payments', 'create', '--funding_account_id', account, '--reason', 'payment_for_goods', ...payment, ...more];
};
const available = async () => {
  const [balance] = await sandbox.json('balances', '--currencies', 'EUR', '--balance_types', 'Available');
  return Number(balance.amount.amount);
};

test('a payment is ordered by options, once under one key, and its money is held', async () => {
  const before = await available();
  const made = await sandbox.run(...order('--idempotency-key', 'invoice-42'));
  assert.deepEqual([made.code, made.stderr], [0, '']);
  const [, id = ''] = /^(PAY\d+) +120\.50 +EUR +\S+ +\S.*$/m.exec(made.stdout) ?? [];
  const [again] = await sandbox.json(...order('--idempotency-key', 'invoice-42'));
  assert.equal(again.payment_id, id);
  assert.equal(Math.round((before - (await available())) * 100), 12_050);
  assert.equal((await sandbox.json('payments', 'show', id)).reference, 'Invoice 42');
  const [tried] = await sandbox.json(...order('--validate-only'));
  assert.deepEqual([tried.payment_id, tried.amount], [null, 120.5]);
});

test('several payments come from a file; a refusal tells all faults', async () => {
  const payment = { beneficiary_id: payee, amount: 1, payment_date: inAWeek(), reference: 'Two of them' };
  const path = join(sandbox.dataDir, '..', 'order.json');
  const body = { funding_account_id: Number(account), reason: 'other', payments: [payment, payment] };
  writeFileSync(path, JSON.stringify(body));
  const made = await sandbox.json('payments', 'create', '--file', path);
  assert.equal(made.length, 2);
  writeFileSync(
    path,
    JSON.stringify({ ...body, payments: [payment, { ...payment, amount: 0 }, { ...payment, refrence: 'x' }] }),
  );
  const { code, stderr } = await sandbox.run('payments', 'create', '--file', path);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^ {2}invalid_format: body\.payments\[1\]\.amount: .*\n {2}unknown_field: body\.payments\[2\]\.refrence: /m,
  );
  for (const wrong of [
    ['--amount', '1e3'],
    ['--account_id', 'x'],
    ['--charges', 'BEN'],
  ])
    assert.equal((await sandbox.run('payments', 'create', ...wrong)).code, 2);
  const much = await sandbox.run(...order('--file', path));
  assert.equal(much.code, 2);
});

test('approve takes several payments, and says what became of each', async () => {
  const waiting = await sandbox.json('payments', 'list', '--status', 'pending_your_approval', '--page_size', '2');
  const ids: string[] = waiting.map((one: { payment_id: string }) => one.payment_id);
  const { code, stdout } = await sandbox.run('payments', 'approve', ...ids, 'PAY-NONE');
  assert.equal(code, 1);
  for (const id of ids) assert.match(stdout, new RegExp(`^${id} +yes `, 'm'));
  assert.match(stdout, /^PAY-NONE +no +payment_not_found /m);
});

test('balances and transactions: three kinds for each account, filters in either spelling', async () => {
  const balances = await sandbox.run('balances');
  assert.match(balances.stdout, /^ACCOUNT +CURRENCY +TYPE +AMOUNT +SIDE\n/);
  assert.equal(balances.stdout.match(/ RequiredFunds /g)?.length, 3);
  const table = await sandbox.run('transactions', 'EUR', '--page_size', '2', '--order=desc');
  assert.match(table.stdout, /^2 of 18 transactions; the next page: --page 2$/m);
  const debits = await sandbox.json('transactions', '--currencies', 'EUR,USD', '--transaction-type', 'debit');
  assert.ok(debits.length > 0 && debits.every((one: { transaction_type: string }) => one.transaction_type === 'debit'));
  assert.equal((await sandbox.json('transactions', '--page_size', '1000')).length, 54);
});

test('a statement is saved, in each format', async () => {
  const period = ['--from_value_datetime', new Date(Date.now() - 60 * 86_400_000).toISOString()];
  for (const [format, begin] of [
    ['pdf', '%PDF-'],
    ['csv', '\ufeffaccount_id'],
    ['camt053', '<?xml'],
  ] as const) {
    const path = join(sandbox.dataDir, '..', `statement.${format}`);
    const saved = await sandbox.run('statements', 'download', account, ...period, '--format', format, '--output', path);
    assert.deepEqual([saved.code, saved.stderr], [0, '']);
    assert.equal(readFileSync(path, 'utf8').slice(0, begin.length), begin);
  }
  assert.match((await sandbox.run('statements', 'download', '999', ...period)).stderr, /currency_account_not_found/);
});

describe('with step-up', () => {
  let secret: string;
  before(async () => {
    const settings = { approval_step_up: true, payment_approvals_enabled: false };
    await sandbox.operator('PATCH', '/clients/CLI000001', settings);
    ({ secret } = (await sandbox.operator('PATCH', '/contacts/CON000001', { second_factor: 'totp' })).totp);
  });

  test('an order that waits for its creator is finished by the same call with challenge and code', async () => {
    const before = await available();
    const first = await sandbox.run(...order('--json'));
    const [made] = JSON.parse(first.stdout);
    const refused = JSON.parse(first.stderr);
    assert.deepEqual([first.code, refused.code], [1, 'step_up_required']);
    const [, challenge = ''] = /--challenge-id (\S+) /.exec(refused.details) ?? [];
    assert.equal(made.status, 'Payment pending of authorization');
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
    assert.equal((await sandbox.run(...order('--verification-code', code))).code, 2);
    assert.equal((await sandbox.run(...order('--challenge-id', 'other', '--verification-code', code))).code, 2);
    const done = await sandbox.run(...order('--challenge-id', challenge, '--verification-code', code, '--json'));
    assert.deepEqual([done.code, done.stderr], [0, '']);
    assert.equal(JSON.parse(done.stdout)[0].payment_id, made.payment_id);
    assert.notEqual(
      (await sandbox.json('payments', 'show', made.payment_id)).status,
      'Payment pending of authorization',
    );
    assert.equal(Math.round((before - (await available())) * 100), 12_050);
  });
});
