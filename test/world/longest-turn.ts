/** Milliseconds between two samples. Anything that takes longer lies between the same two. */
const LOOK_INTERVAL_MS = 2;

/** Milliseconds of processor time that this thread has used so far. */
function computed(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * Runs some work and measures how long it blocked this thread. The result is the longest time, in milliseconds, that the thread computed
 * without yielding. Other load on the machine does not count.
 * @throws whatever the work throws
 */
export async function longestTurn<T>(work: () => Promise<T>): Promise<{ result: T; longest: number }> {
  let last = computed();
  let longest = 0;
  const look = () => {
    const now = computed();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, LOOK_INTERVAL_MS);
  try {
    const result = await work();
    look();
    return { result, longest };
  } finally {
    clearInterval(timer);
  }
}
