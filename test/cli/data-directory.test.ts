import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { lombard, MAX_START_SECONDS, PORTS, printed } from '../world/command.ts';
import { IS_ROOT, mountMemory, NOBODY, whyNoOtherUser } from '../world/file-systems.ts';

/** A user whom no machine knows. */
const UNKNOWN = 424_242;

function directory(t: TestContext, owner?: number): string {
  const path = mkdtempSync(join(tmpdir(), 'lombard-data-directory-'));
  chmodSync(path, 0o755);
  if (owner !== undefined) chownSync(path, owner, owner);
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** What a start says that does not come to its end. */
async function refused(
  dataDir: string,
  more: Record<string, string> = {},
  as?: { uid: number; gid: number },
): Promise<string> {
  const settings = {
    ...PORTS,
    LOMBARD_SAMPLE_PORT: '0',
    LOMBARD_DATA_DIR: dataDir,
    LOMBARD_LOG_LEVEL: 'silent',
    ...more,
  };
  const { child, ended } = lombard(['demo'], settings, 'ignore', as);
  const timer = setTimeout(() => child.kill('SIGKILL'), MAX_START_SECONDS * 1_000);
  const { code, stderr } = await ended;
  clearTimeout(timer);
  assert.equal(code, 1, stderr);
  assert.equal(stderr.trimEnd().split('\n').length, 1, stderr);
  return stderr.trimEnd().replace(/^lombard: /, '');
}

const OTHERWISE = 'or set LOMBARD_DATA_DIR to another directory';

describe('a data directory that cannot be used ends the start with one line', () => {
  for (const [size, workers] of [
    ['1m', '1'],
    ['24m', '1'],
    ['40m', '1'],
    ['64m', '1'],
    ['64m', '2'],
  ] as const)
    test(`a disk of ${size}, LOMBARD_WORKERS=${workers}`, async (t) => {
      const disk = directory(t);
      if (!mountMemory(t, disk, `size=${size},mode=755`)) return;
      const data = join(disk, 'data');
      const says = await refused(data, { LOMBARD_WORKERS: workers }).finally(() => spawnSync('umount', [disk]));
      assert.equal(says, `the data directory ${data} is on a full disk: free at least 200 MB, ${OTHERWISE}`);
    });

  test('a read-only mount, and what is absent below it', async (t) => {
    const disk = directory(t);
    if (!mountMemory(t, disk, 'ro,size=1m')) return;
    try {
      const found = 'is on a read-only file system: mount it writable';
      assert.equal(await refused(disk), `the data directory ${disk} ${found}, ${OTHERWISE}`);
      const below = join(disk, 'absent', 'data');
      const says = `the data directory ${below} cannot be made: ${disk} ${found}, ${OTHERWISE}`;
      assert.equal(await refused(below), says);
      const elsewhere = { DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' };
      assert.equal(await refused(below, elsewhere), says);
    } finally {
      spawnSync('umount', [disk]);
    }
  });

  test('a directory that an ordinary user may only read, and what is absent below it', async (t) => {
    const why = whyNoOtherUser();
    if (why) return t.skip(why);
    const folder = directory(t);
    chmodSync(folder, 0o555);
    const as = { uid: NOBODY, gid: NOBODY };
    const found = `cannot be written by this user (uid ${NOBODY}): let this user write it (chown or chmod)`;
    assert.equal(await refused(folder, {}, as), `the data directory ${folder} ${found}, ${OTHERWISE}`);
    const below = join(folder, 'data');
    assert.equal(
      await refused(below, {}, as),
      `the data directory ${below} cannot be made: ${folder} ${found}, ${OTHERWISE}`,
    );
  });

  test('a user without an account', async (t) => {
    const why = whyNoOtherUser();
    if (why) return t.skip(why);
    const says = await refused(directory(t, UNKNOWN), {}, { uid: UNKNOWN, gid: UNKNOWN });
    assert.match(says, new RegExp(`user ${UNKNOWN}, who has no account on this machine: add one .*DATABASE_URL$`));
  });
});

describe('root in the directory of another user leaves nothing there that is its own', () => {
  for (const [who, owner] of [
    ['who has an account', NOBODY],
    ['who has none', UNKNOWN],
  ] as const)
    test(who, async (t) => {
      if (!IS_ROOT) return t.skip('only root can work in the directories of others');
      const home = directory(t, owner);
      chmodSync(home, 0o700);
      const data = join(home, 'below', 'data');
      const settings = { ...PORTS, LOMBARD_DATA_DIR: data };
      const owners = () => {
        const paths = ['', ...(readdirSync(home, { recursive: true }) as string[])];
        return new Set(paths.map((path) => statSync(join(home, path)).uid));
      };
      for (const _start of ['first', 'later']) {
        const started = lombard(['serve'], settings);
        await printed(started, /"msg":"ready"/);
        assert.ok(!owners().has(0), 'while it runs');
        started.child.kill('SIGTERM');
        assert.equal((await started.ended).code, 0);
        assert.ok(!owners().has(0), 'afterwards');
      }
      assert.equal(statSync(join(data, 'master-key')).uid, owner);
      // A cluster needs a user whom the machine knows.
      assert.equal(statSync(join(data, 'postgres')).uid, NOBODY);
    });

  test('that user goes on with it, also after a kill', async (t) => {
    const why = whyNoOtherUser();
    if (why) return t.skip(why);
    const data = join(directory(t, NOBODY), 'data');
    const settings = { ...PORTS, LOMBARD_DATA_DIR: data };
    const first = lombard(['serve'], settings);
    await printed(first, /"msg":"ready"/);
    first.child.kill('SIGKILL');
    await first.ended;
    const next = lombard(['serve'], settings, 'ignore', { uid: NOBODY, gid: NOBODY });
    await printed(next, /"msg":"ready"/);
    next.child.kill('SIGTERM');
    assert.equal((await next.ended).code, 0);
  });
});
