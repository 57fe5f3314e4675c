import { onRun, type Run } from '../../src/process/runs.ts';
import { until } from './until.ts';

const MAX_SHOWN = 20;

/**
 * Waits for background work of this process, until a run that began after this call has succeeded. That run has seen everything committed
 * before the call. To wait for a run that some act causes, call this before the act, and await the promise after it.
 * @param name of the work, as in its log lines
 * @param count number of such runs
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

/** Makes the delivery engine of this process look for work again, and waits until it has. @param announce tells it that there may be work */
export async function engineLooks(announce: () => void): Promise<void> {
  // The second round includes the leases that the first one returned.
  for (let round = 0; round < 2; round += 1) {
    const looked = nextRun('webhook intake');
    announce();
    await looked;
  }
}
