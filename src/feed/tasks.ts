import type { Context } from '../context.ts';
import { hookTransactions } from '../database.ts';
import type { Part } from '../parts.ts';
import { presentationOf } from '../payments/presentation.ts';
import { Periodic } from '../periodic.ts';
import { observeFeed } from './metrics.ts';
import { publishChanges } from './publisher.ts';
import { ChangeRecorder } from './recorder.ts';
import { clearChanges } from './retention.ts';

/** A commit in this process wakes the publisher; this is for those of the others. */
const PUBLISH_INTERVAL_MS = 100;
/** Publishing is a commit of its own: one for each other commit would cost single writes as much as writing their changes. */
const PUBLISH_AFTER_MS = 30;
const CLEAR_INTERVAL_MS = 600_000;

/** From here on each transaction of the two pools writes what it has changed into the feed. They have no connection yet. */
export function recordChanges(context: Context): Part {
  const recorder = new ChangeRecorder(() => presentationOf(context));
  hookTransactions(context.pool, recorder);
  hookTransactions(context.backgroundPool, recorder);
  observeFeed(context);
  return { stop: () => observeFeed(undefined) };
}

/** Publishes what has been committed, one cell after the other: the feed has one order. A cell that fails holds up no other. */
export function createPublisher({ clock, log }: Context, cells: readonly Context[]): Periodic {
  return new Periodic({
    name: 'change feed',
    intervalMs: PUBLISH_INTERVAL_MS,
    wakeAfterMs: PUBLISH_AFTER_MS,
    log,
    run: async () => {
      let failure: unknown;
      for (const { backgroundPool } of cells) {
        try {
          while (await publishChanges(backgroundPool, clock.now())) {
            // A burst is published whole.
          }
        } catch (error) {
          failure = error;
        }
      }
      if (failure) throw failure;
    },
  });
}

/** Deletes changes that are no longer kept. */
export function createClearing({ backgroundPool, clock, log, config }: Context): Periodic {
  return new Periodic({
    name: 'old changes',
    intervalMs: CLEAR_INTERVAL_MS,
    log,
    run: () => clearChanges(backgroundPool, clock.now(), config.changesRetentionDays),
  });
}
