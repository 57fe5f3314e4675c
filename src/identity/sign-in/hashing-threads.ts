import { Worker } from 'node:worker_threads';
import { monotonic } from '../../values/calendar.ts';
import { Problem } from '../../values/errors.ts';
import type { PasswordResult, PasswordTask } from './password-thread.ts';

/** The most hashes in the queue. One more is refused, because nobody would wait that long. */
const MAX_QUEUED = 400;
/** Milliseconds in the queue after which a hash is urgent: the machine is then too busy to run the background threads. */
const URGENT_AFTER_MS = 1_000;

interface QueuedHash {
  task: PasswordTask;
  queuedAt: number;
  resolve: (result: string) => void;
  reject: (error: Error) => void;
}

/**
 * Threads for argon2, which would block the event loop for 10 ms at a time. libuv's own threads have no priorities. The background threads
 * yield to requests and the database. One urgent thread of normal priority takes what has waited too long.
 */
export class HashingThreads {
  readonly #queue: QueuedHash[] = [];
  readonly #background: HashingThread[];
  readonly #urgent = new HashingThread('urgent', () => this.#next());
  #timer: NodeJS.Timeout | undefined;

  /** @param count of background threads */
  constructor(count: number) {
    this.#background = Array.from({ length: count }, () => new HashingThread('background', () => this.#next()));
  }

  /**
   * Hashes a password. If the task has a hash, it verifies the password against that hash instead.
   * @returns the hash; the empty text if the password does not match it
   * @throws Problem rate_limited if MAX_QUEUED hashes are waiting already
   */
  run(task: PasswordTask): Promise<string> {
    if (this.#queue.length >= MAX_QUEUED) {
      throw new Problem('rate_limited', 'too many sign-ins at once: try again in a few seconds');
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ task, queuedAt: monotonic(), resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    for (const thread of this.#background) {
      const hash = thread.idle ? this.#queue.shift() : undefined;
      if (hash) thread.take(hash);
    }
    clearTimeout(this.#timer);
    const [oldest] = this.#queue;
    if (!oldest || !this.#urgent.idle) return;
    const left = oldest.queuedAt + URGENT_AFTER_MS - monotonic();
    if (left > 0) {
      this.#timer = setTimeout(() => this.#next(), left);
      return;
    }
    this.#queue.shift();
    this.#urgent.take(oldest);
  }
}

/** One thread, and the hash that it computes. */
class HashingThread {
  readonly #kind: 'background' | 'urgent';
  readonly #free: () => void;
  #worker: Worker | undefined;
  #current: QueuedHash | undefined;

  constructor(kind: 'background' | 'urgent', free: () => void) {
    this.#kind = kind;
    this.#free = free;
  }

  get idle(): boolean {
    return this.#current === undefined;
  }

  take(hash: QueuedHash): void {
    this.#current = hash;
    if (!this.#worker) this.#worker = this.#start();
    this.#worker.ref();
    this.#worker.postMessage(hash.task);
  }

  #start(): Worker {
    const worker = new Worker(new URL('./password-thread.ts', import.meta.url), {
      name: 'passwords',
      workerData: this.#kind,
    });
    worker.on('message', (answer: PasswordResult) => {
      // An idle thread must not keep the process alive.
      worker.unref();
      this.#settle((hash) => ('error' in answer ? hash.reject(new Error(answer.error)) : hash.resolve(answer.result)));
    });
    const lost = (error: Error) => {
      if (this.#worker === worker) this.#worker = undefined;
      this.#settle((hash) => hash.reject(error));
    };
    worker.on('error', lost);
    worker.on('exit', () => lost(new Error('the hashing thread ended')));
    return worker;
  }

  #settle(how: (hash: QueuedHash) => void): void {
    const hash = this.#current;
    this.#current = undefined;
    if (hash) how(hash);
    this.#free();
  }
}
