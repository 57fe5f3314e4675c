import { onRun, type Run } from '../../src/process/runs.ts';
import { until } from './until.ts';

const MAX_SHOWN = 20;

/**
 * Waits for background work of this process: until a run that began after this call has ended well. It has seen what was committed before
 * the call. To wait for the run that something causes, call this first and await it afterwards.
 * @param name of the work, as in its log lines
 * @param count of such runs
 */
export async function nextRun(name: string, count = 1): Promise<void> {
  const from = performance.now();
  const runs: Run[] = [];
  const wanted = (run: Run) => run.name === name && run.beganAt >= from && !run.failed;
  await until(() => runs.filter(wanted).length >= count, {
    what: `${count} runs of \`${name}\``,
    seen: () => runs.slice(-MAX_SHOWN),
    on: (look) =>
      onRun((run) => {
        runs.push(run);
        look();
      }),
  });
}

/** Has the delivery engine of this process look again for everything, and waits until it has. @param announce tells it that there is something */
export async function engineLooks(announce: () => void): Promise<void> {
  // The second round has the leases that the first one put back.
  for (let round = 0; round < 2; round += 1) {
    const looked = nextRun('webhook intake');
    announce();
    await looked;
  }
}
