import type { Context } from '../context.ts';
import { transaction } from '../database/database.ts';
import { Periodic } from '../process/periodic.ts';
import { Problem } from '../values/errors.ts';
import { unreadStreams } from './stream.ts';
import { deleteSubscription } from './subscription.ts';

/** Milliseconds between two checks. The first comes after one interval, when readers that a restart has cut off are back. */
const UNREAD_INTERVAL_MS = 30_000;

/** Removes subscriptions of delivery STREAM that nobody has read for ten minutes. A command that was killed leaves its own behind. */
export function createUnreadStreams({ backgroundPool, clock, log }: Context): Periodic {
  return new Periodic({
    name: 'unread streams',
    intervalMs: UNREAD_INTERVAL_MS,
    log,
    run: async () => {
      const now = clock.now();
      for (const { clientId, subscriptionId: id } of await unreadStreams(backgroundPool, now)) {
        const act = { now, actor: 'service:webhooks', requestId: `unread-stream-${id}` };
        await transaction(backgroundPool, (tx) => deleteSubscription(tx, act, { clientId, id })).catch((error) => {
          // Another process was faster.
          if (!(error instanceof Problem)) throw error;
        });
        log.info({ subscription: id }, 'a stream that nobody read was removed');
      }
    },
  });
}
