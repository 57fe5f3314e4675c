import { execFileSync } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { hashSync, verifySync } from '@node-rs/argon2';

/** argon2id: memory in KiB and passes, as OWASP recommends at the least; one lane. About 10 ms of a core. */
const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Niceness of a patient thread where the system has no idle class. */
const PRIORITY = 19;

export type PasswordTask = { password: string; hash: string | undefined };
export type PasswordResult = { result: string | boolean } | { error: string };

if (workerData === 'patient') giveWay();

/**
 * Lets everything else on the machine go first. On Linux a single thread can be told to: by its niceness, and better by the idle
 * class, which is left at once where a nice thread still runs its slice of some 3 ms to the end. Elsewhere it runs as all do.
 */
function giveWay(): void {
  try {
    const thread = readlinkSync('/proc/thread-self').split('/').pop() ?? '';
    setPriority(Number(thread), PRIORITY);
    execFileSync('chrt', ['--idle', '--pid', '0', thread], { stdio: 'ignore' });
  } catch {
    // No /proc, or no chrt.
  }
}

parentPort?.on('message', ({ password, hash }: PasswordTask) => {
  let answer: PasswordResult;
  try {
    answer = { result: hash === undefined ? hashSync(password, ARGON2) : verifySync(hash, password) };
  } catch (error) {
    answer = { error: (error as Error).message };
  }
  parentPort?.postMessage(answer);
});
