import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { lombard, PORTS, printed, REPOSITORY } from '../world/command.ts';
import {
  type DefaultServer,
  defaultPrograms,
  NO_DEFAULT_POSTGRESQL,
  startDefaultServer,
} from '../world/default-postgresql.ts';
import { call } from '../world/service.ts';
import { until } from '../world/until.ts';

/** The steps of the pages for production, word for word, on a fresh PostgreSQL 15 with the settings that it comes with. */
const skip = defaultPrograms() ? false : NO_DEFAULT_POSTGRESQL;
const folder = mkdtempSync(join(tmpdir(), 'lombard-production-'));

let server: DefaultServer | undefined;
before(async () => {
  server = await startDefaultServer();
  writeFileSync(join(folder, 'master-key'), `${Buffer.alloc(32, 7).toString('base64')}\n`);
  writeFileSync(join(folder, 'operator-token'), 'an-operator-token-of-production\n');
});
after(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The first block of a page that has the words. */
function block(page: string, words: string): string {
  const text = readFileSync(join(REPOSITORY, 'docs', page), 'utf8');
  const blocks = [...text.matchAll(/^```text\n(.*?)^```$/gms)].map(([, body]) => body as string);
  const found = blocks.find((body) => body.includes(words));
  assert.ok(found, `${page} has a block with ${words}`);
  return found;
}

/** Runs the statements of a block as the administrator, each by itself. */
async function asAdministrator(statements: string): Promise<void> {
  const client = new pg.Client({ connectionString: server?.url as string });
  await client.connect();
  for (const statement of statements.split(';').filter((text) => text.trim() !== '')) await client.query(statement);
  await client.end();
}

/** The variables of a block; its hosts and folders are those of this test. */
function variables(text: string): Record<string, string> {
  const found = [...text.matchAll(/(?<=^| )([A-Z_]+)=('[^']*'|\S+)/gm)];
  const here = (value: string) =>
    value.replace('db.internal', `127.0.0.1:${server?.port}`).replace('/etc/lombard', folder);
  return Object.fromEntries(found.map(([, name = '', value = '']) => [name, here(value.replaceAll("'", ''))]));
}

async function serves(environment: Record<string, string>): Promise<void> {
  const started = lombard(['serve'], {
    ...PORTS,
    LOMBARD_DATA_DIR: join(folder, 'data'),
    LOMBARD_DRAIN: '0s',
    ...environment,
  });
  try {
    await printed(started, /"msg":"ready"/);
    const line = started
      .output()
      .split('\n')
      .find((one) => one.includes('"msg":"ready"')) as string;
    const { health, operator } = JSON.parse(line) as { health: string; operator: string };
    await until(async () => (await call(`${health}/health/ready`, 'GET')).status === 200);
    const token = 'an-operator-token-of-production';
    const made = await call(`${operator}/clients`, 'POST', { token, body: { client_name: 'Acme Ltd' } });
    assert.equal(made.status, 201, made.text);
  } finally {
    started.child.kill('SIGTERM');
  }
  assert.equal((await started.ended).code, 0);
}

test('docs/configuration.md: one role', { skip }, async () => {
  await asAdministrator(block('configuration.md', 'create database'));
  const environment = variables(block('configuration.md', 'LOMBARD_ENVIRONMENT=production'));
  assert.equal(environment.LOMBARD_AUTH_URL, 'https://auth.example.com');
  await serves(environment);
});

/** With the two roles of docs/upgrading.md: the owner migrates, the other one serves. */
async function migratesAndServes(): Promise<void> {
  const environment = {
    ...variables(block('configuration.md', 'LOMBARD_ENVIRONMENT=production')),
    ...variables(block('upgrading.md', 'LOMBARD_MIGRATE_DATABASE_URL=')),
  };
  const migrated = await lombard(['migrate'], environment).ended;
  assert.equal(migrated.code, 0, migrated.stderr + migrated.stdout);
  const { LOMBARD_MIGRATE_DATABASE_URL: _, ...service } = environment;
  await serves({ ...service, LOMBARD_MIGRATE: 'no' });
}

test('docs/upgrading.md: two roles', { skip }, async () => {
  await asAdministrator('drop database if exists lombard with (force)');
  await asAdministrator('drop role if exists lombard');
  await asAdministrator(block('upgrading.md', 'create database'));
  await migratesAndServes();
});

test('docs/backup.md: a dump of two roles, on a new server', { skip }, async () => {
  const typed = (commands: string, { url, port }: DefaultServer) =>
    execFileSync('/bin/sh', ['-ec', commands], {
      cwd: folder,
      stdio: 'pipe',
      env: {
        PATH: `${defaultPrograms()}:/usr/bin:/bin`,
        DATABASE_URL: url.replace(/postgres$/, 'lombard'),
        ...{ PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'postgres' },
      },
    });
  const former = server as DefaultServer;
  for (const command of ['pg_dump ', 'pg_dumpall ']) typed(block('backup.md', command), former);
  const restored = (await startDefaultServer()) as DefaultServer;
  try {
    const [commands = '', rest] = block('backup.md', 'pg_restore').split('lombard migrate');
    assert.equal(rest, '\n');
    typed(commands, restored);
    server = restored;
    await migratesAndServes();
  } finally {
    server = former;
    await restored.stop();
  }
});
