import type { Context } from '../../context.ts';
import { Periodic } from '../../process/periodic.ts';
import { messageOf } from '../../values/unknown.ts';
import { openFiles, stepFile } from './engine.ts';

/** Milliseconds between two looks for files that wait for a moment, as FX to open. Whoever leaves something to be done wakes the worker. */
const LOOK_INTERVAL_MS = 1_000;
/** Files of a cell that are worked on in turn. */
const MAX_OPEN_FILES = 20;

/**
 * Judges and makes the payments of files in the background, in any number of processes: each step is a transaction that holds its file.
 */
export class MassPaymentWorker {
  readonly #looking: Periodic;
  #stopping = false;

  /** @param cells the context of each cell */
  constructor({ log }: Context, cells: readonly Context[]) {
    this.#looking = new Periodic({
      name: 'mass payments',
      intervalMs: LOOK_INTERVAL_MS,
      log,
      run: async () => {
        const failures = (await Promise.allSettled(cells.map((cell) => this.#workOff(cell)))).flatMap((each) =>
          each.status === 'rejected' ? [each.reason] : [],
        );
        if (failures.length > 0) throw new Error(messageOf(failures[0]), { cause: failures[0] });
      },
    });
  }

  start(): void {
    this.#looking.start();
  }

  /** A file was sent or confirmed. */
  wake(): void {
    this.#looking.wake();
  }

  /** Ends with the step that is under way. Another process goes on. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#looking.stop();
  }

  /** Takes each open file of a cell step by step, in turn, until all wait. */
  async #workOff(context: Context): Promise<void> {
    const waiting = new Set<string>();
    while (!this.#stopping) {
      const open = (await openFiles(context, MAX_OPEN_FILES)).filter((id) => !waiting.has(id));
      if (open.length === 0) return;
      for (const id of open) {
        if (this.#stopping) return;
        if ((await stepFile(context, id)) === 'waits') waiting.add(id);
      }
    }
  }
}
