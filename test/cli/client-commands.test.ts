import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Command, CommanderError } from 'commander';
import { Secret, TOTP } from 'otpauth';
import { createProgram } from '../../src/cli/index.ts';
import { inherited, lombard, REPOSITORY } from '../world/command.ts';
import { type Sandbox, startSandbox } from '../world/demonstration.ts';
import { Receiver } from '../world/receivers/receiver.ts';
import { until } from '../world/until.ts';

let sandbox: Sandbox;
before(async () => {
  sandbox = await startSandbox();
});
after(() => sandbox.stop());

/** No command of these tests starts a service. */
const unloaded = () => Promise.reject(new Error('no service is started here'));

/** A new payment of a colleague that waits for the demonstration's contact. */
async function waiting(fields: object = {}): Promise<string> {
  const [model] = await sandbox.json('payments', 'list', '--status', 'complete', '--page-size', '1');
  const { trade_id, beneficiary_id, payment_currency } = model;
  const made = await sandbox.operator('POST', '/payments', {
    ...{ client_id: 'CLI000001', contact_id: 'CON000002', trade_id, beneficiary_id, payment_currency },
    ...{ amount: 10, payment_date: '2035-01-15', ...fields },
  });
  return made.payment_id;
}

describe('payments', () => {
  test('a table for people, the page as JSON for programs; parameters in either spelling', async () => {
    const { code, stdout } = await sandbox.run('payments', 'list', '--page_size', '3', '--order', 'desc');
    assert.equal(code, 0);
    const lines = stdout.trimEnd().split('\n');
    assert.equal(lines.length, 5);
    assert.match(lines[0] as string, /^PAYMENT +AMOUNT +CURRENCY +DATE +STATUS/);
    assert.match(lines[4] as string, /^3 of 268 payments; the next page: --page 2$/);
    const page = await sandbox.json(
      'payments',
      'list',
      '--page-size=3',
      '--page',
      '2',
      '--payment_currency',
      'EUR,USD',
    );
    assert.equal(page.length, 3);
    assert.ok(page.every((payment: { payment_currency: string }) => /EUR|USD/.test(payment.payment_currency)));
  });

  test('amounts have the digits that were sent, for people and for programs', async () => {
    const id = await waiting({ amount: '12345678901234567.80', reference: 'DIGITS' });
    const short = await waiting({ amount: '726.20', reference: 'DIGITS' });
    const table = (await sandbox.run('payments', 'list', '--reference', 'DIGITS')).stdout;
    assert.match(table, new RegExp(`^${id} +12345678901234567\\.80 `, 'm'));
    assert.match(table, new RegExp(`^${short} +726\\.20 `, 'm'));
    assert.match((await sandbox.run('payments', 'show', short)).stdout, /^amount +726\.20$/m);
    const { stdout } = await sandbox.run('payments', 'list', '--reference', 'DIGITS', '--json');
    assert.deepEqual(stdout.match(/"amount":[^,]+/g), ['"amount":12345678901234567.80', '"amount":726.20']);
    assert.equal(JSON.parse(stdout).length, 2);
  });

  test('approve, reject and cancel take a reason', async () => {
    const decided = async (name: string, how: string) => {
      const id = await waiting();
      assert.equal((await sandbox.run('payments', name, id, '--reason', how)).code, 0);
      return sandbox.json('payments', 'show', id);
    };
    assert.equal((await decided('reject', 'Wrong account')).reason, 'Wrong account');
    assert.equal((await decided('cancel', 'Ordered twice')).reason, 'Ordered twice');
    const { authorisations } = (await decided('approve', 'Matches invoice 42')).approvals_workflow;
    assert.equal(authorisations.at(-1).reason, 'Matches invoice 42');
    assert.match((await sandbox.run('multipayments', 'reject', 'nope')).stderr, /^lombard: multipayment_not_found: /);
  });

  test('show, approve, reject, cancel', async () => {
    const id = await waiting();
    assert.equal((await sandbox.json('payments', 'show', id)).payment_id, id);
    assert.match((await sandbox.run('payments', 'show', id)).stdout, new RegExp(`^payment_id +${id}$`, 'm'));
    assert.equal((await sandbox.run('payments', 'approve', id)).stdout, `${id} is approved\n`);
    const rejected = await waiting();
    await sandbox.json('payments', 'reject', rejected);
    assert.equal((await sandbox.json('payments', 'show', rejected)).status, 'Payment rejected');
    const cancelled = await waiting();
    await sandbox.json('payments', 'cancel', cancelled);
    assert.equal((await sandbox.json('payments', 'show', cancelled)).status, 'Payment cancelled');
  });

  test('a refusal: exit 1, one line with the code; with --json the ErrorMessage', async () => {
    const refused = await sandbox.run('payments', 'show', 'PAY-NONE');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /^lombard: payment_not_found: path.payment_id: .+\n$/);
    const told = await sandbox.run('payments', 'show', 'PAY-NONE', '--json');
    const { code, message, details } = JSON.parse(told.stderr);
    assert.deepEqual([told.code, told.stdout, code], [1, '', 'payment_not_found']);
    assert.ok(message.length > 0 && !message.includes(details));
  });
});

describe('step-up', () => {
  const approve = (id: string, ...more: string[]) => sandbox.run('payments', 'approve', id, ...more);
  const statusOf = async (id: string) => (await sandbox.json('payments', 'show', id)).status;
  let secret: string;
  before(async () => {
    await sandbox.operator('PATCH', '/clients/CLI000001', { approval_step_up: true });
    ({ secret } = (await sandbox.operator('PATCH', '/contacts/CON000001', { second_factor: 'totp' })).totp);
  });
  after(async () => {
    await sandbox.operator('PATCH', '/clients/CLI000001', { approval_step_up: false });
    await sandbox.operator('PATCH', '/contacts/CON000001', { second_factor: 'none' });
  });
  /** The code that the authenticator shows, or will show: a code is good once. */
  const codeOf = (steps: number) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 });

  test('without a terminal --verification-code answers the challenge; a text message is waited for', async () => {
    const id = await waiting();
    const asked = await approve(id, '--json');
    assert.deepEqual([asked.code, JSON.parse(asked.stderr).code], [1, 'step_up_required']);
    assert.match((await approve(id, '--verification-code', '1')).stderr, /^lombard: (step_up_failed|invalid_body): /);
    const done = await approve(id, '--reason', 'Checked', '--verification-code', codeOf(0));
    assert.deepEqual([done.stdout, done.stderr], [`${id} is approved\n`, '']);

    await sandbox.operator('PATCH', '/contacts/CON000001', { second_factor: 'sms' });
    const other = await waiting();
    assert.match(
      (await approve(other)).stderr,
      /step_up_required: .*text message; call again with --challenge-id \S+ --verification-code/,
    );
    const [{ text }] = await sandbox.operator('GET', '/text-messages');
    const [code = ''] = /\b\d{6}\b/.exec(text) ?? [];
    assert.equal((await approve(other, '--verification-code', code)).code, 0);
    await sandbox.operator('PATCH', '/contacts/CON000001', { second_factor: 'totp' }).then(({ totp }) => {
      secret = totp.secret;
    });
  });

  const missing = spawnSync('script', ['--version']).status === 0 ? false : 'no script (util-linux) here';
  test('a terminal is asked for the code, again where it is wrong', { skip: missing }, async () => {
    const id = await waiting();
    const command = `${join(REPOSITORY, 'bin/lombard')} payments approve ${id}`;
    const env = { ...inherited(), ...sandbox.environment };
    const terminal = spawn('script', ['-qec', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
    let output = '';
    terminal.stdout.on('data', (chunk) => void (output += chunk));
    const questions = () => output.split('Verification code').length - 1;
    await until(() => questions() === 1);
    terminal.stdin.write(`${String((Number(codeOf(0)) + 7) % 1_000_000).padStart(6, '0')}\n`);
    await until(() => /wrong/.test(output) && questions() >= 2);
    terminal.stdin.write(`${codeOf(0)}\n`);
    await until(() => /is approved/.test(output));
    terminal.stdin.end();
    assert.notEqual(await statusOf(id), 'Payment pending of authorization');
  });
});

describe('accounts, statements, documents', () => {
  test('currency accounts and a statement', async () => {
    assert.match((await sandbox.run('accounts')).stdout, /^ACCOUNT +CURRENCY\n/);
    assert.ok((await sandbox.json('accounts'))[0].account_id > 0);
    const dates = ['--date-from', '2026-10-01', '--date-to', '2026-10-31'];
    const asked = await sandbox.run('statements', 'request', ...dates, '--format', 'csv', '--currencies', 'EUR');
    const [, id] = /^.* accepted.*\n(\S+) /.exec(asked.stdout) ?? [];
    assert.equal((await sandbox.json('statements', 'show', id as string)).id, id);
    assert.equal((await sandbox.run('statements', 'request', '--date-from', '2026-10-01')).code, 2);
  });

  test('a document goes into a file, or to standard output', async () => {
    const id = await waiting();
    const file = join(sandbox.dataDir, '..', 'instruction.pdf');
    assert.equal((await sandbox.run('documents', 'get', 'pi', id, '--output', file)).code, 0);
    assert.equal(readFileSync(file, 'latin1').slice(0, 5), '%PDF-');
    assert.match((await sandbox.run('documents', 'get', 'pi', id, '--output', '-')).stdout, /^%PDF-/);
  });
});

test('approvals config: what get prints, set takes; check says who would approve, and changes nothing', async () => {
  const file = join(sandbox.dataDir, '..', 'approvals.json');
  const set = () => sandbox.run('approvals', 'config', 'set', file);
  const printed = async () => (await sandbox.run('approvals', 'config', 'get')).stdout;
  const empty = await printed();
  writeFileSync(file, empty);
  assert.deepEqual([(await set()).code, await printed()], [0, empty], 'of a client without a configuration');
  const rule = { groups: [{ one_of: [{ all_of: ['owners'] }] }], minimum_threshold: 5_000 };
  const configuration = {
    groups: [{ name: 'owners', users: [{ id: 'CON000001' }] }],
    ruleset: { currency: 'EUR', rules: [rule] },
  };
  writeFileSync(file, JSON.stringify(configuration).replace('5000', '5000.50'));
  const check = ['approvals', 'config', 'check', file];
  const checked = await sandbox.run(...check, '--amounts', '5000.49,12345678901234567.80');
  assert.match(checked.stdout, /^5000\.49 +EUR +no rule +0/m, checked.stderr);
  assert.match(checked.stdout, /^12345678901234567\.80 +EUR +5000\.50 +1 +owners +CON000001$/m);
  assert.equal((await sandbox.json(...check)).samples.length, 1, 'each threshold by default');
  assert.equal((await sandbox.run(...check, '--amounts', 'much')).code, 2);
  assert.equal(await printed(), empty);
  const first = await set();
  assert.deepEqual([first.code, first.stderr], [0, '']);
  const { stdout } = await sandbox.run('approvals', 'config', 'get');
  assert.match(stdout, /"minimum_threshold": 5000\.50,?\n/);
  writeFileSync(file, stdout);
  assert.equal((await set()).code, 0);
  assert.equal(await printed(), stdout);
  writeFileSync(file, empty);
  assert.match((await set()).stderr, /^lombard: invalid_body: body\.ruleset: /, 'a configuration is not removed');
  writeFileSync(file, '{');
  assert.match((await set()).stderr, /is not JSON/);
});

describe('subscriptions and notifications', () => {
  test('create, list, update, ping, its notification, redeliver, replay, delete', async () => {
    const receiver = await Receiver.start();
    const types = 'PAYMENT_STATUS_CHANGE,TRADE_STATUS_CHANGE';
    const create = ['subscriptions', 'create', '--url', receiver.url(), '--types', types, '--secret', 'whsec_c2VjcmV0'];
    const { id } = await sandbox.json(...create, '--header', 'x-team: treasury');
    assert.match(
      (await sandbox.run('subscriptions', 'list')).stdout,
      new RegExp(`^${id} +yes +${receiver.url()}`, 'm'),
    );
    const changed = await sandbox.json('subscriptions', 'update', id, '--types', 'TRADE_STATUS_CHANGE');
    assert.deepEqual(changed.types, ['TRADE_STATUS_CHANGE']);
    await sandbox.run('subscriptions', 'ping', id);
    await receiver.wait(1);
    const listed = await sandbox.json('notifications', 'list', '--subscription', id);
    assert.deepEqual(
      listed.map((one: { type: string }) => one.type),
      ['PING'],
    );
    await sandbox.run('notifications', 'redeliver', listed[0].id);
    await receiver.wait(2);
    const shown = await sandbox.run('notifications', 'show', listed[0].id);
    assert.match(shown.stdout, /^ATTEMPT +STARTED/m);
    const rotated = await sandbox.json('subscriptions', 'rotate-secret', id, '--overlap', '0');
    assert.match(rotated.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.equal((await sandbox.json('subscriptions', 'list')).at(-1).secret, rotated.secret);
    const again = await sandbox.run('notifications', 'replay', id, '--since', '2026-01-01T00:00:00Z');
    assert.match(again.stdout, /^\d+ notifications are sent again\n$/);
    assert.equal((await sandbox.run('notifications', 'replay', id, '--since', 'yesterday')).code, 2);
    assert.equal((await sandbox.run('subscriptions', 'delete', id)).code, 0);
    assert.equal((await sandbox.run('subscriptions', 'delete', id)).code, 1);
    await receiver.stop();
  });
});

describe('what is not there, and what is not legal', () => {
  const absent = '019a0000-0000-7000-8000-000000000000';
  const cases: [args: string[], code: string][] = [
    [['notifications', 'show', absent], 'notification_not_found'],
    [['notifications', 'show', 'nope'], 'notification_not_found'],
    [['notifications', 'redeliver', 'nope'], 'notification_not_found'],
    [['notifications', 'replay', 'nope', '--since', '2026-01-01T00:00:00Z'], 'subscription_not_found'],
    [['notifications', 'list', '--subscription', absent], 'subscription_not_found'],
    [['subscriptions', 'rotate-secret', 'nope'], 'subscription_not_found'],
    [['subscriptions', 'delete', 'nope'], 'subscription_not_found'],
  ];
  for (const [args, code] of cases)
    test(`${args.join(' ')}: exit 1, ${code}`, async () => {
      const { code: status, stderr } = await sandbox.run(...args, '--json');
      assert.deepEqual([status, JSON.parse(stderr).code], [1, code]);
    });

  const url = ['--url', 'http://127.0.0.1:9'];
  const closed: [args: string[], legal: string][] = [
    [['notifications', 'list', '--status', 'sent'], 'pending, delivered, failed, cancelled'],
    [['notifications', 'list', '--type', 'payment_status_change'], 'TRADE_STATUS_CHANGE, PAYMENT_STATUS_CHANGE'],
    [['listen', '--forward-to', 'http://127.0.0.1:9', '--types', 'PING'], 'TRADE_STATUS_CHANGE, PAYMENT_STATUS_CHANGE'],
    [
      ['subscriptions', 'create', ...url, '--types', 'DEBIT_TRANSACTION,x'],
      'TRADE_STATUS_CHANGE, PAYMENT_STATUS_CHANGE',
    ],
    [['subscriptions', 'update', absent, '--types', ''], 'TRADE_STATUS_CHANGE, PAYMENT_STATUS_CHANGE'],
    [['payments', 'list', '--status', 'done'], 'pending, pending_to_authorise, authorised'],
    [['payments', 'list', '--amount-range', 'above'], 'over, below, equal'],
    [['payments', 'list', '--order', 'up'], 'asc, desc'],
    [['payments', 'list', '--order-by', 'amount'], 'order_date, value_date'],
    [['statements', 'request', '--format', 'xls'], 'pdf, csv, camt.053'],
    [['statements', 'request', '--delivery', 'fax'], 'email, push, both'],
    [['documents', 'get', 'invoice', 'PAY000001'], 'pi, pr, tr'],
    [['logs', '--status', 'bad'], 'a status as 404, or a class as 4xx'],
  ];
  for (const [args, legal] of closed)
    test(`${args.join(' ')}: exit 2 with the legal values`, async () => {
      const program = await createProgram(true, () => {}, unloaded);
      await assert.rejects(
        program.parseAsync(['node', 'lombard', ...args]),
        (error) => error instanceof CommanderError && error.exitCode > 0 && error.message.includes(legal),
      );
    });
});

describe('the frame', () => {
  test('a reader that closes the pipe ends every command quietly', async () => {
    for (const words of [
      ['--help'],
      ['payments', 'list'],
      ['payments', 'show', 'PAY000001', '--json'],
      ['documents', 'get', 'pi', 'PAY000001', '--output', '-'],
      ['keys', 'status'],
      ['audit', 'export'],
      ['completion', 'bash'],
    ]) {
      const { child, ended } = lombard(words, { ...sandbox.environment, DATABASE_URL: sandbox.databaseUrl });
      child.stdout?.destroy();
      const { code, stderr } = await ended;
      assert.deepEqual([words, code, stderr], [words, 0, '']);
    }
  });

  test('a table in a pipe is not cut', async () => {
    const environment = { ...sandbox.environment, DATABASE_URL: sandbox.databaseUrl };
    await sandbox.operator('PATCH', '/contacts/CON000002', { second_factor: 'totp' });
    const [{ columns }] = JSON.parse((await lombard(['keys', 'status', '--json'], environment).ended).stdout);
    const where = Object.entries(columns).map(([column, texts]) => `${column} ${texts}`);
    assert.ok(where.join(', ').length > 48, String(where));
    assert.ok((await lombard(['keys', 'status'], environment).ended).stdout.endsWith(`${where.join(', ')}\n`));
  });

  test('an output that cannot be written is one line and exit 1', async () => {
    const bin = join(REPOSITORY, 'bin/lombard');
    const full = spawnSync('sh', ['-c', '"$0" --help > /dev/full', bin], { env: inherited(), encoding: 'utf8' });
    assert.deepEqual([full.status, full.stderr.split('\n').length], [1, 2], full.stderr);
    assert.match(full.stderr, /^lombard: cannot write the output: ENOSPC/);
  });

  test('every command has help with an example', async () => {
    const below = (command: Command): Command[] => command.commands.flatMap((one) => [one, ...below(one)]);
    const pathOf = (command: Command): string =>
      command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
    const commands = below(await createProgram(false, () => {}, unloaded));
    assert.ok(commands.length > 35, String(commands.length));
    for (const command of commands) {
      let help = '';
      command.configureOutput({ writeOut: (text) => void (help += text) });
      command.outputHelp();
      assert.match(help, new RegExp(`Examples?:\\n(  .*\\n)*  .*lombard ${pathOf(command)}`), pathOf(command));
    }
  });

  test('wrong usage is exit 2; programs get an ErrorMessage', async () => {
    const wrong = await sandbox.run('payments', 'list', '--page', 'two', '--json');
    assert.equal(wrong.code, 2);
    assert.equal(JSON.parse(wrong.stderr).code, 'invalid_usage');
    const help = await sandbox.run('payments');
    assert.deepEqual([help.code, help.stdout, /^Usage: lombard payments /.test(help.stderr)], [2, '', true]);
    for (const words of [[], ['payments'], ['approvals', 'config']]) {
      const { code, stdout, stderr } = await sandbox.run(...words, '--json');
      const { details, ...rest } = JSON.parse(stderr);
      const named = ['lombard', ...words, '--help'].join(' ');
      assert.deepEqual(
        [code, stdout, rest],
        [2, '', { code: 'invalid_usage', message: 'The command was called wrongly' }],
      );
      assert.ok(details.includes(named), details);
    }
    const asked = await sandbox.run('payments', '--help', '--json');
    assert.deepEqual([asked.code, /^Usage: /.test(asked.stdout), asked.stderr], [0, true, '']);
  });

  test('without a sandbox and without a sign-in: exit 3', async () => {
    const folder = join(sandbox.dataDir, '..', 'elsewhere');
    mkdirSync(folder);
    const away = await lombard(['accounts'], { ...sandbox.environment, LOMBARD_DATA_DIR: folder }).ended;
    assert.deepEqual([away.code, away.stdout], [3, '']);
    assert.match(away.stderr, /nobody is signed in/);
    rmSync(folder, { recursive: true });
  });
});
