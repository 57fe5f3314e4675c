import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { lockDirectory } from '../../src/embedded/lock.ts';
import { isAlive, startOf } from '../../src/embedded/processes.ts';
import { until } from '../world/until.ts';

test('a killed process that nobody has waited for holds nothing', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'lombard-lock-'));
  // The shell becomes a program that never waits for the child that the shell had started.
  const parent = spawn('/bin/sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => {
    parent.kill('SIGKILL');
    rmSync(dataDir, { recursive: true, force: true });
  });
  const pid = Number((await createInterface({ input: parent.stdout })[Symbol.asyncIterator]().next()).value);
  writeFileSync(join(dataDir, 'postgres.lock'), `${pid} ${startOf(pid)}\n`);
  assert.equal(isAlive(pid), true);
  assert.throws(() => lockDirectory(dataDir), /is in use by process/);

  // Until the shell has become the other program, it would wait for its child.
  await until(() => process.platform !== 'linux' || readFileSync(`/proc/${parent.pid}/comm`, 'utf8') === 'sleep\n');
  process.kill(pid, 'SIGKILL');
  await until(() => !isAlive(pid));
  process.kill(pid, 0);
  lockDirectory(dataDir)();
});
