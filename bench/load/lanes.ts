/** Runs work on several lanes at once: throughput per second, the time of each item, and its cost. */

export interface Measured {
  rate: number;
  p50: number;
  p99: number;
  /** Milliseconds of processor time per item. */
  program: number;
  server: number;
}

/** Processor time so far, in seconds. */
export interface Clocks {
  program: () => number;
  server: () => number;
}

/** Works on several lanes for some seconds, one item after another on each. */
export function measure(
  { seconds, lanes }: { seconds: number; lanes: number },
  clocks: Clocks,
  work: (n: number) => Promise<void>,
): Promise<Measured> {
  const end = performance.now() + seconds * 1_000;
  return measureWhile(() => performance.now() < end, lanes, clocks, work);
}

/** Works off a number of items on several lanes. @param work is given the index of the item */
export function measureAll(
  { count, lanes }: { count: number; lanes: number },
  clocks: Clocks,
  work: (index: number) => Promise<void>,
): Promise<Measured> {
  return measureWhile(
    (n) => n <= count,
    lanes,
    clocks,
    (n) => work(n - 1),
  );
}

async function measureWhile(
  goesOn: (n: number) => boolean,
  lanes: number,
  { program, server }: Clocks,
  work: (n: number) => Promise<void>,
): Promise<Measured> {
  const times: number[] = [];
  let next = 1;
  const [programBefore, serverBefore] = [program(), server()];
  const began = performance.now();
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (goesOn(next)) {
        const start = performance.now();
        const n = next;
        next += 1;
        await work(n);
        times.push(performance.now() - start);
      }
    }),
  );
  const took = performance.now() - began;
  times.sort((a, b) => a - b);
  const each = 1_000 / times.length;
  return {
    rate: (times.length * 1_000) / took,
    p50: times[times.length >> 1] ?? 0,
    p99: times[Math.floor(times.length * 0.99)] ?? 0,
    program: (program() - programBefore) * each,
    server: (server() - serverBefore) * each,
  };
}
