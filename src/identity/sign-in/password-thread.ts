import { parentPort, workerData } from 'node:worker_threads';
import { hashSync, verifySync } from '@node-rs/argon2';
import { giveWay } from '../../process/thread-priority.ts';
import { messageOf } from '../../values/unknown.ts';

/** argon2id with the memory (KiB) and passes that OWASP recommends as a minimum, and one lane. It takes about 10 ms of a core. */
const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Niceness of a background thread on a system without an idle scheduling class. */
const PRIORITY = 19;

export interface PasswordTask {
  password: string;
  /** The hash to verify against; if it is undefined, the password is hashed. */
  hash: string | undefined;
}
/** `result`: the hash; the empty text if the password does not match the hash of the task. */
export type PasswordResult = { result: string } | { error: string };

if (workerData === 'background') giveWay(PRIORITY, true);

parentPort?.on('message', ({ password, hash }: PasswordTask) => {
  let answer: PasswordResult;
  try {
    const result = hash === undefined ? hashSync(password, ARGON2) : verifySync(hash, password) ? hash : '';
    answer = { result };
  } catch (error) {
    answer = { error: messageOf(error) };
  }
  parentPort?.postMessage(answer);
});
