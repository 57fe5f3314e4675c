import { type Clock, monotonic } from '../values/calendar.ts';

/** Milliseconds after which a run that failed comes again: the lock that it waits for (of a backup) may be held for hours. */
const RETRY_AFTER_MS = 60_000;

export interface DailyTask {
  clock: Clock;
  /** @param now the moment of service time whose UTC day it is for */
  run: (now: Date) => Promise<void>;
  /** Whether a run that failed may wait, as it may by default. @param day YYYY-MM-DD, in UTC */
  mayWait?: (day: string) => Promise<boolean>;
}

/** Runs a task once for each UTC day of service time, to which the sandbox's clock may jump. */
export class Daily {
  readonly #task: DailyTask;
  #doneFor = '';
  #notBeforeMs = 0;

  constructor(task: DailyTask) {
    this.#task = task;
  }

  /** Runs the task if it is due; cheap where it is not. @throws whatever the task throws; it is due again after a minute */
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
