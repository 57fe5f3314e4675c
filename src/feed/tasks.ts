import { hasNotes } from '../audit/change.ts';
import type { Context } from '../context.ts';
import { type Activity, inTurn } from '../database/cells/activity.ts';
import { leaveCells } from '../database/cells/connection.ts';
import { createRounds } from '../database/cells/contexts.ts';
import { hookTransactions, leaveWork, type TransactionHooks } from '../database/database.ts';
import { presentationOf } from '../payments/presentation.ts';
import type { Part } from '../process/parts.ts';
import { Periodic } from '../process/periodic.ts';
import { observeFeed } from './metrics.ts';
import { publishCell, publishChanges } from './publisher.ts';
import { ChangeRecorder } from './recorder.ts';
import { clearChanges } from './retention.ts';

/** A commit wakes the publisher, at the latest when it is announced; this is for another process that publishes meanwhile. */
const PUBLISH_INTERVAL_MS = 100;
/** Publishing is a commit of its own: one for each other commit would cost single writes as much as writing their changes. */
const PUBLISH_AFTER_MS = 30;
const CLEAR_INTERVAL_MS = 600_000;

/** From here on each transaction of the two pools writes what it has changed into the feed. They have no connection yet. */
export function recordChanges(context: Context): Part {
  const recorder = new ChangeRecorder(() => presentationOf(context));
  const hooks = announcing(recorder, context.activity);
  hookTransactions(context.pool, hooks);
  hookTransactions(context.backgroundPool, hooks);
  observeFeed(context);
  return { stop: () => observeFeed(undefined) };
}

/** Tells what transactions have left to be done, and in which cells. */
function announcing(recorder: ChangeRecorder, activity: Activity): TransactionHooks {
  return {
    beforeReading: (tx) => recorder.beforeReading(tx),
    stepEnded: (tx) => recorder.stepEnded(tx),
    beforeCommit: (tx) => {
      if (hasNotes(tx)) leaveWork(tx, 'changes');
      return recorder.beforeCommit(tx);
    },
    ended: (tx, left) => {
      recorder.ended(tx);
      const cells = leaveCells(tx);
      if (left && left.size > 0) activity.wrote(cells, left);
    },
  };
}

/** Publishes what has been committed, one cell after the other: the feed has one order. A cell that fails holds up no other. */
export function createPublisher({ clock, log, backgroundPool: order }: Context, cells: readonly Context[]): Periodic {
  const rounds = createRounds(cells);
  const publish = inTurn<Context>(publishChanges, async ({ backgroundPool: cell, rhythm }) => {
    let more: boolean | 'busy' = true;
    // A burst is published whole.
    while (more === true)
      more = await (cells.length > 1 ? publishCell({ cell, order }, clock.now()) : publishChanges(cell, clock.now()));
    if (more === 'busy') rhythm?.againFor(publishChanges);
  });
  return new Periodic({
    name: 'change feed',
    intervalMs: PUBLISH_INTERVAL_MS,
    wakeAfterMs: PUBLISH_AFTER_MS,
    log,
    run: () => rounds(cells, publish),
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
