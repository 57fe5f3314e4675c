import { hasNotes } from '../audit/change.ts';
import type { Context } from '../context.ts';
import { type Activity, inTurn } from '../database/cells/activity.ts';
import { leaveCells } from '../database/cells/connection.ts';
import { createRounds } from '../database/cells/contexts.ts';
import { poolOf } from '../database/cells/pool.ts';
import { hookTransactions, leaveWork, type TransactionHooks } from '../database/database.ts';
import { presentationOf } from '../payments/presentation.ts';
import type { Part } from '../process/parts.ts';
import { Periodic } from '../process/periodic.ts';
import { observeFeed } from './metrics.ts';
import { publishChanges } from './publisher.ts';
import { ChangeRecorder } from './recorder.ts';
import { clearChanges } from './retention.ts';

/** A commit wakes the publisher, at the latest through its announcement. This interval is for the case that another process is publishing. */
const PUBLISH_INTERVAL_MS = 100;
/** Publishing is a commit of its own. One for every other commit would cost single writes as much as writing their changes. */
const PUBLISH_AFTER_MS = 30;
const CLEAR_INTERVAL_MS = 600_000;

/** From now on each transaction of the two pools writes its changes into the feed. The pools must not have a connection yet. */
export function recordChanges(context: Context): Part {
  const recorder = new ChangeRecorder(() => presentationOf(context), context.config.environment === 'sandbox');
  const hooks = announcing(recorder, context.activity);
  hookTransactions(context.pool, hooks);
  hookTransactions(context.backgroundPool, hooks);
  observeFeed(context);
  return { stop: () => observeFeed(undefined) };
}

/** Announces what work transactions have left, and in which cells. */
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

/** Publishes what has been committed, cell by cell, because the feed has one order. A cell that fails does not stop the others. */
export function createPublisher({ clock, log, backgroundPool }: Context, cells: readonly Context[]): Periodic {
  const rounds = createRounds(cells);
  const order = poolOf(backgroundPool, 0);
  const publish = inTurn<Context>(publishChanges, async ({ backgroundPool: cell, rhythm }) => {
    let more: boolean | 'busy' = true;
    // Publishes a burst completely.
    while (more === true) more = await publishChanges({ cell, order }, clock.now());
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
