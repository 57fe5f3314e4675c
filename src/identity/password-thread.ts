import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { hashSync, verifySync } from '@node-rs/argon2';

/** argon2id: memory in KiB and passes, as OWASP recommends at the least; one lane. About 15 ms of a core. */
const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Niceness of this thread: requests and the database come first, and a sign-in that waits a little harms nobody. */
const PRIORITY = 19;

export type PasswordTask = { id: number; password: string; hash: string | undefined };
export type PasswordResult = { id: number; result: string | boolean } | { id: number; error: string };

// On Linux a priority can be given to one thread by its number; elsewhere this thread runs as the others do.
try {
  setPriority(Number(readlinkSync('/proc/thread-self').split('/').pop()), PRIORITY);
} catch {
  // No /proc: another system.
}

parentPort?.on('message', ({ id, password, hash }: PasswordTask) => {
  let answer: PasswordResult;
  try {
    answer = { id, result: hash === undefined ? hashSync(password, ARGON2) : verifySync(hash, password) };
  } catch (error) {
    answer = { id, error: (error as Error).message };
  }
  parentPort?.postMessage(answer);
});
