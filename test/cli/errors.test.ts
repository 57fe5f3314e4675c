import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { MESSAGES } from '../../src/values/errors.ts';
import { lombard, printed } from '../world/command.ts';
import { type Sandbox, startSandbox } from '../world/demonstration.ts';

let sandbox: Sandbox;
/** With the database, which some commands open themselves. */
let environment: Record<string, string>;
const run = (...args: string[]) => lombard(args, environment).ended;
before(async () => {
  sandbox = await startSandbox({ LOMBARD_AUTOPILOT: 'off' });
  environment = { ...sandbox.environment, DATABASE_URL: sandbox.databaseUrl };
});
after(() => sandbox.stop());

describe('a refusal of an operator command has its code for programs', () => {
  const absent = '019a0000-0000-7000-8000-000000000000';
  const cases: [args: string[], code: keyof typeof MESSAGES, line: RegExp][] = [
    [['operator-tokens', 'create', 'dup'], 'already_exists', /^http\S+ answered 409 already_exists: body\.name: /],
    [['operator-tokens', 'revoke', absent], 'operator_token_not_found', / answered 404 operator_token_not_found: /],
    [['changes', '--consumer', 'bad name'], 'invalid_parameter', / answered 400 invalid_parameter: query\.consumer: /],
    [['audit', 'verify', '--token', 'bad'], 'authentication_failed', / answered 401 authentication_failed: /],
    [['cells', 'move-client', 'NOPE', 'public'], 'client_not_found', /^the client NOPE does not exist$/],
    [
      ['import', 'FILE', '--token', 'bad', '--kind', 'clients'],
      'authentication_failed',
      /answered 401 authentication_failed/,
    ],
  ];
  before(async () => {
    writeFileSync(join(sandbox.dataDir, 'FILE'), '{}\n');
    assert.equal((await sandbox.run('operator-tokens', 'create', 'dup')).code, 0);
  });
  for (const [args, code, line] of cases)
    test(`${args.join(' ')}: exit 1, ${code}`, async () => {
      const words = args.map((word) => (word === 'FILE' ? join(sandbox.dataDir, word) : word));
      const told = await run(...words);
      assert.equal(told.code, 1);
      assert.match(told.stderr, /^lombard: .+\n$/);
      assert.match(told.stderr.slice('lombard: '.length, -1), line);
      const { code: status, stdout, stderr } = await run(...words, '--json');
      const { details, ...rest } = JSON.parse(stderr);
      assert.deepEqual([status, stdout, rest], [1, '', { code, message: MESSAGES[code] }]);
      assert.ok(told.stderr.endsWith(`${details}\n`) && !details.includes(code), details);
    });

  test('a token in the database whose name is taken', async () => {
    const create = ['operator-tokens', 'create', 'dup', '--database'];
    const line = (await run(...create)).stderr;
    assert.equal(line, 'lombard: already_exists: name: is the name of another token\n');
    const { code, stderr } = await run(...create, '--json');
    assert.deepEqual([code, JSON.parse(stderr).code], [1, 'already_exists']);
  });
});

test('a stream that the service refuses ends listen with the code', async () => {
  const listening = sandbox.start('listen', '--forward-to', 'http://127.0.0.1:9/hook', '--json');
  try {
    const [, id = ''] = await printed(listening, /"subscription_id":"([^"]+)"/);
    assert.equal((await sandbox.run('subscriptions', 'delete', id)).code, 0);
    const { code, stderr } = await listening.ended;
    const { details, ...rest } = JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '');
    assert.deepEqual([code, rest], [1, { code: 'subscription_not_found', message: MESSAGES.subscription_not_found }]);
    assert.ok(details.length > 0);
  } finally {
    listening.child.kill('SIGKILL');
  }
});

test('a refusal of GraphQL has the message of the catalogue', async () => {
  const unknown = '019a0000-0000-4000-8000-000000000000';
  const { code, stderr } = await sandbox.run('notifications', 'redeliver', unknown, '--json');
  assert.deepEqual(
    [code, JSON.parse(stderr)],
    [
      1,
      {
        code: 'notification_not_found',
        message: MESSAGES.notification_not_found,
        details: 'id: does not name a notification that is kept',
      },
    ],
  );
});
