/** A part of the running service: a database, a pool, a timer, a listener, a worker. */
export interface Part {
  start?(): Promise<void> | void;
  /** Must also work after a failed start. */
  stop(): Promise<void> | void;
}

/**
 * The parts of the running service, in the order in which they start. Parts that take work stop first, all at the same time, so stopping
 * them takes as long as the slowest one. Then the parts that they use stop one after the other, last one first.
 */
export class Parts {
  readonly #parts: { part: Part; takesWork: boolean }[] = [];
  readonly #interrupted: AbortSignal;

  /** @param interrupted aborted to end the start */
  constructor(interrupted: AbortSignal) {
    this.#interrupted = interrupted;
  }

  /**
   * Starts a part and keeps it for `stop`, even if its start fails or is interrupted.
   * @param options `takesWork`: whether it can have requests or deliveries in flight when the service stops
   * @throws the reason of the interruption
   */
  async start(part: Part, options: { takesWork?: boolean } = {}): Promise<void> {
    this.#parts.push({ part, takesWork: options.takesWork ?? false });
    this.#interrupted.throwIfAborted();
    await part.start?.();
  }

  /**
   * Waits for a step of the start that holds nothing for `stop` to release. If the start is interrupted, it no longer waits for the step.
   * @throws the reason of the interruption, or the error of the step
   */
  async during<T>(step: Promise<T>): Promise<T> {
    const interrupted = Promise.withResolvers<never>();
    const onAbort = () => interrupted.reject(this.#interrupted.reason);
    this.#interrupted.addEventListener('abort', onAbort);
    try {
      if (this.#interrupted.aborted) onAbort();
      return await Promise.race([step, interrupted.promise]);
    } finally {
      this.#interrupted.removeEventListener('abort', onAbort);
    }
  }

  async stop(): Promise<void> {
    const working = this.#parts.filter(({ takesWork }) => takesWork);
    const others = this.#parts.filter(({ takesWork }) => !takesWork);
    await Promise.all(working.map(({ part }) => part.stop()));
    for (const { part } of others.reverse()) await part.stop();
  }
}
