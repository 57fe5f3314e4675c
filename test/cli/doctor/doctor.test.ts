import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { checkServer, type Server } from '../../../src/cli/doctor/database.ts';
import { examine } from '../../../src/cli/doctor/examine.ts';
import type { Finding } from '../../../src/cli/doctor/finding.ts';
import { checkNode, checkSpace } from '../../../src/cli/doctor/machine.ts';
import { connectTo, SEVERAL_CELLS } from '../../world/cells.ts';
import { lombard, PORTS, REPOSITORY } from '../../world/command.ts';
import { createDatabase, createEmptyDatabase, type TestDatabase } from '../../world/database.ts';
import { startSandbox } from '../../world/demonstration.ts';
import { OpenIdProvider } from '../../world/openid-provider.ts';
import { credentials, DAY, issue, revocationList } from '../../world/pki.ts';
import { listening } from '../../world/ports.ts';

const folder = mkdtempSync(join(tmpdir(), 'lombard-doctor-'));
after(() => rmSync(folder, { recursive: true, force: true }));

let directories = 0;
/** A configuration with a data directory of its own and nothing wrong in it. */
function healthy(more: Record<string, string> = {}): Record<string, string> {
  directories += 1;
  const dataDir = join(folder, `data-${directories}`);
  mkdirSync(dataDir);
  return { ...PORTS, LOMBARD_DATA_DIR: dataDir, ...more };
}

/** The lines of a check, as `failed: message`. */
function linesOf(findings: Finding[], check: string): string[] {
  return findings.filter((one) => one.check === check).map(({ status, message }) => `${status}: ${message}`);
}

/** Each check says what is expected of it. */
function assertFound(findings: Finding[], expected: [check: string, says: RegExp][]): void {
  for (const [check, says] of expected)
    assert.ok(
      linesOf(findings, check).some((line) => says.test(line)),
      `${check} does not say ${says}: ${JSON.stringify(linesOf(findings, check), null, 2)}`,
    );
}

const path = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

const PRODUCTION = {
  LOMBARD_ENVIRONMENT: 'production',
  LOMBARD_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  LOMBARD_API_URL: 'https://api.bank.example',
  LOMBARD_AUTH_URL: 'https://auth.bank.example',
  SMTP_URL: 'smtp://127.0.0.1:9',
};

describe('the configuration', () => {
  test('a wrong value is one line, and the rest is left out', async () => {
    const findings = await examine(healthy({ LOMBARD_DRAIN: 'soon' }));
    assertFound(findings, [['configuration', /^failed: LOMBARD_DRAIN: must be a duration/]]);
    assert.deepEqual(linesOf(findings, 'ports'), []);
  });

  test('a logo that cannot be read', async () => {
    const findings = await examine(healthy({ LOMBARD_INSTITUTION_LOGO: '/no/logo.svg' }));
    assertFound(findings, [['letterhead', /^failed: LOMBARD_INSTITUTION_LOGO: must be/]]);
  });

  test('a table of bank details that cannot be used', async () => {
    const findings = await examine(healthy({ LOMBARD_BANK_DETAILS: path('bank-details.json', '{"sepa": []}') }));
    assertFound(findings, [
      ['bank details', /^failed: LOMBARD_BANK_DETAILS: must be a table .*the file must have rows/],
    ]);
  });

  test('a directory without fonts', async () => {
    assertFound(await examine(healthy({ LOMBARD_DOCUMENT_FONTS: '/no/fonts' })), [
      ['fonts', /^failed: LOMBARD_DOCUMENT_FONTS: must be a directory with fonts .*no\/fonts/],
    ]);
  });

  test('a misspelled variable', async () => {
    assertFound(await examine(healthy({ LOMBARD_API_PROT: '1' })), [
      ['configuration', /^warning: LOMBARD_API_PROT is not a setting/],
    ]);
  });

  test('production: each thing that a start refuses has a line of its own', async () => {
    const wrong = { LOMBARD_ENVIRONMENT: 'production', LOMBARD_TRUSTED_URL: 'http://x', LOMBARD_AUTOPILOT: '2s' };
    const lines = linesOf(await examine(healthy(wrong)), 'production');
    const names = [
      'LOMBARD_MASTER_KEY',
      'LOMBARD_API_URL',
      'LOMBARD_AUTH_URL',
      'LOMBARD_TRUSTED_URL',
      'SMTP_URL',
      'DATABASE_URL',
    ];
    for (const name of [...names, 'LOMBARD_AUTOPILOT'])
      assert.ok(
        lines.some((line) => line.startsWith(`failed: ${name} `) && line.includes('a start is refused: ')),
        name,
      );
    assert.equal(lines.length, 7);
  });

  test('production: what SECURITY.md advises against', async () => {
    const open = {
      ...PRODUCTION,
      ...{
        LOMBARD_OPERATOR_HOST: '0.0.0.0',
        LOMBARD_HEALTH_HOST: '0.0.0.0',
        LOMBARD_API_RATE: '0',
        LOMBARD_AUTH_RATE: '0',
      },
      ...{ LOMBARD_WEBHOOK_ALLOW: '10.0.0.0/8,::1', LOMBARD_PROXIES: '0.0.0.0/0', LOMBARD_LOG_LEVEL: 'debug' },
      ...{ DATABASE_URL: 'postgres://127.0.0.1:9/none' },
    };
    assertFound(await examine(healthy(open)), [
      ['exposure', /^warning: LOMBARD_OPERATOR_HOST is 0\.0\.0\.0/],
      ['exposure', /^warning: LOMBARD_HEALTH_HOST/],
      ['rate limits', /^warning: LOMBARD_API_RATE is 0/],
      ['rate limits', /^warning: LOMBARD_AUTH_RATE is 0/],
      ['webhook addresses', /^warning: .*10\.0\.0\.0\/8, ::1;/],
      ['proxies', /^warning: LOMBARD_PROXIES believes 0\.0\.0\.0\/0/],
      ['PKCE', /^warning: LOMBARD_REQUIRE_PKCE is no/],
      ['mail', /^warning: LOMBARD_MAIL_FROM is at localhost/],
      ['mail', /^failed: SMTP_URL: 127\.0\.0\.1:9 refuses/],
      ['institution', /^warning: LOMBARD_INSTITUTION_NAME/],
      ['operator tokens', /^failed: LOMBARD_OPERATOR_TOKEN is not set/],
      ['log', /^warning: LOMBARD_LOG_LEVEL is debug/],
      ['public addresses', /^warning: LOMBARD_API_URL: .* does not answer from here/],
      ['database', /^failed: cannot be reached \(connect ECONNREFUSED/],
    ]);
  });
});

describe('the machine', () => {
  test('Node, and room on the disk, as tables', () => {
    for (const old of ['20.19.0', '22.17.1', '23.5.0']) assert.equal(checkNode(old).status, 'failed', old);
    for (const known of ['22.18.0', '23.6.0', '24.0.0']) assert.equal(checkNode(known).status, 'ok', known);
    const mebibytes = (free: number) => checkSpace('/x', { free: free * 1_048_576, total: 10_000 * 1_048_576 }).status;
    assert.deepEqual([255, 256, 2_047, 2_048].map(mebibytes), ['failed', 'warning', 'warning', 'ok']);
  });

  const small = 'mount -t tmpfs -o size=1m none "$LOMBARD_DATA_DIR" && ulimit -n 1024 && exec "$0" doctor --json';
  const unprivileged = spawnSync('unshare', ['-rm', 'true']).status === 0;
  test('a disk that is nearly full, and few open files', {
    skip: unprivileged ? false : 'no user namespaces here',
  }, () => {
    const environment = { PATH: process.env.PATH, HOME: folder, ...healthy() };
    const run = spawnSync('unshare', ['-rm', 'sh', '-c', small, join(REPOSITORY, 'bin/lombard')], { env: environment });
    assert.equal(run.status, 1, String(run.stderr));
    assertFound(JSON.parse(String(run.stdout)), [
      ['disk', /^failed: 1 MiB of 1 MiB are free|^failed: 0 MiB of 1 MiB are free/],
      ['open files', /^warning: at most 1024 at once/],
    ]);
  });

  test('a data directory that is a file, that nobody may write, or whose secrets others may read', async () => {
    const file = await examine(healthy({ LOMBARD_DATA_DIR: path('a-file', '') }));
    assertFound(file, [['data directory', /^failed: .* is not a directory/]]);
    const open = healthy();
    writeFileSync(join(open.LOMBARD_DATA_DIR as string, 'operator-token'), 'x', { mode: 0o600 });
    chmodSync(join(open.LOMBARD_DATA_DIR as string, 'operator-token'), 0o644);
    assertFound(await examine(open), [['data directory', /^warning: others may read operator-token/]]);
    assertFound(await examine({ ...PRODUCTION, ...open, DATABASE_URL: 'postgres://127.0.0.1:9/x' }), [
      ['data directory', /^failed: others may read operator-token/],
    ]);
  });

  test('a library for another machine', async () => {
    const broken = `data:text/javascript,${encodeURIComponent(`import { registerHooks } from 'node:module';
      registerHooks({ resolve: (name, context, next) => {
        if (name === '@node-rs/argon2') throw new Error('no native binding');
        return next(name, context);
      } });`)}`;
    const { stdout } = await lombard(['doctor', '--json'], { ...healthy(), NODE_OPTIONS: `--import ${broken}` }).ended;
    assertFound(JSON.parse(stdout), [['libraries', /^failed: that for passwords does not load \(no native binding\)/]]);
  });
});

describe('a server, as a table', () => {
  const good: Server = {
    ...{ major: 18, encoding: 'UTF8', read_only: false, durable: true, max_connections: 97 },
    ...{ statement_timeout: '0', encrypted: true, synchronous_commit: 'on' },
  };
  const config = {
    environment: 'production',
    poolSize: 8,
    authPoolSize: 8,
    backgroundPoolSize: 6,
    workers: 3,
  } as const;
  const cases: [Partial<Server>, string, string, RegExp][] = [
    [{ max_connections: 96 }, '127.0.0.1', 'connections', /^ok: up to 96 of the 96/],
    [{ major: 14 }, '127.0.0.1', 'database', /^failed: PostgreSQL 14 runs; 15 or newer is needed/],
    [{ encoding: 'LATIN1' }, '127.0.0.1', 'encoding', /^failed: .*LATIN1/],
    [{ durable: false }, '127.0.0.1', 'durability', /^failed: fsync/],
    [{ synchronous_commit: 'off' }, '127.0.0.1', 'durability', /^failed: synchronous_commit is off/],
    [{ synchronous_commit: 'local' }, '127.0.0.1', 'durability', /^ok: a crash loses no commit/],
    [{ max_connections: 95 }, '127.0.0.1', 'connections', /^warning: 3 processes may want 96/],
    [{ encrypted: false }, 'db.bank.example', 'database encryption', /^warning: .*sslmode=verify-full/],
    [{}, 'db.bank.example', 'database encryption', /^ok: the connection uses TLS/],
    [{ encrypted: false }, '%2Fvar%2Frun', 'database encryption', /^ok: the server is on this machine/],
  ];
  for (const [differs, host, check, says] of cases)
    test(`${JSON.stringify(differs)} at ${host}`, () => {
      const found = checkServer({ ...good, ...differs }, config, { sessions: `postgres://u@${host}/lombard` });
      assertFound(found, [[check, says]]);
    });

  test('with several cells a process has more connections, and more yet on Citus', () => {
    const wanted = (distributed: boolean) =>
      checkServer(
        { ...good, max_connections: 300 },
        { ...config, workers: 1 },
        {
          sessions: 'postgres://u@127.0.0.1/lombard',
          cells: { distributed },
        },
      );
    assertFound(wanted(false), [['connections', /^ok: up to 48 of the 300/]]);
    assertFound(wanted(true), [['connections', /^ok: up to 56 of the 300/]]);
  });
});

describe('ports and senders', () => {
  test('a mail server that refuses, two listeners with one port', async () => {
    const refusing = createServer((socket) => void socket.end('554 no mails from you\r\n'));
    const url = `smtp://127.0.0.1:${await listening(refusing)}`;
    const findings = await examine(healthy({ SMTP_URL: url, LOMBARD_API_PORT: '18999', LOMBARD_AUTH_PORT: '18999' }));
    refusing.close();
    assertFound(findings, [
      ['mail', /^failed: SMTP_URL: 127\.0\.0\.1:\d+ refuses \(.*554/],
      ['ports', /^failed: LOMBARD_AUTH_PORT and LOMBARD_API_PORT are both 18999/],
    ]);
  });

  test('a port that is taken, a health port, a gateway and a mail server that do not answer', async () => {
    const taken = createServer();
    const port = String(await listening(taken));
    const senders = {
      ...{ SMTP_URL: `smtp://127.0.0.1:9`, LOMBARD_SMS_URL: 'http://127.0.0.1:9/send' },
      ...{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', LOMBARD_STAFF_ISSUER: 'http://127.0.0.1:9' },
      ...{ LOMBARD_STAFF_CLIENT_ID: 'c', LOMBARD_STAFF_CLIENT_SECRET: 's', LOMBARD_STAFF_ROLES: 'groups:g=support' },
    };
    const findings = await examine(healthy({ ...senders, LOMBARD_AUTH_PORT: port, LOMBARD_HEALTH_PORT: port }));
    taken.close();
    assertFound(findings, [
      ['ports', new RegExp(`^failed: LOMBARD_AUTH_PORT: port ${port} of 127.0.0.1 is taken`)],
      ['ports', /^failed: LOMBARD_HEALTH_PORT: /],
      ['mail', /^failed: .*refuses/],
      ['text messages', /^failed: LOMBARD_SMS_URL: http:\/\/127\.0\.0\.1:9 does not answer/],
      ['traces', /^failed: OTEL_EXPORTER_OTLP_ENDPOINT: http:\/\/127\.0\.0\.1:9 does not answer \(\w+\)/],
      ['staff sign-in', /^failed: LOMBARD_STAFF_ISSUER: http:\/\/127\.0\.0\.1:9 cannot be used \(.+\), so no staff/],
    ]);
  });

  test('a provider of the staff, and a collector, that answer', async () => {
    const provider = await new OpenIdProvider().start();
    const { issuer, clientId, clientSecret } = provider;
    const findings = await examine(
      healthy({
        ...{
          LOMBARD_STAFF_ISSUER: issuer,
          LOMBARD_STAFF_CLIENT_ID: clientId,
          LOMBARD_STAFF_CLIENT_SECRET: clientSecret,
        },
        ...{ LOMBARD_STAFF_ROLES: 'groups:payments-support=support', OTEL_EXPORTER_OTLP_ENDPOINT: issuer },
      }),
    );
    await provider.stop();
    assertFound(findings, [
      ['staff sign-in', /^ok: http:\/\/127\.0\.0\.1:\d+ answers$/],
      ['traces', /^ok: http:\/\/127\.0\.0\.1:\d+ answers$/],
    ]);
  });
});

describe('certificates', () => {
  test('that end within 30 days or have ended, for another host, and a list that has ended', async () => {
    const inDays = (days: number) => new Date(Date.now() + days * DAY + 3_600_000);
    const authority = await issue({ subject: 'CN=authority', ca: true, until: inDays(400) });
    const old = await issue({ subject: 'CN=old authority', ca: true, from: inDays(-9), until: inDays(-2) });
    const server = await credentials(await issue({ subject: 'CN=server', issuer: authority, until: inDays(12) }));
    const list = await revocationList(authority, [], { from: inDays(-9), until: inDays(-3) });
    const files = {
      LOMBARD_TRUSTED_CERT: path('cert.pem', server.cert),
      LOMBARD_TRUSTED_KEY: path('key.pem', server.key),
      LOMBARD_TRUSTED_CA: `${path('ca.pem', (await credentials(authority)).cert)},${path('old.pem', (await credentials(old)).cert)}`,
      LOMBARD_TRUSTED_CRL: path('list.pem', list),
    };
    assertFound(await examine(healthy({ ...files, LOMBARD_TRUSTED_URL: 'https://trusted.bank.example' })), [
      ['certificates', /^warning: LOMBARD_TRUSTED_CERT .* in 12 days: replace it before/],
      ['certificates', /^failed: LOMBARD_TRUSTED_CERT is not for trusted\.bank\.example/],
      ['certificates', /^ok: LOMBARD_TRUSTED_CA .*\/ca\.pem\) is good until/],
      ['certificates', /^failed: LOMBARD_TRUSTED_CA .*\/old\.pem\) ended on/],
      ['revocation lists', /^failed: that of .*authority.* ended on/],
    ]);
    assertFound(await examine(healthy({ ...files, LOMBARD_TRUSTED_KEY: path('other.pem', 'x') })), [
      ['certificates', /^failed: LOMBARD_TRUSTED_KEY: must be/],
    ]);
  });
});

describe('the database', () => {
  let database: TestDatabase;
  let client: pg.Client;
  let name: string;
  before(async () => {
    database = await createDatabase();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    name = client.escapeIdentifier(client.database as string);
  });
  after(async () => {
    await client.end();
    await database.drop();
  });

  test('a fresh one: nothing failed', async () => {
    const findings = await examine(healthy({ DATABASE_URL: database.url }));
    const wrong = findings.filter(({ status, check }) => status !== 'ok' && check !== 'durability');
    assert.deepEqual(wrong, []);
    assert.ok(findings.length >= 25, String(findings.length));
  });

  test('a login that the server refuses is told from a server that does not answer', async () => {
    const [stranger, elsewhere] = [new URL(database.url), new URL(database.url)];
    [stranger.username, stranger.password, elsewhere.pathname] = ['nobody', 'wrong', '/no_such_database'];
    for (const { href } of [stranger, elsewhere]) {
      assertFound(await examine(healthy({ DATABASE_URL: href })), [
        [
          'database',
          /^failed: the server answers, and refuses the login \(.+\): check user, password and database in DATABASE_URL$/,
        ],
      ]);
    }
    const owner = { LOMBARD_MIGRATE_DATABASE_URL: stranger.href };
    assertFound(await examine(healthy({ DATABASE_URL: database.url, ...owner })), [
      ['schema', /^failed: cannot be compared \(.*nobody.*\): check LOMBARD_MIGRATE_DATABASE_URL$/],
    ]);
  });

  test('settings of plans, read-only, a statement timeout, few connections, not durable', async () => {
    const user = client.escapeIdentifier(client.user as string);
    await client.query(`alter role ${user} in database ${name} reset random_page_cost`);
    await client.query(`alter database ${name} set default_transaction_read_only = on`);
    await client.query(`alter database ${name} set statement_timeout = '30s'`);
    try {
      assertFound(await examine(healthy({ DATABASE_URL: database.url, LOMBARD_POOL: '900' })), [
        ['settings of plans', /^warning: missing: .*random_page_cost/],
        ['writing', /^failed: the database is read-only/],
        ['statement timeout', /^warning: it is 30s for this role/],
        [
          'connections',
          SEVERAL_CELLS ? /^warning: a process may want 9(40|48), / : /^warning: a process may want 924, /,
        ],
        ['durability', /^warning: fsync or full_page_writes is off/],
      ]);
      assertFound(await examine(healthy({ DATABASE_URL: database.url, LOMBARD_MIGRATE: 'no' })), [
        ['settings of plans', /^failed: .*run lombard migrate, because LOMBARD_MIGRATE is no/],
      ]);
    } finally {
      await client.query('set default_transaction_read_only = off');
      for (const setting of ['default_transaction_read_only', 'statement_timeout'])
        await client.query(`alter database ${name} reset ${setting}`);
      await client.query(`alter role ${user} in database ${name} set random_page_cost = '1.1'`);
    }
  });

  test('no schema, an older one, and one that is too new', async () => {
    const empty = await createEmptyDatabase();
    assertFound(await examine(healthy({ DATABASE_URL: empty.url })), [['schema', /^warning: missing: 0001_kernel/]]);
    await empty.drop();
    await client.query("insert into migrations values (9999, '9999_new.sql', 'x', 9999)");
    const newer = await examine(healthy({ DATABASE_URL: database.url }));
    await client.query('delete from migrations where number = 9999');
    assertFound(newer, [['schema', /^failed: .*schema 9999, which needs a program of schema 9999/]]);
    await client.query("update migrations set sha256 = 'x' where number = 1");
    const changed = await examine(healthy({ DATABASE_URL: database.url }));
    await client.query('delete from migrations where number = 1');
    assertFound(changed, [['schema', /^failed: migration 0001_kernel\.sql was applied with different content/]]);
    const old = await examine(healthy({ DATABASE_URL: database.url, LOMBARD_MIGRATE: 'no' }));
    assertFound(old, [['schema', /^failed: missing: 0001_kernel\.sql: run lombard migrate/]]);
  });

  test('a role without its rights, and a machine whose clock is away', async () => {
    const own = await createDatabase();
    const service = new URL(own.url);
    service.username = 'lombard_doctor_test';
    const owner = { DATABASE_URL: service.href, LOMBARD_MIGRATE_DATABASE_URL: own.url };
    const connection = new pg.Client({ connectionString: own.url });
    await connection.connect();
    await connection.query(
      `create role lombard_doctor_test login password ${connection.escapeLiteral(decodeURIComponent(service.password))}`,
    );
    await connection.query('grant select on all tables in schema public to lombard_doctor_test');
    try {
      assertFound(await examine(healthy(owner)), [
        ['rights of the role', /^warning: missing: .*grant lombard_service/],
      ]);
      const shift = (seconds: number) =>
        `data:text/javascript,${encodeURIComponent(`const now = Date.now; Date.now = () => now() + ${seconds * 1_000};
          globalThis.Date = class extends Date { constructor(...given) { super(...(given.length ? given : [Date.now()])); } };`)}`;
      for (const [seconds, says] of [
        [30, /^warning: this machine is (29|30|31) seconds ahead of the database/],
        [-600, /^failed: this machine is \d+ seconds behind the database/],
      ] as const) {
        const environment = { ...healthy({ DATABASE_URL: own.url }), NODE_OPTIONS: `--import ${shift(seconds)}` };
        const { stdout, stderr } = await lombard(['doctor', '--json'], environment).ended;
        assert.notEqual(stdout, '', stderr);
        assertFound(JSON.parse(stdout), [['clock', says]]);
      }
    } finally {
      await connection.query('drop owned by lombard_doctor_test; drop role lombard_doctor_test');
      await connection.end();
      await own.drop();
    }
  });
});

describe('what is in the database', () => {
  test('beside a running sandbox: its ports are ok, exit 0; then everything that can go wrong with its work, exit 1', async () => {
    const sandbox = await startSandbox({ LOMBARD_ROLES: 'api,auth,operator' });
    const port = (which: 'api' | 'auth' | 'operator') => new URL(sandbox.addresses[which]).port;
    const ports = {
      LOMBARD_API_PORT: port('api'),
      LOMBARD_AUTH_PORT: port('auth'),
      LOMBARD_OPERATOR_PORT: port('operator'),
    };
    const roles = { LOMBARD_ROLES: 'api,auth,operator', LOMBARD_HEALTH_PORT: '0' };
    const environment = { ...sandbox.environment, ...ports, ...roles, DATABASE_URL: sandbox.databaseUrl };
    const client = await connectTo(sandbox, 'CLI000001');
    try {
      const good = await lombard(['doctor'], environment).ended;
      assert.equal(good.code, 0, good.stdout);
      assert.match(good.stdout, /^ok +ports +the running service has them$/m);
      assert.match(good.stdout, /^ok +service +runs and is ready/m);
      assert.match(
        good.stdout,
        /^warning +fonts +documents show boxes in place of the name of BEN\d+, .* LOMBARD_DOCUMENT_FONTS/m,
      );
      assert.match(good.stdout, /^ok +partitions +those of today and tomorrow are there$/m);
      assert.match(good.stdout, /\d+ ok, \d+ warnings, 0 failed\n$/);

      const taken = createServer();
      const fonts = join(REPOSITORY, 'src/documents/fonts');
      const others = { LOMBARD_API_PORT: String(await listening(taken)), LOMBARD_DOCUMENT_FONTS: fonts };
      renameSync(join(sandbox.dataDir, 'operator-token'), join(sandbox.dataDir, 'operator-token.away'));
      const beside = await lombard(['doctor', '--json'], { ...environment, ...others }).ended;
      renameSync(join(sandbox.dataDir, 'operator-token.away'), join(sandbox.dataDir, 'operator-token'));
      taken.close();
      assert.equal(beside.code, 0, beside.stdout);
      assertFound(JSON.parse(beside.stdout), [
        ['ports', /^warning: LOMBARD_API_PORT: port \d+ .* is taken .*; the running service has other ports/],
        ['fonts', /^ok: documents also use those in .*src\/documents\/fonts$/],
        ['operator tokens', /^warning: .* has no operator-token, which commands and examples use: write one there/],
      ]);

      await client.query(FAULTS);
      await sandbox.operator('POST', '/operator-tokens', { name: 'short', role: 'support', expires_at: soon(3) });
      await sandbox.operator('PUT', '/clock', { advance_seconds: 7_200 });
      const bad = await lombard(['doctor', '--json'], environment).ended;
      assert.equal(bad.code, 1);
      assertFound(JSON.parse(bad.stdout), [
        ['events', /^failed: \d+ events? without notifications wait for 5 hours: start a process with the role worker/],
        ['webhook backlog', /^warning: 10001 deliveries are due/],
        ['statements', /^warning: 1001 are not sent yet/],
        ['audit chain', /^failed: rows of the audit trail are unsealed for \d+/],
        ['payment totals', /^failed: changes are not rolled up for 3 hours/],
        ['change feed', /^failed: changes are unpublished for \d+/],
        ['consumers', /^warning: core has not acknowledged \d+ changes?/],
        ['receivers', /^warning: that of subscription \S+ \(CLI000001\) has failed since/],
        ['receivers', /^warning: subscription \S+ \(CLI000001\) was switched off \(gone\)/],
        ['partitions', /^warning: missing: .*attempts_\d{8}/],
        ['operator tokens', /^warning: short expires on/],
        ['clock', /^warning: the sandbox's is 2 hours away/],
        ['exchange rates', /^warning: some are \d+ days old/],
      ]);

      const other = { ...environment, LOMBARD_MASTER_KEY: Buffer.alloc(32, 3).toString('base64') };
      assertFound(await examine(other), [['master key', /^failed: LOMBARD_MASTER_KEY lacks the key/]]);
      const key = join(sandbox.dataDir, 'master-key');
      const whole = readFileSync(key, 'utf8');
      writeFileSync(key, whole.slice(0, 20));
      assertFound(await examine(environment), [
        ['master key', /^failed: \S+ must contain 32 bytes in base64, and is damaged/],
      ]);
      writeFileSync(key, whole);
      const production = { ...environment, ...PRODUCTION };
      const findings = await examine(production);
      assertFound(findings, [
        ['demonstration', /^failed: everybody knows the passwords and secrets of CON000001, .*demo-app/],
        ['second factor', /^warning: \d+ contacts who may approve payments/],
        ['redirect addresses', /^warning: demo-app take codes over plain http/],
      ]);
      await client.query('update operator_tokens set revoked_at = now()');
      assertFound(await examine(production), [['operator tokens', /^failed: .*lombard operator-tokens create/]]);
    } finally {
      await client.end();
      await sandbox.stop();
    }
  });
});

function soon(days: number): string {
  return new Date(Date.now() + days * DAY).toISOString();
}

/** Without a worker this stays as it is. */
const FAULTS = `
  insert into webhook_outbox select client_id, 1, 'PAYMENT_STATUS_CHANGE', now() - interval '3 hours'
    from clients where client_id = 'CLI000001';
  insert into subscriptions (id, client_id, contact_id, url, active, types, created_at, updated_at, disabled_reason, disabled_at)
    values ('00000000-0000-4000-8000-000000000001', 'CLI000001', 'CON000001', 'http://127.0.0.1:9/', true, '{}', now(), now(), null, null),
      ('00000000-0000-4000-8000-000000000002', 'CLI000001', 'CON000001', 'http://127.0.0.1:9/', false, '{}', now(), now(), 'gone', now());
  insert into webhook_endpoints (subscription_id, failing_since)
    values ('00000000-0000-4000-8000-000000000001', now() - interval '2 hours');
  insert into webhook_queue (notification_id, client_id, subscription_id, event_id, created_at, due_at, attempts, round_attempts, ping)
    select gen_random_uuid(), 'CLI000001', '00000000-0000-4000-8000-000000000001', n, now(), now(), 0, 0, false from generate_series(1, 10001) n;
  insert into payment_approver_deltas values ('CLI000001', 'CON000001', '2026-01-01', 'EUR', 0, 0, now() - interval '3 hours');
  insert into statement_requests values ('00000000-0000-4000-8000-000000000003', 'CLI000001', 'CON000001', 'ada@ashdown.example', 'Ada',
    '2026-01-01', '2026-01-02', 'pdf', 'push', 'r', now());
  insert into statement_deliveries (client_id, statement_id, channel, currency, status, due_at, round_began_at)
    select 'CLI000001', '00000000-0000-4000-8000-000000000003', 'push', 'X' || n, 'requested', now(), now() from generate_series(1, 1001) n;
  update clients set payment_approvals_enabled = true where client_id = 'CLI000001';
  update exchange_rates set as_of = now() - interval '20 days';
  select drop_webhook_day('attempts', (now() at time zone 'UTC')::date + 1, now());
  insert into change_order
    select coalesce(max(position), 0) + 1, coalesce(max(batch), 0) + 1, 5, now() - interval '3 hours' from change_order;
  insert into change_consumers values ('core', 0, now());
`;
