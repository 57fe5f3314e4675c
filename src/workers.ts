import { ApproverRefresher } from './approvals/refresher.ts';
import { createAuditTasks } from './audit/tasks.ts';
import type { Context } from './context.ts';
import { inRhythm } from './database/cells/activity.ts';
import { cellContexts, contextOf } from './database/cells/contexts.ts';
import { createClaimSweep } from './database/cells/identifier-sweep.ts';
import { createCellLook } from './database/cells/look.ts';
import { besideOf, hasSeveralCells } from './database/cells/pool.ts';
import type { Drawing } from './documents/document.ts';
import { createErasures } from './erasure/job.ts';
import { createQuoteClearing } from './exchange/quote-clearing.ts';
import { createClearing, createPublisher } from './feed/tasks.ts';
import { MailWorker } from './mails/worker.ts';
import { Backlog } from './monitoring/backlog.ts';
import { createJournalClearing } from './monitoring/journals.ts';
import { createAnswerClearing } from './operator/idempotency.ts';
import { MASS_PAYMENTS } from './orders/mass/engine.ts';
import { MASS_BENEFICIARIES } from './orders/mass-beneficiaries/making.ts';
import { OrderWorker } from './orders/worker.ts';
import { rollUpTotals } from './payments/search/totals.ts';
import { Parts } from './process/parts.ts';
import { Periodic } from './process/periodic.ts';
import { Autopilot } from './sandbox/autopilot.ts';
import { clearFiles } from './statements/kept-file.ts';
import { StatementWorker } from './statements/worker.ts';
import { Dispatcher } from './webhooks/delivery/dispatcher.ts';
import { createUnreadStreams } from './webhooks/unread-streams.ts';

/** Milliseconds between two runs that roll up totals. One run a second costs a fifth of five runs a second. */
const TOTALS_INTERVAL_MS = 1_000;
/** The same in one of several cells, where a run costs many times as much. It applies while there are no more deltas than pages can easily add up. */
const TOTALS_OF_CELL_INTERVAL_MS = 5_000;
const FEW_DELTAS = 1_000;
/** Milliseconds between two looks for tables that have grown. Autovacuum looks once a minute by default. */
const STATISTICS_INTERVAL_MS = 1_000;
/** Milliseconds between two checks for statement files that are no longer kept. */
const FILES_INTERVAL_MS = 600_000;

interface Workers {
  context: Context;
  parts: Parts;
  drawing: Drawing;
}

/**
 * Background work. Every process may do it; the database decides which one does. Work for clients is done separately in each cell, so that
 * a cell whose server is down does not stop the others.
 * @returns a part that can be restarted when cells are added; undefined if the database has one cell
 */
export async function startWorkers(workers: Workers): Promise<RenewableWorkers | undefined> {
  if (!hasSeveralCells(workers.context.pool)) return void (await startAll(workers));
  const renewable = new RenewableWorkers(workers);
  await workers.parts.start(renewable, { takesWork: true });
  return renewable;
}

/** The background work of several cells as one part, which can be restarted with more cells. */
class RenewableWorkers {
  readonly #workers: Workers;
  #parts: Parts | undefined;
  #stopped = false;
  #changing: Promise<void> = Promise.resolve();

  constructor(workers: Workers) {
    this.#workers = workers;
  }

  start(): Promise<void> {
    return this.renew();
  }

  /** Ends the current work, and begins again. */
  renew(): Promise<void> {
    const former = this.#changing.catch(() => {});
    this.#changing = former.then(async () => {
      await this.#parts?.stop();
      this.#parts = new Parts(new AbortController().signal);
      if (!this.#stopped) await startAll({ ...this.#workers, parts: this.#parts });
    });
    return this.#changing;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#changing.catch(() => {});
    await this.#parts?.stop();
  }
}

async function startAll({ context: everywhere, parts, drawing }: Workers): Promise<void> {
  // A timer that a request wakes would run in the cell of that request.
  const context = contextOf(everywhere, 'none');
  const { backgroundPool, clock, log, config } = context;
  const cells = await cellContexts(context);
  const publisher = createPublisher(context, cells);
  const tasks = [
    publisher,
    createClearing(context),
    new Backlog(
      cells.map((cell) => cell.backgroundPool),
      clock,
    ),
    createJournalClearing(backgroundPool, clock, log),
    createErasures(context),
    createAnswerClearing(context),
    ...createAuditTasks(context, cells),
    ...cells.flatMap(tasksOfCell),
    createCellLook(context, cells),
    ...(besideOf(backgroundPool) ? [createClaimSweep(context)] : []),
  ];
  // None needs another, so they end at the same time: one that waits for a silent database gives the others no time for a further run.
  for (const task of tasks) await parts.start(task, { takesWork: true });
  if (config.autopilot !== undefined)
    await parts.start(new Autopilot(context, config.autopilot, cells), { takesWork: true });
  const dispatcher = new Dispatcher(context, {}, cells);
  await parts.start(dispatcher, { takesWork: true });
  const statements = new StatementWorker(context, drawing, cells);
  await parts.start(statements, { takesWork: true });
  const orders = new OrderWorker([MASS_PAYMENTS, MASS_BENEFICIARIES], cells);
  await parts.start(orders, { takesWork: true });
  context.activity.listen(
    dispatcher,
    { work: ['changes'], wake: () => publisher.wake() },
    { work: ['statements'], wake: () => statements.wake() },
    { work: ['orders'], wake: () => orders.wake() },
  );
  await parts.start(new MailWorker(context, drawing.institution, cells), { takesWork: true });
}

function tasksOfCell(context: Context) {
  const { backgroundPool, clock, log, rhythm } = context;
  const tasks = [
    createUnreadStreams(context),
    createQuoteClearing(context),
    new Periodic({
      name: 'kept statements',
      intervalMs: FILES_INTERVAL_MS,
      log,
      run: () => clearFiles(backgroundPool, clock.now()),
    }),
    new Periodic({ name: 'payment totals', log, ...inRhythm(context, rollUp(context)) }),
    new ApproverRefresher(context),
    new Periodic({ name: 'statistics', log, ...inRhythm(context, makeStatistics(context)) }),
  ];
  rhythm?.wakes(...tasks);
  return tasks;
}

function rollUp({ backgroundPool }: Context) {
  let rolledUp = 0;
  return {
    intervalMs: () =>
      hasSeveralCells(backgroundPool) && rolledUp < FEW_DELTAS ? TOTALS_OF_CELL_INTERVAL_MS : TOTALS_INTERVAL_MS,
    run: async () => {
      rolledUp = await rollUpTotals(backgroundPool);
    },
  };
}

/** Has PostgreSQL look at tables that begin to grow (docs/decisions/0007-statements-are-planned-once.md). */
function makeStatistics({ backgroundPool }: Context) {
  return {
    intervalMs: STATISTICS_INTERVAL_MS,
    run: async () => void (await backgroundPool.query({ name: 'analyze', text: 'select analyze_grown_tables()' })),
  };
}
