import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/index.ts';
import { type Sandbox, startSandbox } from '../world/demonstration.ts';
import { Receiver } from '../world/receivers/receiver.ts';

let sandbox: Sandbox;
before(async () => {
  sandbox = await startSandbox();
});
after(() => sandbox.stop());

/** A new payment of a colleague that waits for the demonstration's contact. */
async function waiting(): Promise<string> {
  const [model] = await sandbox.json('payments', 'list', '--status', 'complete', '--page-size', '1');
  const { trade_id, beneficiary_id, payment_currency } = model;
  const made = await sandbox.operator('POST', '/payments', {
    ...{ client_id: 'CLI000001', contact_id: 'CON000002', trade_id, beneficiary_id, payment_currency },
    ...{ amount: 10, payment_date: '2035-01-15' },
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

describe('accounts, statements, documents', () => {
  test('currency accounts and a statement', async () => {
    assert.match((await sandbox.run('accounts')).stdout, /^ACCOUNT +CURRENCY\n/);
    assert.ok((await sandbox.json('accounts'))[0].account_id > 0);
    const dates = ['--date-from', '2026-10-01', '--date-to', '2026-10-31'];
    const asked = await sandbox.run('statements', 'request', ...dates, '--format', 'csv', '--currencies', 'EUR');
    assert.match(asked.stdout, /accepted/);
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

test('approvals config: what get prints, set takes', async () => {
  const file = join(sandbox.dataDir, '..', 'approvals.json');
  const set = () => sandbox.run('approvals', 'config', 'set', file);
  const rule = { groups: [{ one_of: [{ all_of: ['owners'] }] }], minimum_threshold: 5_000 };
  const configuration = {
    groups: [{ name: 'owners', users: [{ id: 'CON000001' }] }],
    ruleset: { currency: 'EUR', rules: [rule] },
  };
  writeFileSync(file, JSON.stringify(configuration));
  const first = await set();
  assert.deepEqual([first.code, first.stderr], [0, '']);
  const { stdout } = await sandbox.run('approvals', 'config', 'get');
  assert.deepEqual(JSON.parse(stdout).ruleset, configuration.ruleset);
  writeFileSync(file, stdout);
  assert.equal((await set()).code, 0);
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
    const again = await sandbox.run('notifications', 'replay', id, '--since', '2026-01-01T00:00:00Z');
    assert.match(again.stdout, /^\d+ notifications are sent again\n$/);
    assert.equal((await sandbox.run('notifications', 'replay', id, '--since', 'yesterday')).code, 2);
    assert.equal((await sandbox.run('subscriptions', 'delete', id)).code, 0);
    assert.equal((await sandbox.run('subscriptions', 'delete', id)).code, 1);
    await receiver.stop();
  });
});

describe('the frame', () => {
  test('every command has help with an example', async () => {
    const below = (command: Command): Command[] => command.commands.flatMap((one) => [one, ...below(one)]);
    const pathOf = (command: Command): string =>
      command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
    const commands = below(await createProgram(false, () => {}));
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
    assert.equal((await sandbox.run('payments')).code, 2);
  });

  test('without a sandbox and without a sign-in: exit 3', async () => {
    const folder = join(sandbox.dataDir, '..', 'elsewhere');
    mkdirSync(folder);
    const { lombard } = await import('../world/command.ts');
    const away = await lombard(['accounts'], { ...sandbox.environment, LOMBARD_DATA_DIR: folder }).ended;
    assert.deepEqual([away.code, away.stdout], [3, '']);
    assert.match(away.stderr, /nobody is signed in/);
    rmSync(folder, { recursive: true });
  });
});
