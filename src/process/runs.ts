import { channel } from 'node:diagnostics_channel';
import { monotonic } from '../values/calendar.ts';

/** A completed run of background work. */
export interface Run {
  /** The name of the work, the same as in its log lines. */
  name: string;
  /** Monotonic milliseconds. The run saw everything that was committed before. */
  beganAt: number;
  failed: boolean;
}

/** One of Node's diagnostics channels. It costs nothing while nobody listens. */
const RUNS = channel('lombard:run');

/** Does a run of background work, and tells listeners when it has ended. @throws the error of the work */
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

/** Listens to the runs of this process. @returns a function that stops listening */
export function onRun(listener: (run: Run) => void): () => void {
  const listen = (run: unknown) => listener(run as Run);
  RUNS.subscribe(listen);
  return () => void RUNS.unsubscribe(listen);
}
