import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { lombard, PORTS, printed } from './world/command.ts';
import {
  type DefaultServer,
  defaultPrograms,
  NO_DEFAULT_POSTGRESQL,
  startDefaultServer,
} from './world/default-postgresql.ts';
import { call } from './world/service.ts';
import { until } from './world/until.ts';

/** A database on a small file system that is really full. */
const SIZE = '192m';
const OPERATOR_TOKEN = 'operator-token-of-the-tests';

/** Mounts a small file system; undefined where this user may not. */
function mountSmall(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'lombard-full-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', folder], { stdio: 'ignore' });
    chmodSync(folder, 0o777);
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
}

const folder = defaultPrograms() ? mountSmall() : undefined;
const reason = defaultPrograms() ? 'mounting a small file system needs root' : NO_DEFAULT_POSTGRESQL;
const skip = folder ? false : reason;

let server: DefaultServer | undefined;
before(async () => {
  if (folder) server = await startDefaultServer({ max_wal_size: '48MB', min_wal_size: '32MB' }, folder);
});
after(async () => {
  await server?.stop();
  if (!folder) return;
  execFileSync('umount', [folder]);
  rmSync(folder, { recursive: true });
});

/** Fills the file system to its last byte. */
function fill(path: string): void {
  const { bavail, bsize } = statfsSync(path);
  let left = bavail * bsize;
  for (let part = 0; left > 0; part += 1) {
    try {
      writeFileSync(join(path, `ballast-${part}`), Buffer.alloc(left, 1));
    } catch {
      // The rest is smaller than what was left a moment ago.
    }
    const now = statfsSync(path);
    left = Math.min(now.bavail * now.bsize, left / 2);
    if (left < bsize) return;
  }
}

test('a full disk is named in the log and by health, callers get 502, and space brings it back', { skip }, async () => {
  const path = folder as string;
  const dataDir = mkdtempSync(join(tmpdir(), 'lombard-full-disk-data-'));
  const started = lombard(['serve'], {
    ...PORTS,
    LOMBARD_DATA_DIR: dataDir,
    DATABASE_URL: server?.url as string,
    LOMBARD_OPERATOR_TOKEN: OPERATOR_TOKEN,
  });
  try {
    await printed(started, /"msg":"ready"/);
    const line = started
      .output()
      .split('\n')
      .find((one) => one.includes('"msg":"ready"')) as string;
    const { health, operator } = JSON.parse(line) as { health: string; operator: string };
    const create = () =>
      call(`${operator}/clients`, 'POST', { token: OPERATOR_TOKEN, body: { client_name: 'x'.repeat(200) } });
    assert.equal((await create()).status, 201);

    fill(path);
    const full = 'the database is full: its disk has no space left';
    const ready = await until(async () => {
      const answer = await call(`${health}/health/ready`, 'GET');
      return answer.status === 503 && answer.body.reason === full && answer;
    });
    assert.equal(ready.body.ready, false);
    // Small rows go into space that the tables have already, until it is used up.
    const refused = await until(
      async () => {
        const answers = await Promise.all(Array.from({ length: 20 }, create));
        return answers.find(({ status }) => status !== 201);
      },
      { seconds: 60 },
    );
    assert.equal(refused.status, 502, refused.text);
    assert.equal(refused.body.details, `${full}; try again in a moment`);
    assert.match(started.output(), new RegExp(`"level":50.*"reason":"${full}".*"msg":"not ready"`));

    execFileSync('sh', ['-c', `rm ${path}/ballast-*`]);
    await until(async () => (await call(`${health}/health/ready`, 'GET')).status === 200, { seconds: 30 });
    await until(async () => (await create()).status === 201);
  } finally {
    started.child.kill('SIGTERM');
    await started.ended;
    rmSync(dataDir, { recursive: true, force: true });
  }
});
