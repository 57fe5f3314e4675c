import { endsWithin } from '../process/deadline.ts';

/**
 * Milliseconds that callers wait for a reading that began before they came. If the database hangs, their own reading still fails soon enough
 * for a 502 within 3 s.
 */
const MAX_WAIT_MS = 300;

/** A reading that runs, and the one that follows it. */
interface Running<T> {
  now: Promise<T>;
  next: Promise<T> | undefined;
}

/**
 * Shares readings of the same thing. Callers that come while one runs share the next, so each is told what had been committed when it came.
 */
export class SharedReads<T> {
  readonly #running = new Map<string, Running<T>>();

  /**
   * @param key what is read
   * @param read reads it
   * @throws the error of the reading
   */
  read(key: string, read: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key);
    if (!running) return this.#begin(key, read);
    const ended = running.now.catch(() => {});
    running.next ??= endsWithin(ended, MAX_WAIT_MS).then(() => this.#begin(key, read));
    return running.next;
  }

  #begin(key: string, read: () => Promise<T>): Promise<T> {
    const now = read();
    const running: Running<T> = { now, next: undefined };
    this.#running.set(key, running);
    const end = () => {
      // Another one has taken its place, or will.
      if (running.next === undefined) this.#running.delete(key);
    };
    now.then(end, end);
    return now;
  }
}
