/** Milliseconds between two looks; whatever takes longer lies between the same two. */
const LOOK_INTERVAL_MS = 2;

/** Milliseconds for which this thread has computed so far. */
function computed(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * Does some work and tells for how long it kept this thread from everything else: the longest time, in milliseconds, for which the thread
 * computed without giving others a turn. What else the machine does does not count.
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
