import { randomUUID } from 'node:crypto';
import type { Act } from '../audit/act.ts';
import type { Context } from '../context.ts';
import { inTurn } from '../database/cells/activity.ts';
import { createRounds } from '../database/cells/contexts.ts';
import { connect, type Db, type Transaction, transaction } from '../database/database.ts';
import { LOCKS } from '../database/locks.ts';
import type { TradeStatus } from '../exchange/trade-declaration.ts';
import type { PaymentAction, PaymentStatus, Standing } from '../payments/moves.ts';
import { presentationOf } from '../payments/presentation.ts';
import { Periodic } from '../process/periodic.ts';
import { BoundedMap } from '../values/bounded-map.ts';
import type { PaymentId } from '../values/identifiers.ts';
import { moveAsCore, moveTradeAsCore, verifyBeneficiary } from './core.ts';
import { nextMove } from './course.ts';

/** The most payments that one step moves: of one client, and of all clients of a cell. The next steps move the others. */
const MAX_MOVES_OF_CLIENT = 100;
const MAX_MOVES = 1_000;

/** The most payments whose intervals are counted. */
const MAX_COUNTED_PAYMENTS = 10_000;

interface DuePayment {
  client_id: string;
  payment_id: PaymentId;
  status: PaymentStatus;
  return_started: boolean;
  reference: string | null;
}

/**
 * The sandbox's autopilot (LOMBARD_AUTOPILOT). At each interval it moves every payment one step (validate, send, complete;
 * docs/decisions.md, 3), as the institution's core system would, whatever its payment date. It leaves to people what needs a person:
 * approvals, missing beneficiary information, returns. A payment's reference can steer it (`steeringOf`). Any number of processes may run
 * one. The process that holds a session lock is active; when it ends, another one takes over.
 */
export class Autopilot {
  readonly #context: Context;
  readonly #cells: readonly Context[];
  readonly #inEach: ReturnType<typeof createRounds<Context>>;
  readonly #periodic: Periodic;
  /** The number of intervals for which slow payments have had their status. */
  readonly #intervals = new BoundedMap<string, { status: PaymentStatus; seen: number }>(MAX_COUNTED_PAYMENTS);
  #connection: Transaction | undefined;

  /**
   * @param intervalMs milliseconds between two steps of a payment
   * @param cells the context of each cell
   */
  constructor(context: Context, intervalMs: number, cells: readonly Context[]) {
    this.#context = context;
    this.#cells = cells;
    this.#inEach = createRounds(cells);
    this.#periodic = new Periodic({
      name: 'autopilot',
      intervalMs,
      log: context.log,
      run: () => this.step(),
    });
  }

  start(): void {
    this.#periodic.start();
  }

  /** Resolves when the current step has ended. */
  async stop(): Promise<void> {
    await this.#periodic.stop();
    await this.#connection?.query('select pg_advisory_unlock($1)', [LOCKS.autopilot]).catch(() => {});
    this.#release();
  }

  /** Moves every due payment by one step. Does nothing if another process is active. */
  async step(): Promise<void> {
    if (!(await this.#isActive())) return;
    await this.#inEach(
      this.#cells,
      inTurn<Context>(this, (cell) => this.#stepIn(cell)),
    );
  }

  async #stepIn({ clock, pool, backgroundPool, log, rhythm }: Context): Promise<void> {
    const now = clock.now();
    const attempt = (what: string, id: string, work: (tx: Transaction, act: Act) => Promise<unknown>) =>
      transaction(pool, (tx) => work(tx, { now, actor: 'service:autopilot', requestId: randomUUID() })).catch(
        (error: Error) => log.warn({ [what]: id, reason: error.message }, 'the autopilot could not do a step'),
      );
    const [payees, trades] = [await duePayees(backgroundPool), await dueTrades(backgroundPool)];
    const all = await duePayments(backgroundPool);
    // Payments that were moved or are waiting have their next step at the next interval.
    if (payees.length + trades.length + all.length > 0) rhythm?.againFor(this);
    for (const id of payees) await attempt('beneficiary', id, (tx, act) => verifyBeneficiary(tx, act, id));
    const { apiUrl } = presentationOf(this.#context);
    for (const { client_id: clientId, trade_id: tradeId, status } of trades) {
      const move = { clientId, tradeId, status };
      await attempt('trade', tradeId, (tx, act) => moveTradeAsCore(tx, act, apiUrl, move));
    }
    for (const due of all) {
      if (steeringOf(due.reference) === 'SIM-SLOW' && !this.#hasWaited(due)) continue;
      await attempt('payment', due.payment_id, (tx, act) => this.#move(tx, act, due));
    }
  }

  async #move(tx: Transaction, act: Act, due: DuePayment): Promise<void> {
    const { client_id: clientId, payment_id: paymentId, status } = due;
    // Skipped if another transaction is moving it now, or if it has moved since.
    const { rows } = await tx.query(
      `select from payments where client_id = $1 and payment_id = $2 and status = $3 and return_started = $4
       for update skip locked`,
      [clientId, paymentId, status, due.return_started],
    );
    if (rows.length === 0) return;
    const steering = steeringOf(due.reference);
    const asked = steering === 'SIM-INFO' && (await wasAsked(tx, clientId, paymentId));
    const action = steer({ status, returnStarted: due.return_started }, steering, asked);
    if (!action) return;
    const presentation = presentationOf(this.#context);
    const move = { clientId, paymentId, action };
    await moveAsCore(tx, act, presentation, move);
  }

  /** Whether a slow payment has had its status for enough intervals. Each process counts for itself. */
  #hasWaited({ payment_id: id, status }: DuePayment): boolean {
    const known = this.#intervals.get(id);
    const seen = known?.status === status ? known.seen + 1 : 1;
    this.#intervals.set(id, { status, seen });
    return seen >= SLOW_INTERVALS;
  }

  /** Whether this process is active. It stays active until it ends or loses its connection. */
  async #isActive(): Promise<boolean> {
    if (this.#connection) return true;
    const connection = await connect(this.#context.backgroundPool);
    const { rows } = await connection
      .query<{ got: boolean }>('select pg_try_advisory_lock($1) as got', [LOCKS.autopilot])
      .catch((error: Error) => {
        connection.release(error);
        throw error;
      });
    if (!rows[0]?.got) {
      connection.release();
      return false;
    }
    this.#connection = connection;
    connection.on('error', () => {
      if (this.#connection === connection) this.#release();
    });
    return true;
  }

  #release(): void {
    // Closed rather than returned to the pool, because the lock ends with the session.
    this.#connection?.release(true);
    this.#connection = undefined;
  }
}

/** The payments of a cell whose next step is due, oldest first, with a limit for each client. */
async function duePayments(db: Db): Promise<DuePayment[]> {
  const { rows } = await db.query<DuePayment>(
    `select p.client_id, p.payment_id, p.status, p.return_started, p.reference from clients c cross join lateral (
       (select client_id, payment_id, status, return_started, reference, created from payments
        where client_id = c.client_id and phase = 2 and (not return_started or reference like 'SIM-RETURN%')
          and (status <> 'Need more beneficiary information' or reference like 'SIM-INFO%')
          and (reference is null or reference not like 'SIM-STOP%')
        order by created, id limit $1)
       union all
       (select client_id, payment_id, status, return_started, reference, created from payments
        where client_id = c.client_id and status = 'Payment complete' and reference like 'SIM-RETURN%'
        order by created, id limit $1)) p
     order by p.created limit $2`,
    [MAX_MOVES_OF_CLIENT, MAX_MOVES],
  );
  return rows;
}

/** Payees that clients made and nobody has verified. */
async function duePayees(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select b.id from clients c cross join lateral (
       select beneficiary_id as id from beneficiaries
       where client_id = c.client_id and active and source = 'client' and not verified and not blocked limit $1) b`,
    [MAX_MOVES_OF_CLIENT],
  );
  return rows.map(({ id }) => id);
}

/** Trades that clients ordered and that can move: a new one is funded, and one whose whole buy amount was paid is closed. */
async function dueTrades(db: Db): Promise<{ client_id: string; trade_id: string; status: TradeStatus }[]> {
  const { rows } = await db.query<{ client_id: string; trade_id: string; status: TradeStatus }>(
    `select client_id, trade_id, case when status = 'Created' then 'Funds In Full' else 'Closed' end as status
     from trades t where source = 'client' and not single and (status = 'Created' or (status = 'Funds In Full' and buy_amount <= (
       select sum(p.amount) from payments p where p.client_id = t.client_id and p.trade_id = t.trade_id and p.phase = 3)))
     order by created_at limit $1`,
    [MAX_MOVES],
  );
  return rows;
}

/**
 * Whether information about a payment's beneficiary was requested before. The audit trail keeps the rows of a payment that a reset of the
 * client has removed; these do not count for a payment that has its id now.
 */
async function wasAsked(tx: Transaction, clientId: string, paymentId: PaymentId): Promise<boolean> {
  const { rows } = await tx.query(
    `select from audit asked
     where client_id = $1 and entity = 'payment' and entity_id = $2 and after->>'action' = 'request_information'
       and not exists (select from audit where client_id = $1 and entity = 'client' and entity_id = $1
         and after->>'action' = 'reset' and id > asked.id) limit 1`,
    [clientId, paymentId],
  );
  return rows.length > 0;
}

/** How references steer the autopilot (docs/sandbox.md, Let payments move by themselves). Pure: no database, no clock. */

/** Intervals that the autopilot takes for each step of a slow payment. */
const SLOW_INTERVALS = 10;

const STEERINGS = ['SIM-RETURN', 'SIM-INVALID', 'SIM-INFO', 'SIM-SLOW', 'SIM-STOP'] as const;
export type Steering = (typeof STEERINGS)[number];

/** The steering that a payment's reference asks for. */
function steeringOf(reference: string | null): Steering | undefined {
  return STEERINGS.find((steering) => reference?.startsWith(steering));
}

/**
 * The autopilot's next move of a payment; undefined if there is none. It never does what people must do (approvals, information about a
 * beneficiary, returns), unless the reference says so.
 * @param asked whether information about the beneficiary was requested before
 */
function steer(standing: Standing, steering: Steering | undefined, asked: boolean): PaymentAction | undefined {
  const { status, returnStarted } = standing;
  if (steering === 'SIM-STOP' || status === 'Payment pending of authorization') return undefined;
  if (steering === 'SIM-RETURN' && status === 'Payment complete') return returnStarted ? 'return' : 'start_return';
  if (returnStarted) return steering === 'SIM-RETURN' ? 'complete' : undefined;
  if (status === 'Need more beneficiary information' && steering !== 'SIM-INFO') return undefined;
  if (steering === 'SIM-INVALID' && status === 'Waiting for payment date') return 'invalidate';
  if (steering === 'SIM-INFO' && status === 'Validating beneficiary information' && !asked)
    return 'request_information';
  return nextMove(standing);
}
