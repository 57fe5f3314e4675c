import { Worker } from 'node:worker_threads';
import { monotonic } from '../calendar.ts';
import { Problem } from '../errors.ts';
import type { PasswordResult, PasswordTask } from './password-thread.ts';

/** Hashes that wait for their turn; the next is refused, because it would wait for longer than anyone does. */
const MAX_WAITING = 400;
/** Milliseconds after which a hash is urgent: the machine is so busy that the patient threads get nothing of it. */
const PATIENCE = 1_000;

interface Waiting {
  work: PasswordTask;
  since: number;
  resolve: (result: string | boolean) => void;
  reject: (error: Error) => void;
}

/**
 * Threads for argon2: 10 ms of computing at a time would stop the event loop, and libuv's own threads know no priority. The patient
 * ones give way to requests and the database; one more of ordinary priority takes over what has waited for too long.
 */
export class HashingThreads {
  readonly #queue: Waiting[] = [];
  readonly #patient: HashingThread[];
  readonly #urgent = new HashingThread('urgent', () => this.#next());
  #timer: NodeJS.Timeout | undefined;

  /** @param count patient threads */
  constructor(count: number) {
    this.#patient = Array.from({ length: count }, () => new HashingThread('patient', () => this.#next()));
  }

  /**
   * A hash of the password, or where one is given whether the password is the one that was hashed.
   * @throws Problem rate_limited where hundreds wait already
   */
  run(work: PasswordTask): Promise<string | boolean> {
    if (this.#queue.length >= MAX_WAITING) {
      throw new Problem('rate_limited', 'too many sign-ins at once: try again in a few seconds');
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ work, since: monotonic(), resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    for (const thread of this.#patient) {
      if (thread.idle && this.#queue.length > 0) thread.take(this.#queue.shift() as Waiting);
    }
    clearTimeout(this.#timer);
    const [oldest] = this.#queue;
    if (!oldest || !this.#urgent.idle) return;
    const left = oldest.since + PATIENCE - monotonic();
    if (left > 0) this.#timer = setTimeout(() => this.#next(), left);
    else this.#urgent.take(this.#queue.shift() as Waiting);
  }
}

/** One thread and the hash it computes. */
class HashingThread {
  readonly #kind: 'patient' | 'urgent';
  readonly #free: () => void;
  #worker: Worker | undefined;
  #current: Waiting | undefined;

  constructor(kind: 'patient' | 'urgent', free: () => void) {
    this.#kind = kind;
    this.#free = free;
  }

  get idle(): boolean {
    return this.#current === undefined;
  }

  take(waiting: Waiting): void {
    this.#current = waiting;
    if (!this.#worker) this.#worker = this.#start();
    this.#worker.ref();
    this.#worker.postMessage(waiting.work);
  }

  #start(): Worker {
    const worker = new Worker(new URL('./password-thread.ts', import.meta.url), {
      name: 'passwords',
      workerData: this.#kind,
    });
    worker.on('message', (answer: PasswordResult) => {
      // An idle thread keeps no process alive.
      worker.unref();
      this.#settle((waiting) =>
        'error' in answer ? waiting.reject(new Error(answer.error)) : waiting.resolve(answer.result),
      );
    });
    const lost = (error: Error) => {
      if (this.#worker === worker) this.#worker = undefined;
      this.#settle((waiting) => waiting.reject(error));
    };
    worker.on('error', lost);
    worker.on('exit', () => lost(new Error('the hashing thread ended')));
    return worker;
  }

  #settle(how: (waiting: Waiting) => void): void {
    const waiting = this.#current;
    this.#current = undefined;
    if (waiting) how(waiting);
    this.#free();
  }
}
