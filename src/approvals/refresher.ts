import type { Context } from '../context.ts';
import { inRhythm } from '../database/cells/activity.ts';
import { first, type Pool, type Transaction, transaction } from '../database/database.ts';
import type { Part } from '../process/parts.ts';
import { Periodic } from '../process/periodic.ts';
import { type Clock, monotonic } from '../values/calendar.ts';
import type { PaymentNumber } from '../values/identifiers.ts';
import { permittedContacts } from './approvers.ts';
import { shareLock } from './lock.ts';
import { nextPlaces, type Place, refreshPayments } from './refresh-batch.ts';

const INTERVAL_MS = 250;
/** The approximate time for which a batch holds the rows of its payments. An approval of one of them waits that long. */
const BATCH_MS = 40;
const MIN_PAYMENTS = 200;
const MAX_PAYMENTS = 1_000;
/** The most approver rows (payments times permitted people) in a batch. */
const MAX_ROWS = 20_000;
/** The most distinct states that a batch evaluates. Payments are sorted by state, so most batches have one or two. */
const MAX_STATES = 20;

/** The remaining work of a client's refresh. */
interface Job extends Place {
  actor: string;
  request_id: string;
  quiet: boolean;
  /** Payments that somebody was acting on when it was their turn. */
  held: PaymentNumber[];
}

/**
 * Brings the approvers of a client's pending payments up to date after a change of permissions that was too large for one transaction. It
 * works in small transactions, which block neither creations nor approvals. The database records its progress, so any process may do the
 * next batch. Another change of permissions makes it start over.
 */
export class ApproverRefresher implements Part {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #task: Periodic;
  #stopping = false;
  /** The number of payments in a batch, adjusted so that a batch takes about BATCH_MS. */
  #payments = MIN_PAYMENTS;

  constructor(context: Pick<Context, 'backgroundPool' | 'clock' | 'log' | 'rhythm'>) {
    const { backgroundPool: pool, clock, log } = context;
    this.#pool = pool;
    this.#clock = clock;
    const task = { intervalMs: INTERVAL_MS, run: () => this.#refreshAll() };
    this.#task = new Periodic({ name: 'approvers', log, ...inRhythm(context, task) });
  }

  start(): void {
    this.#task.start();
  }

  /** There may be clients to refresh. */
  wake(): void {
    this.#task.wake();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#task.stop();
  }

  /** Does one batch of each client in turn, until nothing moves. */
  async #refreshAll(): Promise<void> {
    for (let moved = true; moved && !this.#stopping; ) {
      moved = false;
      const { rows } = await this.#pool.query<{ client_id: string }>(
        'select client_id from approver_refreshes order by requested_at',
      );
      for (const { client_id: clientId } of rows) {
        if (this.#stopping) return;
        if (await this.#refreshNext(clientId)) moved = true;
      }
    }
  }

  /** @returns whether it made progress */
  async #refreshNext(clientId: string): Promise<boolean> {
    const began = monotonic();
    const count = await transaction(this.#pool, async (tx) => {
      await shareLock(tx, clientId);
      const job = await takeJob(tx, clientId);
      return job ? this.#refreshBatch(tx, clientId, job) : 0;
    });
    if (count === 0) return false;
    const pace = BATCH_MS / Math.max(monotonic() - began, 1);
    this.#payments = Math.max(MIN_PAYMENTS, Math.min(MAX_PAYMENTS, Math.round(count * Math.min(pace, 2))));
    return true;
  }

  /** @returns the number of payments that are now up to date */
  async #refreshBatch(tx: Transaction, clientId: string, job: Job): Promise<number> {
    const permitted = await permittedContacts(tx, clientId);
    const limit = Math.max(1, Math.min(this.#payments, Math.floor(MAX_ROWS / (permitted.size + 1))));
    const places = fewStates(await nextPlaces(tx, clientId, { after: job, limit }));
    const last = places.at(-1);
    // Payments that somebody held come last. They may still be held.
    const ids = last ? places.map((place) => place.payment_id) : job.held.slice(0, limit);
    const act = { now: this.#clock.now(), actor: job.actor, requestId: job.request_id, quiet: job.quiet };
    const held = await refreshPayments(tx, act, { clientId, permitted, ids });
    const left = last ? [...job.held, ...held] : [...job.held.slice(limit), ...held];
    if (last || left.length > 0) await saveJob(tx, clientId, { ...(last ?? job), held: left });
    else await tx.query('delete from approver_refreshes where client_id = $1', [clientId]);
    return ids.length - held.length;
  }
}

function fewStates(places: Place[]): Place[] {
  const states = new Set<string>();
  const end = places.findIndex(({ state }) => states.add(state.toString('hex')).size > MAX_STATES);
  return end < 0 ? places : places.slice(0, end);
}

/** The job of a client, unless another process works on it. */
async function takeJob(tx: Transaction, clientId: string): Promise<Job | undefined> {
  return first(
    await tx.query<Job>(
      'select actor, request_id, quiet, state, payment_id, to_json(held) as held from approver_refreshes where client_id = $1 for update skip locked',
      [clientId],
    ),
  );
}

async function saveJob(tx: Transaction, clientId: string, job: Place & Pick<Job, 'held'>): Promise<void> {
  await tx.query('update approver_refreshes set state = $2, payment_id = $3, held = $4 where client_id = $1', [
    clientId,
    job.state,
    job.payment_id,
    job.held,
  ]);
}
