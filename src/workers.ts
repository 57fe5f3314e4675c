import { ApproverRefresher } from './approvals/refresher.ts';
import { createAuditTasks } from './audit/tasks.ts';
import { Backlog } from './backlog.ts';
import { contextOf } from './cell-context.ts';
import { cellNumbers } from './cell-directory.ts';
import type { Context } from './context.ts';
import type { Drawing } from './documents/drawing.ts';
import { createErasures } from './erasure/job.ts';
import { createClearing, createPublisher } from './feed/tasks.ts';
import { createJournalClearing } from './journals.ts';
import { MailWorker } from './mails/worker.ts';
import { createAnswerClearing } from './operator/idempotency.ts';
import type { Parts } from './parts.ts';
import { rollUpTotals } from './payments/roll-up.ts';
import { Periodic } from './periodic.ts';
import { Autopilot } from './sandbox/autopilot.ts';
import { StatementWorker } from './statements/worker.ts';
import { Dispatcher } from './webhooks/dispatcher.ts';
import type { EventSignal } from './webhooks/event-signal.ts';
import { createUnreadStreams } from './webhooks/unread-streams.ts';

/** Milliseconds between two runs. One run a second for the totals costs a fifth of five runs a second. */
const TOTALS_INTERVAL_MS = 1_000;

interface Workers {
  context: Context;
  parts: Parts;
  drawing: Drawing;
  signal: EventSignal;
}

/**
 * Background work. Every process may do it; the database decides which one does. What belongs to clients is done for each cell by itself,
 * so that one whose server is down holds up no other.
 */
export async function startWorkers({ context, parts, drawing, signal }: Workers): Promise<void> {
  const { backgroundPool, clock, log, config } = context;
  const cells = (await cellNumbers(backgroundPool)).map((cell) => contextOf(context, cell));
  const publisher = createPublisher(context, cells);
  const tasks = [
    publisher,
    createClearing(context),
    new Backlog(contextOf(context, 'all').backgroundPool, clock),
    createJournalClearing(backgroundPool, clock, log),
    createErasures(context),
    createAnswerClearing(context),
    ...cells.flatMap(tasksOfCell),
  ];
  for (const task of tasks) await parts.start(task);
  if (config.autopilot !== undefined) await parts.start(new Autopilot(context, config.autopilot));
  const dispatchers = cells.map((cell) => new Dispatcher(cell));
  for (const dispatcher of dispatchers) await parts.start(dispatcher, { takesWork: true });
  signal.listen(...dispatchers, publisher);
  for (const cell of cells) await parts.start(new StatementWorker(cell, drawing), { takesWork: true });
  await parts.start(new MailWorker(context, cells), { takesWork: true });
}

function tasksOfCell(context: Context) {
  const { backgroundPool, clock, log } = context;
  const run = async () => void (await rollUpTotals(backgroundPool));
  return [
    createUnreadStreams(context),
    new Periodic({ name: 'payment totals', intervalMs: TOTALS_INTERVAL_MS, log, run }),
    new ApproverRefresher(backgroundPool, clock, log),
    ...createAuditTasks(context),
  ];
}
