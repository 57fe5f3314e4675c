import { parentPort, workerData } from 'node:worker_threads';
import { hashSync, verifySync } from '@node-rs/argon2';
import { giveWay } from '../thread-priority.ts';

/** argon2id: memory in KiB and passes, as OWASP recommends at the least; one lane. About 10 ms of a core. */
const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Niceness of a patient thread where the system has no idle class. */
const PRIORITY = 19;

export interface PasswordTask {
  password: string;
  hash: string | undefined;
}
export type PasswordResult = { result: string | boolean } | { error: string };

if (workerData === 'patient') giveWay(PRIORITY, true);

parentPort?.on('message', ({ password, hash }: PasswordTask) => {
  let answer: PasswordResult;
  try {
    answer = { result: hash === undefined ? hashSync(password, ARGON2) : verifySync(hash, password) };
  } catch (error) {
    answer = { error: (error as Error).message };
  }
  parentPort?.postMessage(answer);
});
