import { channel } from 'node:diagnostics_channel';
import { monotonic } from '../values/calendar.ts';

/** A run of background work that has ended. */
export interface Run {
  /** Of the work, as in its log lines. */
  name: string;
  /** Monotonic milliseconds. The run saw what was committed before. */
  beganAt: number;
  failed: boolean;
}

/** One of Node's diagnostics channels: it costs nothing while nobody listens. */
const RUNS = channel('lombard:run');

/** Does a run of background work, and tells whoever listens that it has ended. @throws whatever the work throws */
export async function asRun<T>(name: string, work: () => Promise<T>): Promise<T> {
  const run: Run = { name, beganAt: monotonic(), failed: true };
  try {
    const result = await work();
    run.failed = false;
    return result;
  } finally {
    if (RUNS.hasSubscribers) RUNS.publish(run);
  }
}

/** Listens to the runs of this process. @returns ends it */
export function onRun(listener: (run: Run) => void): () => void {
  const listen = (run: unknown) => listener(run as Run);
  RUNS.subscribe(listen);
  return () => void RUNS.unsubscribe(listen);
}
