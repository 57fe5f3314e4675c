import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { migrate } from '../src/database/migrate.ts';
import { log } from './world/database.ts';
import {
  type DefaultServer,
  defaultPrograms,
  NO_DEFAULT_POSTGRESQL,
  runProgram,
  startCopy,
  startDefaultServer,
} from './world/default-postgresql.ts';
import { APPLICATION, signIn, startTestService, type TestService } from './world/service.ts';
import { until } from './world/until.ts';

/** The key that docs/backup.md says to keep apart from the database. */
const MASTER_KEY = Buffer.alloc(32, 9).toString('base64');
const PERSON = { name: 'Ada Ashdown', email: 'ada@example.com', password: 'a long password of the tests' };

describe('a backup', { skip: defaultPrograms() ? false : NO_DEFAULT_POSTGRESQL }, () => {
  let folder: string;
  let server: DefaultServer;
  let service: TestService;
  let clientId: string;
  let secret: string;
  const servers: DefaultServer[] = [];

  /** Starts the service on a database that is kept afterwards. */
  const serve = (url: string) =>
    startTestService({ LOMBARD_MASTER_KEY: MASTER_KEY }, { url, drop: async () => {} } as never);

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lombard-backup-'));
    mkdirSync(join(folder, 'archive'));
    // The server runs as another user.
    for (const each of [folder, join(folder, 'archive')]) chmodSync(each, 0o777);
    server = (await startDefaultServer({
      archive_mode: 'on',
      archive_command: `test ! -f ${folder}/archive/%f && cp %p ${folder}/archive/%f`,
    })) as DefaultServer;
    servers.push(server);
    await sql(server.url, 'create database lombard');
    await migrate(databaseOf(server), log);
    service = await serve(databaseOf(server));
    clientId = (await service.operator('POST', '/clients', { client_name: 'Ashdown Ltd' })).body.client_id;
    const person = { ...PERSON, clients: [{ client_id: clientId }] };
    assert.equal((await service.operator('POST', '/contacts', person)).status, 201);
    secret = (await service.operator('POST', '/applications', APPLICATION)).body.client_secret;
  });
  after(async () => {
    await service?.stop();
    for (const each of servers) await each.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const databaseOf = (each: DefaultServer, name = 'lombard') => each.url.replace(/postgres$/, name);

  /** What the restored service has, read as its users do: whole, and its secrets can be opened. */
  async function check(url: string, currencies: string[]): Promise<void> {
    const restored = await serve(url);
    try {
      const list = await restored.operator('GET', `/accounts?client_id=${clientId}`);
      assert.deepEqual(list.body.map((account: { currency: string }) => account.currency).sort(), currencies);
      const { body: verified } = await restored.operator('GET', '/audit/verify');
      assert.equal(verified.valid, true, JSON.stringify(verified));
      // The application's secret was sealed with the master key.
      const token = await signIn(restored.auth, secret, PERSON.email, PERSON.password);
      assert.equal((await restored.client(token, 'GET', `/payments?client_id=${clientId}`)).status, 200);
    } finally {
      await restored.stop();
    }
  }

  const addAccount = async (currency: string) => {
    const made = await service.operator('POST', '/accounts', { client_id: clientId, currency });
    assert.equal(made.status, 201, made.text);
  };
  /** Waits until every audit row is in the chain. */
  const sealed = () => until(async () => (await service.query('select from audit_unsealed')).rowCount === 0);

  test('by pg_dump is restored into an empty database', async () => {
    await addAccount('EUR');
    await sealed();
    const dump = join(folder, 'lombard.dump');
    await runProgram('pg_dump', ['--format=custom', `--file=${dump}`, databaseOf(server)]);
    await sql(server.url, 'create database copy');
    await runProgram('pg_restore', [`--dbname=${databaseOf(server, 'copy')}`, '--exit-on-error', dump]);
    await migrate(databaseOf(server, 'copy'), log);
    await check(databaseOf(server, 'copy'), ['EUR']);
  });

  test('of the server and its log is restored to a moment', async () => {
    const base = join(folder, 'base');
    await runProgram('pg_basebackup', ['-d', server.url, `--pgdata=${base}`, '--checkpoint=fast', '--wal-method=none']);
    await addAccount('GBP');
    await sealed();
    await pause(50);
    const { rows } = await service.query('select clock_timestamp()::text as now');
    await pause(50);
    await addAccount('USD');
    await service.query('select pg_switch_wal()');
    writeFileSync(join(base, 'recovery.signal'), '');
    const restored = await startCopy(base, {
      restore_command: `cp ${folder}/archive/%f %p`,
      recovery_target_time: rows[0].now,
      recovery_target_action: 'promote',
      archive_mode: 'off',
    });
    servers.push(restored);
    // It answers queries while it still reads the log; then it promotes itself.
    await until(async () => !(await sql(restored.url, 'select pg_is_in_recovery() as reading')).reading);
    await check(databaseOf(restored), ['EUR', 'GBP']);
  });
});

/** Runs a statement. @returns its first row */
async function sql(url: string, text: string): Promise<Record<string, unknown>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(text);
  await client.end();
  return rows[0];
}
