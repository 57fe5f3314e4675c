/** Deadlines around work that cannot be told to stop: nobody waits for it any longer, and what becomes of it is ignored. */

/**
 * Whether work ends before its deadline.
 * @param limitMs milliseconds that it gets
 * @returns true as soon as it has ended, false after `limitMs`
 * @throws whatever the work throws before the deadline
 */
export async function endsWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), limitMs);
  try {
    return await Promise.race([work.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The result of work that has to come before a deadline.
 * @param limitMs milliseconds that it gets
 * @param late makes the error for work that takes longer
 * @throws what `late` makes, or whatever the work throws before the deadline
 */
export async function inTime<T>(work: Promise<T>, limitMs: number, late: () => Error): Promise<T> {
  const deadline = Promise.withResolvers<never>();
  const timer = setTimeout(() => deadline.reject(late()), limitMs);
  try {
    return await Promise.race([work, deadline.promise]);
  } finally {
    clearTimeout(timer);
  }
}
