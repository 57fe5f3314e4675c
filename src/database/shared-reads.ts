/** A reading that runs, and the one that follows it. */
interface Running<T> {
  now: Promise<T>;
  next: Promise<T> | undefined;
}

/**
 * Shares readings of the same thing. Callers that come while one runs share the next. So each caller is told what had been committed when
 * it came, and no number of callers has more than one reading under way.
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
    running.next ??= running.now.then(
      () => this.#begin(key, read),
      () => this.#begin(key, read),
    );
    return running.next;
  }

  #begin(key: string, read: () => Promise<T>): Promise<T> {
    const now = read();
    const running: Running<T> = { now, next: undefined };
    this.#running.set(key, running);
    const end = () => {
      // The next one takes its place.
      if (running.next === undefined) this.#running.delete(key);
    };
    now.then(end, end);
    return now;
  }
}
