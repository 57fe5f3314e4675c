import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { inherited, lombard, PORTS, printed, REPOSITORY as repository } from '../world/command.ts';
import { createDatabase, type TestDatabase } from '../world/database.ts';
import { DatabaseProxy } from '../world/engine.ts';
import { until } from '../world/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'lombard-cli-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const run = (args: string[], environment: Record<string, string> = {}) =>
  lombard(args, { LOMBARD_DATA_DIR: join(folder, 'nothing'), ...environment }).ended;

async function shell(command: string, environment: Record<string, string> = {}): Promise<string> {
  const child = spawn('/bin/sh', ['-c', command], {
    env: { ...inherited(), ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  await once(child, 'close');
  return text;
}

describe('calling it', () => {
  test('help and version', async () => {
    const help = await run(['--help']);
    assert.equal(help.code, 0);
    for (const word of ['serve', 'demo', 'import', 'operator-token', 'LOMBARD_DATA_DIR'])
      assert.match(help.stdout, new RegExp(word));
    const version = await run(['--version']);
    assert.equal(version.stdout.trim(), JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')).version);
  });

  test('wrong calls: one line, exit code 2; failures: one line, exit code 1', async () => {
    writeFileSync(join(folder, 'payments.ndjson'), '');
    const cases: [string[], Record<string, string>, number, RegExp][] = [
      [['nonsense'], {}, 2, /unknown command/],
      [['import'], {}, 2, /missing required argument/],
      [['import', 'things.ndjson'], {}, 2, /give --kind/],
      [['import', 'x', '--kind', 'houses'], {}, 2, /Allowed choices/],
      [['operator-token', 'create', 'x', '--expires', 'soon'], {}, 2, /--expires/],
      [['import', join(folder, 'no-payments.ndjson')], {}, 1, /there is no such file/],
      [['import', join(folder, 'payments.ndjson')], {}, 1, /no operator token/],
      [
        ['import', join(folder, 'payments.ndjson'), '--token', 'x', '--url', 'http://127.0.0.1:9'],
        {},
        1,
        /is the service running/,
      ],
      [
        ['serve'],
        { LOMBARD_WORKERS: 'many' },
        1,
        /^lombard: LOMBARD_WORKERS: must be a whole number from 1 to 128, not "many"$/m,
      ],
      [['serve'], { DATABASE_URL: 'http://db' }, 1, /DATABASE_URL/],
    ];
    for (const [args, environment, code, says] of cases) {
      const ended = await run(args, environment);
      assert.deepEqual([args, ended.code, ended.stderr.trimEnd().split('\n').length], [args, code, 1], ended.stderr);
      assert.match(ended.stderr, says);
    }
  });
});

describe('lombard demo', () => {
  let database: TestDatabase;
  let dataDir: string;
  let environment: Record<string, string>;
  before(async () => {
    database = await createDatabase();
    dataDir = join(folder, 'demo');
    environment = { ...PORTS, LOMBARD_DATA_DIR: dataDir, DATABASE_URL: database.url };
  });
  after(() => database.drop());

  test('prints a command that signs in, takes the token and searches; imports; stops cleanly', async () => {
    const started = lombard(['demo'], environment);
    const { child, ended, output } = started;
    try {
      await printed(started, /Lombard is ready/);
      const commands = await until(() => {
        const found = output()
          .split('\n')
          .filter((line) => line.startsWith('curl '));
        return found.length === 2 ? found : undefined;
      });
      const pages = [...output().matchAll(/^ {2}(?:clients' pages|staff's console) +(http\S+)$/gm)].map(
        ([, url]) => url,
      );
      assert.equal(pages.length, 2);
      for (const url of pages) assert.equal((await fetch(url as string)).status, 200, url);
      const answer = await shell(commands[0] as string);
      assert.match(answer, /^HTTP\/1.1 200/);
      assert.match(answer, /x-total-count: 268/);
      assert.equal(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))).length, 2);
      assert.deepEqual(
        JSON.parse(await shell(commands[1] as string)).map((client: { client_id: string }) => client.client_id),
        ['CLI000001', 'CLI000002'],
      );
      assert.equal(statSync(join(dataDir, 'operator-token')).mode & 0o777, 0o600);

      const file = join(folder, 'clients-2026.ndjson.gz');
      writeFileSync(file, gzipSync('{"client_name":"One"}\n{"client_name":""}\n{"client_name":"Two"}\n'));
      const imported = await run(['import', file], { LOMBARD_DATA_DIR: dataDir });
      assert.equal(imported.code, 1);
      assert.match(imported.stdout, /^clients: 2 accepted, 1 rejected/);
      assert.match(imported.stdout, /line 2: invalid_body: body.client_name: must not be empty/);
      const good = await shell(
        `printf '{"client_name":"Three"}\\n' | bin/lombard import - --kind clients; echo "exit $?"`.replace(
          'bin/',
          `${repository}/bin/`,
        ),
        { LOMBARD_DATA_DIR: dataDir },
      );
      assert.match(good, /1 accepted, 0 rejected[\s\S]*exit 0/);

      await interruptedImport(dataDir);
      const token = (await run(['operator-token', 'create', 'feed'], { LOMBARD_DATA_DIR: dataDir })).stdout.trim();
      const refused = await run(['operator-token', 'list', '--token', token], { LOMBARD_DATA_DIR: dataDir });
      assert.match(refused.stderr, /403 permission_denied/);
      const listed = await run(['operator-token', 'list'], { LOMBARD_DATA_DIR: dataDir });
      const id = /^(\S+) {2}core +feed +-$/m.exec(listed.stdout)?.[1] as string;
      const [first] = JSON.parse(
        (await run(['operator-tokens', 'list', '--json'], { LOMBARD_DATA_DIR: dataDir })).stdout,
      );
      assert.equal(typeof first.id, 'string');
      assert.equal((await run(['operator-token', 'revoke', id], { LOMBARD_DATA_DIR: dataDir })).code, 0);
      assert.match(
        (await run(['operator-token', 'list', '--token', token], { LOMBARD_DATA_DIR: dataDir })).stderr,
        /401/,
      );
    } finally {
      child.kill('SIGTERM');
    }
    const { code, stderr } = await ended;
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(existsSync(join(dataDir, 'addresses.json')), false);
  });

  test('told to stop, it ends within 30 s, also where the database has fallen silent', async () => {
    const database = await createDatabase();
    const proxy = await DatabaseProxy.start(database.url);
    const started = lombard(['serve'], { ...PORTS, LOMBARD_DATA_DIR: join(folder, 'silent'), DATABASE_URL: proxy.url });
    try {
      await printed(started, /"msg":"ready"/);
      proxy.silence();
      const began = performance.now();
      started.child.kill('SIGTERM');
      await started.ended;
      assert.ok(performance.now() - began < 30_000);
    } finally {
      started.child.kill('SIGKILL');
      proxy.stop();
      await database.drop();
    }
  });

  test('a token made in the database alone works at the next start, and --no-demo adds nothing', async () => {
    const empty = await createDatabase();
    const own = { ...environment, DATABASE_URL: empty.url, LOMBARD_DATA_DIR: join(folder, 'empty') };
    const made = await run(['operator-token', 'create', 'first', '--role', 'admin', '--database'], own);
    const started = lombard(['demo', '--no-demo'], own);
    const { child, ended, output } = started;
    try {
      await printed(started, /Lombard is ready/);
      assert.doesNotMatch(output(), /Demonstration/);
      const listed = await run(['operator-token', 'list', '--token', made.stdout.trim()], own);
      assert.match(listed.stdout, /admin +first/);
    } finally {
      child.kill('SIGINT');
    }
    assert.equal((await ended).code, 0);
    await empty.drop();
  });
});

/** An import that is interrupted says how to go on, and does go on. */
async function interruptedImport(dataDir: string): Promise<void> {
  const lines = [1, 2, 3].map((n) => `{"client_id":"GO-ON-${n}","client_name":"Client ${n}"}\n`);
  const { operator } = JSON.parse(readFileSync(join(dataDir, 'addresses.json'), 'utf8'));
  const headers = { authorization: `Bearer ${readFileSync(join(dataDir, 'operator-token'), 'utf8').trim()}` };
  const isRunning = async () => {
    const imports = await (await fetch(`${operator}/imports?kind=clients`, { headers })).json();
    return (imports as { state: string }[]).some(({ state }) => state === 'running');
  };
  const started = lombard(['import', '-', '--kind', 'clients'], { LOMBARD_DATA_DIR: dataDir }, 'pipe');
  started.child.stdin?.write(lines.slice(0, 2).join(''));
  await until(isRunning);
  started.child.kill('SIGINT');
  const { code, stderr } = await started.ended;
  const [, key] =
    /^lombard: the import was interrupted; the same command with --idempotency-key (\S+) /.exec(stderr) ?? [];
  assert.deepEqual([code, typeof key], [130, 'string'], stderr);
  const again = ['import', '-', '--kind', 'clients', '--idempotency-key', String(key)];
  const resumed = lombard(again, { LOMBARD_DATA_DIR: dataDir }, 'pipe');
  resumed.child.stdin?.end(lines.join(''));
  assert.match((await resumed.ended).stdout, /^clients: 3 accepted, 0 rejected/);
}

describe('LOMBARD_WORKERS', () => {
  test('two processes share the ports; one that dies is started again; all end together', async () => {
    const database = await createDatabase();
    const environment = {
      ...PORTS,
      LOMBARD_DATA_DIR: join(folder, 'workers'),
      DATABASE_URL: database.url,
      LOMBARD_WORKERS: '2',
    };
    const started = lombard(['serve'], environment);
    const { child, ended } = started;
    const workers = () => childrenOf(child.pid as number);
    try {
      const ready = await printed(started, /"operator":"([^"]+)".*"msg":"ready"/);
      const healthy = async () => (await fetch(`${ready[1]}/health/ready`)).status === 200;
      assert.equal(workers().length, 2);
      assert.ok(await healthy());
      const [first, second] = workers();
      process.kill(first as number, 'SIGKILL');
      await until(() => workers().length === 2 && !workers().includes(first as number));
      assert.ok(workers().includes(second as number));
      // The new one may have the port before it is ready.
      await until(() => healthy().catch(() => false));
    } finally {
      child.kill('SIGTERM');
    }
    const last = workers();
    assert.equal((await ended).code, 0);
    for (const pid of last) assert.throws(() => process.kill(pid, 0));
    await database.drop();
  });
});

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}
