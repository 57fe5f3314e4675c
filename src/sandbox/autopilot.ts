import { randomUUID } from 'node:crypto';
import { londonDay } from '../calendar.ts';
import type { Act, Context } from '../context.ts';
import { type Transaction, transaction } from '../database.ts';
import type { PaymentId } from '../identifiers.ts';
import { LOCKS } from '../locks.ts';
import { movePayment } from '../payments/lifecycle.ts';
import type { PaymentAction } from '../payments/moves.ts';
import { presentationOf } from '../payments/presentation.ts';
import { Periodic } from '../periodic.ts';

/** Payments that one step moves: of one client, and of all clients. The next steps move the others. */
const MAX_MOVES_OF_CLIENT = 100;
const MAX_MOVES = 1_000;

/** The next action for a payment of each status that needs no person. */
const NEXT_ACTIONS: Record<string, PaymentAction> = {
  'Validating beneficiary information': 'validate',
  'Waiting for payment date': 'send',
  'Executing Payment': 'complete',
};

interface DuePayment {
  client_id: string;
  payment_id: PaymentId;
  status: string;
}

/**
 * The sandbox's autopilot (LOMBARD_AUTOPILOT). At each interval it moves every payment one step (validate, send, complete;
 * docs/decisions.md, 3), as the institution's core system would. A payment is sent on its payment date on the service's clock, not
 * earlier. It leaves alone what needs a person: approvals, missing beneficiary information, returns.
 * Any number of processes may run one. The process that holds a session lock is active; when it ends, another one takes over.
 */
export class Autopilot {
  readonly #context: Context;
  readonly #periodic: Periodic;
  #connection: Transaction | undefined;

  /** @param intervalMs milliseconds between two steps of a payment */
  constructor(context: Context, intervalMs: number) {
    this.#context = context;
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

  /** Returns when the current step has ended. */
  async stop(): Promise<void> {
    await this.#periodic.stop();
    await this.#connection?.query('select pg_advisory_unlock($1)', [LOCKS.autopilot]).catch(() => {});
    this.#release();
  }

  /** Moves every payment that is due by one step; does nothing if another process is active. */
  async step(): Promise<void> {
    if (!(await this.#isActive())) return;
    const { clock, pool, log } = this.#context;
    const now = clock.now();
    const presentation = presentationOf(this.#context);
    for (const due of await this.#due(now)) {
      const act: Act = { now, actor: 'service:autopilot', requestId: randomUUID() };
      await transaction(pool, async (tx) => {
        // Skipped if another transaction moves it now, or if it has moved since.
        const { rows } = await tx.query(
          `select from payments where client_id = $1 and payment_id = $2 and status = $3 and not return_started
           for update skip locked`,
          [due.client_id, due.payment_id, due.status],
        );
        const action = NEXT_ACTIONS[due.status];
        if (rows.length === 0 || !action) return;
        await movePayment(tx, act, presentation, { clientId: due.client_id, paymentId: due.payment_id, action });
      }).catch((error: Error) =>
        log.warn({ payment: due.payment_id, reason: error.message }, 'the autopilot could not move a payment'),
      );
    }
  }

  /** The payments whose next step is due, the oldest first, with a limit for each client. */
  async #due(now: Date): Promise<DuePayment[]> {
    const { rows } = await this.#context.backgroundPool.query<DuePayment>(
      `select p.client_id, p.payment_id, p.status from clients c cross join lateral (
         select client_id, payment_id, status, created from payments
         where client_id = c.client_id and phase = 2 and not return_started
           and (status in ('Validating beneficiary information', 'Executing Payment')
             or (status = 'Waiting for payment date' and payment_date <= $1))
         order by created, id limit $2) p
       order by p.created limit $3`,
      [londonDay(now), MAX_MOVES_OF_CLIENT, MAX_MOVES],
    );
    return rows;
  }

  /** Whether this process is active; it stays active until it ends or loses its connection. */
  async #isActive(): Promise<boolean> {
    if (this.#connection) return true;
    const connection = await this.#context.backgroundPool.connect();
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
    // Closed, not returned to the pool: the lock ends with the session.
    this.#connection?.release(true);
    this.#connection = undefined;
  }
}
