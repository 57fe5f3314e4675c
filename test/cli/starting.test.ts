import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { LOCKS } from '../../src/database/locks.ts';
import { checkTrustedFiles } from '../../src/http/trusted/files.ts';
import { readConfig } from '../../src/settings/config.ts';
import { lombard, MAX_START_SECONDS, PORTS, printed } from '../world/command.ts';
import { createDatabase, type TestDatabase } from '../world/database.ts';
import { credentials, issue } from '../world/pki.ts';
import { freePort, listening } from '../world/ports.ts';
import { until } from '../world/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'lombard-starting-'));
after(() => rmSync(folder, { recursive: true, force: true }));

let database: TestDatabase;
before(async () => {
  database = await createDatabase();
});
after(() => database.drop());

let directories = 0;
/** An environment for one start, with a data directory of its own. */
function environment(more: Record<string, string> = {}): Record<string, string> {
  directories += 1;
  return { ...PORTS, LOMBARD_DATA_DIR: join(folder, `data-${directories}`), DATABASE_URL: database.url, ...more };
}

/** A database address behind which nobody listens: a start that touches the database says so. */
const NO_DATABASE = 'postgres://nobody@127.0.0.1:9/none';

async function refused(more: Record<string, string>): Promise<string> {
  const { child, ended } = lombard(['serve'], environment({ DATABASE_URL: NO_DATABASE, ...more }));
  const timer = setTimeout(() => child.kill('SIGKILL'), MAX_START_SECONDS * 1_000);
  const { code, stderr } = await ended;
  clearTimeout(timer);
  assert.equal(code, 1, stderr);
  assert.equal(stderr.trimEnd().split('\n').length, 1, stderr);
  return stderr.trimEnd().replace(/^lombard: /, '');
}

const STAFF = {
  LOMBARD_STAFF_CLIENT_ID: 'console',
  LOMBARD_STAFF_CLIENT_SECRET: 'secret',
  LOMBARD_STAFF_ROLES: 'groups:x=support',
};

test('production names everything that is unsafe at once, the lack of an operator token too', async () => {
  const nothing = { LOMBARD_ENVIRONMENT: 'production', LOMBARD_AUTOPILOT: '2s' };
  const named = (text: string) => [...text.matchAll(/[A-Z]+_[A-Z_]+(?= is |:)/g)].map(([name]) => name);
  const always = [
    ...['LOMBARD_ENVIRONMENT', 'LOMBARD_MASTER_KEY', 'LOMBARD_API_URL', 'LOMBARD_AUTH_URL', 'SMTP_URL'],
    'LOMBARD_AUTOPILOT',
  ];
  const all = (text: string) => named(text.replace('=production', ':'));
  assert.deepEqual(all(await refused(nothing)), [...always, 'LOMBARD_OPERATOR_TOKEN']);
  const embedded = all(await refused({ ...nothing, DATABASE_URL: '' }));
  assert.deepEqual(embedded.toSorted(), [...always, 'DATABASE_URL', 'LOMBARD_OPERATOR_TOKEN'].toSorted());
  assert.deepEqual(all(await refused({ ...nothing, DATABASE_URL: database.url })), [
    ...always,
    'LOMBARD_OPERATOR_TOKEN',
  ]);
  const created = await lombard(['operator-tokens', 'create', 'core', '--database'], environment()).ended;
  assert.equal(created.code, 0, created.stderr);
  assert.deepEqual(all(await refused({ ...nothing, DATABASE_URL: database.url })), always);
});

describe('a wrong value stops the start with one line that names the variable', () => {
  const file = join(folder, 'a-file');
  writeFileSync(file, 'this is no certificate\n');

  const cases: [string, Record<string, string>, RegExp][] = [
    ['an empty item', { LOMBARD_WEBHOOK_RETRIES: '5s,,1m' }, /^LOMBARD_WEBHOOK_RETRIES: .*empty.*"5s,,1m"$/],
    ['an empty item at the end', { LOMBARD_ROLES: 'api,' }, /^LOMBARD_ROLES: .*empty.*"api,"$/],
    ['an empty range', { LOMBARD_PROXIES: '10.0.0.0/8,,::1' }, /^LOMBARD_PROXIES: .*empty/],
    ['a data directory that is a file', { LOMBARD_DATA_DIR: file }, /^LOMBARD_DATA_DIR: must be a directory.*a-file/],
    ['the same with the embedded database', { LOMBARD_DATA_DIR: file, DATABASE_URL: '' }, /^LOMBARD_DATA_DIR: must/],
    ['the same with workers', { LOMBARD_DATA_DIR: file, LOMBARD_WORKERS: '2' }, /^LOMBARD_DATA_DIR: must/],
    [
      'authorities without a certificate',
      { LOMBARD_TRUSTED_CA: file },
      /^LOMBARD_TRUSTED_CA: needs LOMBARD_TRUSTED_CERT.*a-file/,
    ],
    [
      'a list without a certificate',
      { LOMBARD_TRUSTED_CRL: file },
      /^LOMBARD_TRUSTED_CRL: needs LOMBARD_TRUSTED_CERT.*a-file/,
    ],
    [
      'a certificate without its key',
      { LOMBARD_TRUSTED_CERT: file },
      /^LOMBARD_TRUSTED_CERT: needs LOMBARD_TRUSTED_KEY.*a-file/,
    ],
    [
      'a logo that cannot be read',
      { LOMBARD_INSTITUTION_LOGO: '/no/logo.svg' },
      /^LOMBARD_INSTITUTION_LOGO: .*no\/logo.svg/,
    ],
    [
      'a table of bank details that cannot be read',
      { LOMBARD_BANK_DETAILS: '/no/table.json' },
      /^LOMBARD_BANK_DETAILS: .*no\/table.json/,
    ],
    [
      'a health port',
      { LOMBARD_HEALTH_PORT: 'x' },
      /^LOMBARD_HEALTH_PORT: must be a whole number from 0 to 65535, not "x"$/,
    ],
    [
      'an issuer of the staff that is not https',
      { LOMBARD_STAFF_ISSUER: 'http://id.example', ...STAFF },
      /^LOMBARD_STAFF_ISSUER: must be an address that begins with https:\/\/.*not "http:\/\/id\.example"$/,
    ],
    [
      'an issuer of the staff without a secret',
      { LOMBARD_STAFF_ISSUER: 'https://id.example', ...STAFF, LOMBARD_STAFF_CLIENT_SECRET: '' },
      /^LOMBARD_STAFF_ISSUER: needs LOMBARD_STAFF_CLIENT_SECRET, which is not set \(it is "https:\/\/id\.example"\)$/,
    ],
    [
      'roles of the staff without an issuer',
      STAFF,
      /^LOMBARD_STAFF_CLIENT_ID: needs LOMBARD_STAFF_ISSUER, which is not set$/,
    ],
    [
      'a role of the staff that does not exist',
      { LOMBARD_STAFF_ISSUER: 'https://id.example', ...STAFF, LOMBARD_STAFF_ROLES: 'groups:x=support,groups:y=boss' },
      /^LOMBARD_STAFF_ROLES: must be a list of claim:value=role .*not "groups:y=boss"$/,
    ],
    [
      'an address of the console',
      { LOMBARD_OPERATOR_URL: 'ops.example' },
      /^LOMBARD_OPERATOR_URL: must be an address.*not "ops.example"$/,
    ],
    ['an idle time of the pages', { LOMBARD_APP_IDLE: '15' }, /^LOMBARD_APP_IDLE: must be a duration.*not "15"$/],
    ['approval mails', { LOMBARD_APPROVAL_MAILS: 'maybe' }, /^LOMBARD_APPROVAL_MAILS: must be .*yes.*no.*not "maybe"$/],
    ['a drain', { LOMBARD_DRAIN: '5' }, /^LOMBARD_DRAIN: must be a duration.*not "5"$/],
    ['a pool', { LOMBARD_POOL: '0' }, /^LOMBARD_POOL: must be a whole number from 1/],
    [
      'a proxy header',
      { LOMBARD_PROXY_HEADER: 'x-real-ip' },
      /^LOMBARD_PROXY_HEADER: must be x-forwarded-for or forwarded/,
    ],
    [
      'a secret given twice',
      { LOMBARD_OPERATOR_TOKEN: 'a'.repeat(20), LOMBARD_OPERATOR_TOKEN_FILE: file },
      /^LOMBARD_OPERATOR_TOKEN.*LOMBARD_OPERATOR_TOKEN_FILE.*only one/,
    ],
    ['whether to migrate', { LOMBARD_MIGRATE: 'maybe' }, /^LOMBARD_MIGRATE: must be yes or no, not "maybe"$/],
    ...(['LOMBARD_SESSION_DATABASE_URL', 'LOMBARD_MIGRATE_DATABASE_URL'] as const).flatMap(
      (variable): [string, Record<string, string>, RegExp][] => [
        [
          `another database in ${variable}`,
          { DATABASE_URL: 'postgres://db/x', [variable]: 'mysql://u:hunter2@db/x' },
          new RegExp(`^${variable}: must be an address that begins with postgres:// or postgresql://$`),
        ],
        [
          `${variable} without DATABASE_URL`,
          { DATABASE_URL: '', [variable]: 'postgres://db/x' },
          new RegExp(`^${variable}: needs DATABASE_URL, which is not set$`),
        ],
        [
          `${variable} and its file`,
          { DATABASE_URL: 'postgres://db/x', [variable]: 'postgres://db/x', [`${variable}_FILE`]: file },
          new RegExp(`^${variable} and ${variable}_FILE: set only one of them$`),
        ],
        [
          `a ${variable}_FILE with something else`,
          { DATABASE_URL: 'postgres://db/x', [`${variable}_FILE`]: file },
          new RegExp(`^${variable}_FILE: must be an address that begins with postgres:// or postgresql://$`),
        ],
      ],
    ),
    [
      'hosts and ports that do not agree',
      { DATABASE_URL: 'postgres://u:hunter2@a,b/db?port=1,2,3' },
      /^DATABASE_URL: names more or fewer ports than hosts$/,
    ],
    [
      'a session that cannot write',
      { DATABASE_URL: 'postgres://a,b/db?target_session_attrs=standby' },
      /^DATABASE_URL: has target_session_attrs=standby: must be any, read-write or primary, because the service writes$/,
    ],
    ['a secret in no file', { LOMBARD_MASTER_KEY_FILE: '/no/key' }, /^LOMBARD_MASTER_KEY_FILE: .*"\/no\/key"/],
  ];
  for (const [name, more, says] of cases)
    test(name, async () => {
      const data = more.LOMBARD_DATA_DIR ?? more.LOMBARD_INSTITUTION_LOGO ?? more.LOMBARD_BANK_DETAILS;
      if (data !== undefined) return assert.match(await refused(more), says);
      assert.throws(() => readConfig(more), { name: 'StartupError', message: says });
    });

  test('a secret can stand in a file; one newline at its end is dropped', () => {
    const secret = join(folder, 'secret');
    writeFileSync(secret, 'a-token-that-is-long-enough\n');
    assert.equal(readConfig({ LOMBARD_OPERATOR_TOKEN_FILE: secret }).operatorToken, 'a-token-that-is-long-enough');
    writeFileSync(secret, 'postgres://user:password@db/lombard\n');
    assert.equal(readConfig({ DATABASE_URL_FILE: secret }).databaseUrl, 'postgres://user:password@db/lombard');
    const { sessionDatabaseUrl, migrateDatabaseUrl } = readConfig({
      DATABASE_URL: 'postgres://a,b:6432/lombard?target_session_attrs=read-write',
      LOMBARD_SESSION_DATABASE_URL_FILE: secret,
      LOMBARD_MIGRATE_DATABASE_URL_FILE: secret,
    });
    assert.deepEqual([sessionDatabaseUrl, migrateDatabaseUrl], Array(2).fill('postgres://user:password@db/lombard'));
  });

  test('a secret in a file that is wrong is not shown', async () => {
    assert.throws(
      () => readConfig({ LOMBARD_MASTER_KEY_FILE: file }),
      ({ message }: Error) => /^LOMBARD_MASTER_KEY_FILE: must be .*32 bytes/.test(message) && !/certif/.test(message),
    );
  });

  test('a master key in the data directory that is damaged, and not shown', async () => {
    const dataDir = join(folder, 'damaged');
    mkdirSync(dataDir);
    const whole = Buffer.alloc(32, 9).toString('base64');
    for (const damaged of [
      '',
      whole.slice(0, 20),
      `${whole.slice(0, 20)}\u00a7${whole.slice(20)}`,
      `${whole}\n${whole}`,
    ]) {
      writeFileSync(join(dataDir, 'master-key'), damaged);
      const says = `${join(dataDir, 'master-key')} must contain 32 bytes in base64, and is damaged: `;
      const remedy = 'restore it, or set LOMBARD_MASTER_KEY to its key';
      assert.equal(await refused({ LOMBARD_DATA_DIR: dataDir }), says + remedy);
      const status = await lombard(['keys', 'status', '--json'], environment({ LOMBARD_DATA_DIR: dataDir })).ended;
      assert.deepEqual([status.code, JSON.parse(status.stderr).details], [1, says + remedy]);
    }
  });

  test('files of the trusted listener', async () => {
    const authority = await issue({ subject: 'CN=authority', ca: true });
    const holder = await issue({ subject: 'CN=localhost', issuer: authority });
    const { cert, key } = await credentials(holder);
    const other = await credentials(await issue({ subject: 'CN=other', issuer: authority }));
    const path = (name: string, text: string) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const files = {
      LOMBARD_TRUSTED_CERT: path('cert.pem', cert),
      LOMBARD_TRUSTED_KEY: path('key.pem', key),
      LOMBARD_TRUSTED_CA: path('ca.pem', cert),
    };
    const missing = await refused({ ...files, LOMBARD_TRUSTED_CERT: '/no/cert.pem' });
    assert.match(missing, /^LOMBARD_TRUSTED_CERT: .*"\/no\/cert.pem"/);
    const wrong: [Record<string, string>, RegExp][] = [
      [{ LOMBARD_TRUSTED_KEY: file }, /^LOMBARD_TRUSTED_KEY: .*a-file/],
      [{ LOMBARD_TRUSTED_KEY: path('other.pem', other.key) }, /^LOMBARD_TRUSTED_KEY: .*other.pem/],
      [{ LOMBARD_TRUSTED_CA: file }, /^LOMBARD_TRUSTED_CA: .*a-file/],
      [{ LOMBARD_TRUSTED_CA: files.LOMBARD_TRUSTED_KEY }, /^LOMBARD_TRUSTED_CA: .*key.pem/],
      [{ LOMBARD_TRUSTED_CRL: files.LOMBARD_TRUSTED_CERT }, /^LOMBARD_TRUSTED_CRL: .*cert.pem/],
      [{ LOMBARD_TRUSTED_CA: '' }, /^LOMBARD_TRUSTED_CERT: needs LOMBARD_TRUSTED_CA/],
    ];
    for (const [more, message] of wrong)
      await assert.rejects(async () => checkTrustedFiles(readConfig({ ...files, ...more })), {
        ...{ name: 'StartupError', message },
      });
  });
});

describe('a port that is taken', () => {
  test('is found before the database is touched, and the line names the variable', async () => {
    const holder = createServer();
    const port = String(await listening(holder));
    try {
      for (const variable of ['API', 'TRUSTED', 'OPERATOR', 'HEALTH']) {
        const name = `LOMBARD_${variable}_PORT`;
        assert.match(await refused({ [name]: port }), new RegExp(`^${name}: .*${port}`));
      }
      assert.match(await refused({ LOMBARD_API_PORT: port, LOMBARD_WORKERS: '2' }), /^LOMBARD_API_PORT: /);
    } finally {
      holder.close();
    }
  });

  test('by another listener of the same process too', async () => {
    const port = String(await freePort());
    assert.match(await refused({ LOMBARD_API_PORT: port, LOMBARD_AUTH_PORT: port }), /^LOMBARD_AUTH_PORT: /);
  });

  test('all of them are named at once', async () => {
    const holders = [createServer(), createServer(), createServer()];
    const ports: Record<string, string> = {};
    for (const [at, holder] of holders.entries()) {
      ports[`LOMBARD_${['API', 'AUTH', 'OPERATOR'][at]}_PORT`] = String(await listening(holder));
    }
    try {
      const says = Object.entries(ports).map(
        ([name, port]) => `${name}: port ${port} of 127.0.0.1 is taken by another listener or program`,
      );
      assert.equal(await refused(ports), says.join('; '));
    } finally {
      for (const holder of holders) holder.close();
    }
  });
});

describe('SIGTERM during a start', () => {
  async function waiting(more: Record<string, string>) {
    const lock = new pg.Client({ connectionString: database.url });
    await lock.connect();
    await lock.query('select pg_advisory_lock($1)', [LOCKS.migration]);
    const started = lombard(['serve'], environment(more));
    const blocked = `select from pg_stat_activity where query like '%pg_try_advisory_lock%' and application_name = 'lombard-migrate'
      and datname = current_database()`;
    await until(async () => (await lock.query(blocked)).rows.length > 0);
    return { started, release: () => lock.end() };
  }

  for (const workers of ['1', '2'])
    test(`that waits for the migration lock ends it (LOMBARD_WORKERS=${workers})`, async () => {
      const { started, release } = await waiting({ LOMBARD_WORKERS: workers });
      try {
        started.child.kill('SIGTERM');
        // The lock stays taken: what waits for it ends nevertheless.
        const { code, stderr, stdout } = await started.ended;
        assert.deepEqual([code, stderr], [0, '']);
        assert.match(stdout, /"signal":"SIGTERM".*"msg":"stopping"/);
        assert.doesNotMatch(stdout, /"msg":"ready"/);
      } finally {
        started.child.kill('SIGKILL');
        await release();
      }
    });

  test('that makes the embedded database: the directory is free, and the next start works', async () => {
    const own = environment({ DATABASE_URL: '' });
    const dataDir = own.LOMBARD_DATA_DIR as string;
    const interrupted = lombard(['serve'], own);
    await until(() => existsSync(join(dataDir, 'postgres.lock')));
    interrupted.child.kill('SIGTERM');
    assert.equal((await interrupted.ended).code, 0);
    assert.equal(existsSync(join(dataDir, 'postgres.lock')), false);
    const next = lombard(['serve'], own);
    await printed(next, /"msg":"ready"/);
    next.child.kill('SIGTERM');
    assert.equal((await next.ended).code, 0);
  });
});

describe('LOMBARD_OPERATOR_TOKEN', () => {
  const tokens = { first: 'first-operator-token', second: 'second-operator-token' };
  const children: ChildProcess[] = [];
  // A test that fails leaves its processes running.
  after(() => children.forEach((child) => void child.kill('SIGKILL')));

  async function start(token: string) {
    const started = lombard(['serve'], environment({ LOMBARD_OPERATOR_TOKEN: token, LOMBARD_ROLES: 'operator' }));
    children.push(started.child);
    const operator = (await printed(started, /"operator":"([^"]+)".*"msg":"ready"/))[1] as string;
    const call = (bearer: string, method = 'GET', path = '/operator-tokens') =>
      fetch(`${operator}${path}`, { method, headers: { authorization: `Bearer ${bearer}` } });
    const stop = async () => {
      started.child.kill('SIGTERM');
      await started.ended;
    };
    return { ...started, call, stop };
  }

  test('a process accepts the value that it was started with, and no former one; a revoked one stays revoked', async () => {
    const [former, current] = [await start(tokens.first), await start(tokens.second)];
    assert.equal((await current.call(tokens.second)).status, 200);
    assert.equal((await current.call(tokens.first)).status, 401);
    assert.equal((await former.call(tokens.first)).status, 200);
    const listed = (await (await current.call(tokens.second)).json()) as { id: string; name: string }[];
    const [configured, ...others] = listed.filter(({ name }) => name === 'configured');
    assert.deepEqual(others, []);

    const revoked = await current.call(tokens.second, 'DELETE', `/operator-tokens/${configured?.id}`);
    assert.equal(revoked.status, 204);
    assert.equal((await current.call(tokens.second)).status, 401);
    assert.equal((await former.call(tokens.first)).status, 401);
    await Promise.all([former.stop(), current.stop()]);

    const again = await start(tokens.second);
    assert.match(again.output(), /"level":40.*LOMBARD_OPERATOR_TOKEN.*revoked/);
    assert.equal((await again.call(tokens.second)).status, 401);
    await again.stop();
    const replaced = await start('third-operator-token');
    assert.equal((await replaced.call('third-operator-token')).status, 200);
    await replaced.stop();
  });

  test("the text of one of the institution's tokens: refused if that may do less or expires, else a warning", async () => {
    const create = async (...args: string[]) => {
      const { code, stdout, stderr } = await lombard(
        ['operator-tokens', 'create', ...args, '--database'],
        environment(),
      ).ended;
      assert.equal(code, 0, stderr);
      return stdout.trim();
    };
    const serve = (token: string) =>
      refused({ DATABASE_URL: database.url, LOMBARD_OPERATOR_TOKEN: token, LOMBARD_ROLES: 'operator' });
    const own = 'LOMBARD_OPERATOR_TOKEN: must be a value of its own, not that of the token';
    const less = await create('feeder', '--role', 'core');
    assert.equal(await serve(less), `${own} "feeder", which may do less than an admin`);
    const expiring = await create('for a year', '--role', 'admin', '--expires', '2100-01-01T00:00:00Z');
    assert.equal(await serve(expiring), `${own} "for a year", which expires on 2100-01-01`);
    const admin = await create('head of operations', '--role', 'admin');
    const started = await start(admin);
    assert.match(started.output(), /"level":40.*LOMBARD_OPERATOR_TOKEN.*\\"head of operations\\"/);
    assert.equal((await started.call(admin)).status, 200);
    await started.stop();
  });
});
