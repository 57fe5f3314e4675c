import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import { until } from './world/until.ts';

const WORLD = new URL('world/leftovers.ts', import.meta.url).href;

/** A test process that starts a program with a child and makes two folders, one of which it removes. It prints what it has left. */
const TESTS = `
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithTests, removeWithTests } from '${WORLD}';
const [kept, gone] = [1, 2].map(() => removeWithTests(mkdtempSync(join(tmpdir(), 'lombard-leftovers-'))));
rmSync(gone, { recursive: true });
const short = endWithTests(spawn('true'));
short.once('exit', () => {
  const program = endWithTests(spawn('/bin/sh', ['-c', 'sleep 600 & echo $!; wait'], { detached: true }));
  program.stdout.once('data', (child) => {
    console.log(JSON.stringify({ kept, pids: [program.pid, Number(child)] }));
    process.stdin.once('data', (how) => {
      if (String(how) === 'throw') throw new Error('a failed assertion');
      process.exit();
    });
  });
});
`;

const isAlive = (pid: number) =>
  existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

const skip = process.platform !== 'linux' && 'reads /proc';

describe('a test process leaves no program and no folder behind', { skip, concurrency: true }, () => {
  const ends: [string, (tests: ChildProcess) => void][] = [
    ['which is told to end', (tests) => tests.kill('SIGTERM')],
    ['which is interrupted', (tests) => tests.kill('SIGINT')],
    ['which is killed', (tests) => tests.kill('SIGKILL')],
    ['which fails', (tests) => tests.stdin?.write('throw')],
    ['which exits', (tests) => tests.stdin?.write('exit')],
  ];
  for (const [how, end] of ends) {
    test(how, async () => {
      const tests = spawn(process.execPath, ['--input-type=module', '-e', TESTS], {
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      const [line] = await createInterface({ input: tests.stdout })
        [Symbol.asyncIterator]()
        .next()
        .then(({ value }) => [value]);
      const { kept, pids } = JSON.parse(String(line)) as { kept: string; pids: number[] };
      assert.deepEqual(pids.map(isAlive), [true, true]);
      end(tests);
      await until(() => !existsSync(kept) && !pids.some(isAlive));
    });
  }
});
