import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { lombard } from '../world/command.ts';
import { type Sandbox, startSandbox } from '../world/demonstration.ts';

let sandbox: Sandbox;
before(async () => {
  sandbox = await startSandbox();
});
after(() => sandbox.stop());

const PAYEE = {
  name: 'Kestrel Tools Ltd',
  country_code: 'GB',
  bank_country_code: 'GB',
  bank_currency_code: 'GBP',
  account_number: '31926819',
  bank_identifier: '60-16-13',
};
const options = (fields: object) => Object.entries(fields).flatMap(([name, value]) => [`--${name}`, String(value)]);

function file(name: string, content: unknown): string {
  const path = join(sandbox.dataDir, '..', name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  return path;
}

test('a payee is made by options in either spelling, found, changed, cleared and deleted', async () => {
  const address = { 'address-line-1': '1 High Street', city: 'Leeds', bank_address_line_1: '2 Bank Street' };
  const mails = { email_notification: true, email_addresses: 'a@kestrel.example, b@kestrel.example' };
  const made = await sandbox.json('beneficiaries', 'create', ...options({ ...PAYEE, ...address, ...mails }));
  assert.deepEqual(
    [made.name, made.address_line_1, made.email_notification, made.email_addresses],
    ['Kestrel Tools Ltd', '1 High Street', true, ['a@kestrel.example', 'b@kestrel.example']],
  );
  const { beneficiary_id: id } = made;
  const listed = await sandbox.run('beneficiaries', 'list', '--name', 'kestrel tools ltd');
  assert.match(listed.stdout, new RegExp(`^${id} +Kestrel Tools Ltd +GB +GBP +31926819 +Pending Review$`, 'm'));
  assert.match(listed.stdout, /^1 of 1 beneficiaries$/m);
  const second = await sandbox.run('beneficiaries', 'list', '--page_size', '2', '--page=2');
  assert.match(second.stdout, /^2 of \d+ beneficiaries; the next page: --page 3$/m);

  assert.equal(
    (await sandbox.run('beneficiaries', 'update', id, '--city', 'York')).stdout,
    `changed beneficiary ${id}\n`,
  );
  const trial = ['beneficiaries', 'update', id, '--post_code', 'YO1 7HH', '--validate-only'];
  assert.equal((await sandbox.json(...trial)).post_code, 'YO1 7HH');
  await sandbox.json('beneficiaries', 'update', id, '--bank_address_line_1=');
  const shown = await sandbox.json('beneficiaries', 'show', id);
  assert.deepEqual([shown.city, shown.post_code, shown.bank_accounts[0].bank_address_line_1], ['York', null, null]);
  assert.deepEqual(await sandbox.json('beneficiaries', 'delete', id), { beneficiary_id: id, done: 'deleted' });
  assert.match((await sandbox.run('beneficiaries', 'show', id)).stderr, /^lombard: beneficiary_not_found: /);
});

test('the whole body comes from a file, or from standard input; fields beside it are refused', async () => {
  const whole = { ...PAYEE, name: 'Merlin Tools Ltd' };
  const path = file('payee.json', whole);
  const first = await sandbox.json('beneficiaries', 'create', '--file', path, '--idempotency-key', 'merlin');
  const again = await sandbox.json('beneficiaries', 'create', '--file', path, '--idempotency-key', 'merlin');
  assert.equal(again.beneficiary_id, first.beneficiary_id);
  const trial = ['beneficiaries', 'create', '--file', '-', '--validate-only', '--json'];
  const piped = lombard(trial, sandbox.environment, 'pipe');
  piped.child.stdin?.end(JSON.stringify({ ...PAYEE, name: 'Harrier Tools Ltd' }));
  const { stdout } = await piped.ended;
  assert.deepEqual([JSON.parse(stdout).name, JSON.parse(stdout).beneficiary_id], ['Harrier Tools Ltd', null]);
  for (const wrong of [['--file', path, '--name', 'Other'], []]) {
    const { code, stderr } = await sandbox.run('beneficiaries', 'create', ...wrong);
    assert.deepEqual([code, /--file/.test(stderr)], [2, true], stderr);
  }
});

test('a refusal tells all faults, a line each; with --json the errors of the API', async () => {
  const wrong = options({ ...PAYEE, bank_identifier: '60161', country_code: 'XX' });
  const { code, stderr } = await sandbox.run('beneficiaries', 'create', ...wrong);
  assert.equal(code, 1);
  assert.match(stderr, /^lombard: invalid_body: body\.country_code: /);
  assert.match(stderr, /^ {2}invalid_country: body\.country_code: .*\n {2}invalid_sort_code: body\.bank_identifier: /m);
  const told = JSON.parse((await sandbox.run('beneficiaries', 'create', ...wrong, '--json')).stderr);
  assert.deepEqual(
    [told.code, told.errors.map((fault: { code: string }) => fault.code)],
    ['invalid_body', ['invalid_country', 'invalid_sort_code']],
  );
});

test('check tells line, field and code of each fault of a file, and makes nothing', async () => {
  const before = (await sandbox.json('beneficiaries', 'list', '--page_size', '1000')).length;
  const csv = [
    'name,country_code,bank_country_code,bank_currency_code,account_number,bank_identifier,email_notification,email_addresses',
    '"Good, ""and"" Sons",GB,GB,GBP,63748472,202959,true,a@x.example;b@x.example',
    '"No',
    'code",GB,GB,GBP,1234,20295,,',
    'Too short,GB',
    '',
    'Bad flag,GB,GB,GBP,63748472,202959,maybe,',
    '',
    '',
  ].join('\r\n');
  const checked = await sandbox.run('beneficiaries', 'check', file('payees.csv', csv));
  assert.equal(checked.code, 1);
  const found = checked.stdout.split('\n').map((line) => line.split(/ {2,}/).slice(0, 3));
  assert.deepEqual(found.slice(1, -2), [
    ['3', 'name', 'invalid_format'],
    ['3', 'account_number', 'invalid_account_number'],
    ['3', 'bank_identifier', 'invalid_sort_code'],
    ['5', '-', 'invalid_format'],
    ['7', 'email_notification', 'invalid_format'],
  ]);
  assert.match(checked.stdout, /^3 payees, 5 faults$/m);

  const list = [{ ...PAYEE, name: 'Osprey Ltd' }, { ...PAYEE, name: 'Falcon Ltd', colour: 'red' }, PAYEE];
  const json = await sandbox.run('beneficiaries', 'check', file('payees.json', list), '--json');
  const findings = JSON.parse(json.stdout);
  const line =
    readFileSync(join(sandbox.dataDir, '..', 'payees.json'), 'utf8')
      .split('\n')
      .indexOf('  {', 2) + 1;
  assert.deepEqual([json.code, findings.length], [1, 1]);
  assert.deepEqual([findings[0].line, findings[0].field, findings[0].code], [line, 'colour', 'unknown_field']);
  // The list is judged as a whole: a payee may not stand in it twice.
  const twice = await sandbox.run('beneficiaries', 'check', file('twice.json', [PAYEE, PAYEE, 'x']), '--json');
  assert.deepEqual(
    JSON.parse(twice.stdout).map((each: { field: string; code: string }) => [each.field, each.code]),
    [
      [null, 'duplicate_row'],
      [null, 'invalid_format'],
    ],
  );
  const one = await sandbox.run('beneficiaries', 'check', file('payee.json', PAYEE));
  assert.deepEqual([one.code, one.stdout], [0, '1 payee: nothing is wrong\n']);
  assert.deepEqual(await sandbox.json('beneficiaries', 'check', file('payee.json', PAYEE)), []);
  assert.equal((await sandbox.json('beneficiaries', 'list', '--page_size', '1000')).length, before);
});

test('check refuses a file that it cannot read: a header of other names, an open quote, no rows', async () => {
  const header = await sandbox.run(
    'beneficiaries',
    'check',
    file('other.csv', 'name,colour,name\nA,red,B\n'),
    '--json',
  );
  assert.equal(header.code, 1);
  assert.deepEqual(
    JSON.parse(header.stdout).map((one: { line: number; field: string; code: string }) => [
      one.line,
      one.field,
      one.code,
    ]),
    [
      [1, 'colour', 'unknown_field'],
      [1, 'name', 'invalid_format'],
    ],
  );
  for (const [content, says] of [
    ['name\n"A', /line 2: a cell in quotes/],
    ['name\n', /no payees/],
    ['[]', /no payees/],
    ['{', /is not JSON/],
  ] as const)
    assert.match((await sandbox.run('beneficiaries', 'check', file('wrong', content))).stderr, says);
});
