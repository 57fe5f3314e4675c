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

/** Works on several lanes, one item after another on each. */
export async function measure(
  { seconds, lanes }: { seconds: number; lanes: number },
  { program, server }: Clocks,
  work: (n: number) => Promise<void>,
): Promise<Measured> {
  const times: number[] = [];
  let next = 0;
  const [programBefore, serverBefore] = [program(), server()];
  const began = performance.now();
  const end = began + seconds * 1_000;
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (let start = performance.now(); start < end; start = performance.now()) {
        next += 1;
        await work(next);
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
