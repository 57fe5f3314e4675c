import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { Problem } from '../errors.ts';
import type { PasswordResult, PasswordTask } from './password-thread.ts';

/** Characters (of the NFKC form) of a password that is set. A longer one could not be typed, and costs to hash. */
export const PASSWORD_LEAST = 8;
export const PASSWORD_MOST = 1_000;

/** Hashes at the same time: one core is left to the requests that need no password. */
const THREADS = Math.max(1, availableParallelism() - 1);
/** Hashes that wait for their turn; the next is refused, because it would wait for longer than anyone does. */
const MOST_WAITING = 400;

type Settle = { resolve: (result: string | boolean) => void; reject: (error: Error) => void };

/** A thread of its own for argon2: 15 ms of computing at a time would stop the event loop, and libuv's threads know no priority. */
class HashingThread {
  readonly under = new Map<number, Settle>();
  private worker: Worker | undefined;

  run(task: PasswordTask): Promise<string | boolean> {
    return new Promise((resolve, reject) => {
      this.under.set(task.id, { resolve, reject });
      if (!this.worker) this.worker = this.start();
      this.worker.ref();
      this.worker.postMessage(task);
    });
  }

  private start(): Worker {
    const worker = new Worker(new URL('./password-thread.ts', import.meta.url), { name: 'passwords' });
    worker.on('message', (answer: PasswordResult) => {
      const settle = this.under.get(answer.id);
      this.under.delete(answer.id);
      // An idle thread keeps no process alive.
      if (this.under.size === 0) worker.unref();
      if ('error' in answer) settle?.reject(new Error(answer.error));
      else settle?.resolve(answer.result);
    });
    const lost = (error: Error) => {
      if (this.worker === worker) this.worker = undefined;
      for (const settle of this.under.values()) settle.reject(error);
      this.under.clear();
    };
    worker.on('error', lost);
    worker.on('exit', () => lost(new Error('the hashing thread ended')));
    return worker;
  }
}

const threads = Array.from({ length: THREADS }, () => new HashingThread());
let lastId = 0;

function compute(password: string, hash: string | undefined): Promise<string | boolean> {
  const [least] = [...threads].sort((a, b) => a.under.size - b.under.size);
  const waiting = threads.reduce((sum, thread) => sum + thread.under.size, 0);
  if (!least || waiting >= MOST_WAITING) {
    throw new Problem('rate_limited', 'too many sign-ins at once: try again in a few seconds');
  }
  lastId += 1;
  return least.run({ id: lastId, password, hash });
}

/** The same text for every way in which a keyboard composes it (NIST SP 800-63B, 3.1.1.2). */
function canonical(password: string): string {
  return password.normalize('NFKC');
}

/**
 * Hashes a password with argon2id, outside the event loop.
 * @param password PASSWORD_LEAST to PASSWORD_MOST characters
 * @param field its path, for the message
 * @throws Problem invalid_body; rate_limited where hundreds wait already
 */
export async function hashPassword(password: string, field = 'body.password'): Promise<string> {
  const text = canonical(password);
  const length = [...text].length;
  if (length < PASSWORD_LEAST || length > PASSWORD_MOST) {
    throw new Problem('invalid_body', `${field}: must have ${PASSWORD_LEAST} to ${PASSWORD_MOST} characters`);
  }
  return (await compute(text, undefined)) as string;
}

/** A hash of a text that nobody knows: what is compared where there is nothing to compare with. */
let nobodys: Promise<string | boolean> | undefined;

/** Starts the thread, so that the first sign-in is no slower than the others. */
export async function warmUpPasswords(): Promise<void> {
  nobodys ??= compute(crypto.randomUUID(), undefined);
  await nobodys;
}

/**
 * Whether a password is the one that was hashed. Takes the same time where there is no hash and where the password is too long.
 * @param stored the hash, or null where the contact has none or there is no such contact
 * @throws Problem rate_limited where hundreds wait already
 */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  await warmUpPasswords();
  const plausible = stored !== null && password.length <= 2 * PASSWORD_MOST;
  const against = plausible ? stored : ((await nobodys) as string);
  const right = await compute(canonical(plausible ? password : 'not the password'), against);
  return plausible && right === true;
}
