/** Deadlines for work that cannot be stopped. After the deadline nobody waits for it, and its result is ignored. */

/**
 * Whether work ends before its deadline.
 * @param limitMs milliseconds that it may take
 * @returns true as soon as it has ended, false after `limitMs`
 * @throws the error of the work before the deadline
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
 * The result of work that must complete before a deadline.
 * @param limitMs milliseconds that it may take
 * @param late makes the error for work that takes longer
 * @throws the error of `late`, or the error of the work before the deadline
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
