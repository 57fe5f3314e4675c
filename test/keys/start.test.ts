import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Service } from '../../src/context.ts';
import { startService } from '../../src/service.ts';
import { readConfig } from '../../src/settings/config.ts';
import { StartupError } from '../../src/values/errors.ts';
import { createDatabase, log, type TestDatabase } from '../world/database.ts';

/** A start with another master key than the one that the database's secrets are sealed with. */

let database: TestDatabase;
const folder = mkdtempSync(join(tmpdir(), 'lombard-key-'));
before(async () => {
  database = await createDatabase();
});
after(async () => {
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

const key = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const production = {
  LOMBARD_ENVIRONMENT: 'production',
  LOMBARD_API_URL: 'https://api.example.com',
  LOMBARD_AUTH_URL: 'https://auth.example.com',
  SMTP_URL: 'smtps://mail.example.com',
};

function start(environment: Record<string, string>, logged: string[] = []): Promise<Service> {
  const config = readConfig({
    LOMBARD_ROLES: 'operator',
    LOMBARD_OPERATOR_PORT: '0',
    LOMBARD_OPERATOR_TOKEN: 'operator-token-of-the-test',
    LOMBARD_DATA_DIR: folder,
    DATABASE_URL: database.url,
    ...environment,
  });
  const listening = log.child({}, { level: 'error' });
  listening.error = ((message: string) => void logged.push(message)) as typeof listening.error;
  return startService(config, listening, { databaseUrl: database.url });
}

test('another master key is refused in production, and named in the log of a sandbox', async () => {
  const first = await start({ ...production, LOMBARD_MASTER_KEY: key(1) });
  const made = await fetch(`${first.operatorUrl}/applications`, {
    method: 'POST',
    headers: { authorization: 'Bearer operator-token-of-the-test', 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'App', redirect_uris: ['https://app.example.com/callback'] }),
  });
  assert.equal(made.status, 201);
  await first.stop();

  await assert.rejects(
    start({ ...production, LOMBARD_MASTER_KEY: key(2) }),
    (error: unknown) =>
      error instanceof StartupError &&
      /^LOMBARD_MASTER_KEY lacks the key [0-9a-f]{12} that sealed (audit_key\.sealed, )?application_secrets\.secret/.test(
        error.message,
      ),
  );
  const logged: string[] = [];
  await (await start({ LOMBARD_MASTER_KEY: key(2) }, logged)).stop();
  assert.match(logged.join(), /^LOMBARD_MASTER_KEY lacks the key/);

  const same: string[] = [];
  await (await start({ ...production, LOMBARD_MASTER_KEY: key(1) }, same)).stop();
  assert.deepEqual(same, []);
});
