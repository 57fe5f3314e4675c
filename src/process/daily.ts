import { type Clock, monotonic } from '../values/calendar.ts';

/** Milliseconds after which a failed run is repeated. The lock that it waits for (for example of a backup) may be held for hours. */
const RETRY_AFTER_MS = 60_000;

export interface DailyTask {
  clock: Clock;
  /** @param now the moment of service time; the task is for its UTC day */
  run: (now: Date) => Promise<void>;
  /** Whether a failed run may wait before it is retried; by default it may. @param day YYYY-MM-DD, in UTC */
  mayWait?: (day: string) => Promise<boolean>;
}

/** Runs a task once for each UTC day of service time. The sandbox's clock may jump to another day. */
export class Daily {
  readonly #task: DailyTask;
  #doneFor = '';
  #notBeforeMs = 0;

  constructor(task: DailyTask) {
    this.#task = task;
  }

  /** Runs the task if it is due, and is cheap otherwise. @throws the error of the task, which is due again after a minute */
  async keep(): Promise<void> {
    const { clock, run, mayWait } = this.#task;
    const now = clock.now();
    const today = now.toISOString().slice(0, 10);
    if (today === this.#doneFor) return;
    if (monotonic() < this.#notBeforeMs && (!mayWait || (await mayWait(today)))) return;
    this.#notBeforeMs = monotonic() + RETRY_AFTER_MS;
    await run(now);
    this.#notBeforeMs = 0;
    this.#doneFor = today;
  }
}
