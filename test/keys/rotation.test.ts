import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { SEALED_COLUMNS } from '../../src/keys/sealed-column.ts';
import { Vault } from '../../src/values/crypto.ts';
import { lombard } from '../world/command.ts';
import { createDatabase, type TestDatabase } from '../world/database.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** `lombard keys`: counts, and seals again while the service runs. */

const key = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const name = (byte: number) => new Vault(Buffer.alloc(32, byte)).names[0] as string;
const folder = mkdtempSync(join(tmpdir(), 'lombard-keys-'));
const CONTACTS = 1_500;

let database: TestDatabase;
let service: TestService;

function keys(command: 'status' | 'rotate', list: string) {
  return lombard(['keys', command, '--json'], {
    DATABASE_URL: database.url,
    LOMBARD_DATA_DIR: folder,
    LOMBARD_MASTER_KEY: list,
  });
}

interface Status {
  key: string | null;
  state: string;
  sealed: number;
  columns: Record<string, number>;
}

async function status(list: string): Promise<Record<string, Status>> {
  const { stdout, stderr } = await keys('status', list).ended;
  assert.ok(!(stdout + stderr).includes(key(1)) && !(stdout + stderr).includes(key(2)), 'no key is printed');
  return Object.fromEntries((JSON.parse(stdout || stderr) as Status[]).map((each) => [each.key ?? 'unnamed', each]));
}

const start = (list: string) =>
  startTestService({ LOMBARD_MASTER_KEY: list }, { url: database.url, drop: async () => {} });

before(async () => {
  database = await createDatabase();
  service = await start(key(1));
  const made = await service.operator('POST', '/clients', {
    client_name: 'Acme',
    statement_push_url: 'https://push.example.com',
    statement_push_secret: 'a push secret of Acme',
  });
  assert.equal(made.status, 201, made.text);
  await service.operator(
    'POST',
    '/applications',
    { name: 'App', redirect_uris: ['https://app.example.com/'] },
    {
      headers: { 'idempotency-key': 'an application' },
    },
  );
  // Texts from before texts named their key.
  const vault = new Vault(Buffer.alloc(32, 1));
  await service.query(
    `insert into contacts (contact_id, name, email, second_factor, totp_secret, totp_last_step, trusted_access, created_at)
     select 'CON' || i, 'c', i || '@example.com', 'totp', $1, 42, false, now() from generate_series(1, $2::int) i`,
    [vault.seal('JBSWY3DPEHPK3PXP', 'totp_secret').subarray(10), CONTACTS],
  );
  await service.operator('GET', '/audit/verify');
});
after(async () => {
  await service.stop();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

test('every column of bytes is a hash, or is known to be sealed', async () => {
  const { rows } = await service.query(
    `select table_name as table, column_name as column from information_schema.columns
     where data_type in ('bytea', 'ARRAY') and udt_name in ('bytea', '_bytea') and table_schema = 'public'`,
  );
  const unknown = rows
    .filter(
      ({ table, column }) => !/(sha256|hash|mac|subject)$/.test(column) && !NOT_SEALED.includes(`${table}.${column}`),
    )
    .map(({ table, column }) => `${table}.${column}`);
  assert.deepEqual(unknown.sort(), SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`).sort());
});
/** Bytes that are not secrets: the mark of the feed's cursors, a rate limit's key, what approvals stand on, statements for a week. */
const NOT_SEALED = [
  'statement_files.bytes',
  ...['change_cursor_key.key', 'rate_counts.key'],
  ...['payment_approvals.state', 'approver_refreshes.state'],
];

describe('beside a running service', () => {
  test('status counts what each key has sealed', async () => {
    const found = await status(`${key(2)},${key(1)}`);
    assert.deepEqual([found[name(2)]?.state, found[name(2)]?.sealed], ['seals', 0]);
    assert.deepEqual([found.unnamed?.state, found.unnamed?.sealed], ['unnamed', CONTACTS]);
    assert.equal(found[name(1)]?.state, 'opens');
    assert.deepEqual(found[name(1)]?.columns, {
      'audit_key.sealed': 1,
      'application_secrets.secret': 1,
      'clients.statement_push_secret': 1,
      'idempotency_keys.body': 1,
    });
    const missing = await keys('status', key(2)).ended;
    assert.equal(missing.code, 1);
    assert.equal((JSON.parse(missing.stdout) as Status[])[1]?.state, 'missing');
  });

  test('a rotation that is killed is repeated, and everything opens meanwhile', async () => {
    await service.stop();
    service = await start(`${key(2)},${key(1)}`);
    const killed = keys('rotate', `${key(2)},${key(1)}`);
    const by = (byte: number) =>
      service.query(
        `select count(*)::int as texts from contacts where encode(substring(totp_secret from 5 for 6), 'hex') = $1`,
        [name(byte)],
      );
    await until(async () => (await by(2)).rows[0].texts > 0);
    killed.child.kill('SIGKILL');
    await killed.ended;
    const ended = await keys('rotate', `${key(2)},${key(1)}`).ended;
    assert.equal(ended.code, 0, ended.stderr);
    const found = await status(`${key(2)},${key(1)}`);
    assert.equal(found[name(2)]?.sealed, CONTACTS + 4);
    assert.deepEqual([found[name(1)]?.sealed, found.unnamed], [0, undefined]);
    assert.equal(JSON.parse((await keys('rotate', `${key(2)},${key(1)}`).ended).stdout).sealed, 0);

    // The second factor's last step stays, and the trail tells who did it.
    const { rows } = await service.query(
      'select distinct totp_last_step::int as step from contacts where totp_secret is not null',
    );
    assert.deepEqual(rows, [{ step: 42 }]);
    const proof = (await service.operator('GET', '/audit/verify')).body;
    assert.equal(proof.valid, true, proof.fault?.message);
    const trail = await service.operator('GET', '/audit?entity=master_key');
    assert.deepEqual(trail.body[0].entity_id, name(2));
  });

  test('afterwards the former key is no longer needed, and before that its lack is refused', async () => {
    await service.stop();
    service = await start(key(2));
    const again = await service.operator(
      'POST',
      '/applications',
      { name: 'App', redirect_uris: ['https://app.example.com/'] },
      {
        headers: { 'idempotency-key': 'an application' },
      },
    );
    assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [201, 'true']);
    assert.equal((await service.operator('GET', '/audit/verify')).body.valid, true);
  });

  test('the list stands in a file as well; two equal keys and what is no key are refused', async () => {
    const path = join(folder, 'keys');
    writeFileSync(path, `${key(2)}, ${key(1)}\n`);
    const environment = { DATABASE_URL: database.url, LOMBARD_DATA_DIR: folder };
    const read = await lombard(['keys', 'status', '--json'], { ...environment, LOMBARD_MASTER_KEY_FILE: path }).ended;
    assert.equal(read.code, 0, read.stderr);
    for (const [list, must] of [
      [`${key(2)},${key(2)}`, /LOMBARD_MASTER_KEY: must be a list of different keys\n$/],
      [
        `${key(2)},c2hvcnQ=`,
        /LOMBARD_MASTER_KEY: must be 32 bytes in base64, .* or several such keys, comma separated\n$/,
      ],
    ] as const) {
      const refused = await keys('status', list).ended;
      assert.equal(refused.code, 1);
      assert.doesNotMatch(refused.stderr, /c2hvcnQ|AgIC/);
      assert.match(`${JSON.parse(refused.stderr).details}\n`, must);
    }
  });
});
