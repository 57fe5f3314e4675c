import type { Act } from '../../audit/act.ts';
import type { Context } from '../../context.ts';
import { first, transaction } from '../../database/database.ts';
import { begin } from './beginning.ts';
import { type File, moveTo, type Outcome, type Step } from './file-step.ts';
import { judge } from './judging.ts';
import { make } from './making.ts';

/** The steps of files, each in a transaction of its own. */

/** The files of a cell that something is to be done with, the oldest first. */
export async function openFiles({ backgroundPool }: Context, most: number): Promise<string[]> {
  const { rows } = await backgroundPool.query<{ id: string }>(
    `select mass_payment_id as id from mass_payments
     where status in ('Queued for processing', 'Processing', 'Queued for creating', 'Creating') or proceeds
     order by created_at limit $1`,
    [most],
  );
  return rows.map(({ id }) => id);
}

/**
 * Takes a file one step further, in a transaction of its own: who is killed in between has done nothing, or all of it. A file that another
 * process works on is left alone.
 */
export async function stepFile(context: Context, id: string): Promise<Outcome> {
  return transaction(context.backgroundPool, async (tx) => {
    const file = first(
      await tx.query<File & Record<string, unknown>>(
        'select * from mass_payments where mass_payment_id = $1 for no key update skip locked',
        [id],
      ),
    );
    if (!file) return 'waits';
    const act: Act = { now: context.clock.now(), actor: `contact:${file.created_by}`, requestId: `mass-payment ${id}` };
    const step = { context, tx, act, file };
    switch (file.status) {
      case 'Queued for processing':
        return moveTo(step, 'Processing');
      case 'Processing':
        return judge(step);
      case 'Processed':
        return proceed(step);
      case 'Queued for creating':
        return begin(step);
      case 'Creating':
        return make(step);
      default:
        return 'waits';
    }
  });
}

/** A file that was judged goes on by itself. */
async function proceed(step: Step): Promise<Outcome> {
  return moveTo(step, 'Queued for creating', { proceeds: false });
}
