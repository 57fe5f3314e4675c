import { randomUUID } from 'node:crypto';
import { londonDay } from '../calendar.ts';
import type { Act, Context } from '../context.ts';
import { type Transaction, transaction } from '../database.ts';
import { LOCKS } from '../locks.ts';
import { movePayment } from '../payments/lifecycle.ts';
import type { PaymentAction } from '../payments/moves.ts';
import { presentationOf } from '../payments/presentation.ts';
import { Periodic } from '../periodic.ts';

/** Payments of one client that one step moves, and of all clients: the rest follows with the next steps. */
const MAX_OF_CLIENT = 100;
const MAX_MOVES = 1_000;

/** What comes next for a payment that is left to itself. */
const NEXT: Record<string, PaymentAction> = {
  'Validating beneficiary information': 'validate',
  'Waiting for payment date': 'send',
  'Executing Payment': 'complete',
};

interface Due {
  client_id: string;
  payment_id: string;
  status: string;
}

/**
 * The sandbox's autopilot (LOMBARD_AUTOPILOT): at each interval every payment goes one step on its way (validate, send,
 * complete; docs/decisions.md, 3), as if the institution's core had said so. It is sent on its payment date on the service's
 * clock, not before. What needs a person stays: approvals, missing beneficiary information, returns.
 * Any number of processes may run one; the one that holds a session lock steers, and when it ends another takes over.
 */
export class Autopilot {
  readonly #context: Context;
  readonly #periodic: Periodic;
  #connection: Transaction | undefined;

  /** @param interval milliseconds between two steps of a payment */
  constructor(context: Context, interval: number) {
    this.#context = context;
    this.#periodic = new Periodic({
      name: 'autopilot',
      intervalMs: interval,
      log: context.log,
      run: () => this.step(),
    });
  }

  start(): void {
    this.#periodic.start();
  }

  /** Ends after the step that is under way. */
  async stop(): Promise<void> {
    await this.#periodic.stop();
    await this.#connection?.query('select pg_advisory_unlock($1)', [LOCKS.autopilot]).catch(() => {});
    this.#leave();
  }

  /** One step of every payment that is due; nothing where another process steers. */
  async step(): Promise<void> {
    if (!(await this.#steers())) return;
    const { clock, pool, log } = this.#context;
    const now = clock.now();
    const presentation = presentationOf(this.#context);
    for (const due of await this.#due(now)) {
      const act: Act = { now, actor: 'service:autopilot', requestId: randomUUID() };
      await transaction(pool, async (tx) => {
        // Somebody else who moves it right now goes first; then it is no longer what was due.
        const { rows } = await tx.query(
          'select from payments where client_id = $1 and payment_id = $2 and status = $3 and not return_started for update skip locked',
          [due.client_id, due.payment_id, due.status],
        );
        const action = NEXT[due.status];
        if (rows.length === 0 || !action) return;
        await movePayment(tx, act, presentation, { clientId: due.client_id, paymentId: due.payment_id, action });
      }).catch((error: Error) =>
        log.warn({ payment: due.payment_id, reason: error.message }, 'the autopilot could not move a payment'),
      );
    }
  }

  /** The payments whose next step may be made now, the longest waiting first; each client has its share. */
  async #due(now: Date): Promise<Due[]> {
    const { rows } = await this.#context.backgroundPool.query<Due>(
      `select p.client_id, p.payment_id, p.status from clients c cross join lateral (
         select client_id, payment_id, status, created from payments where client_id = c.client_id and phase = 2 and not return_started
           and (status in ('Validating beneficiary information', 'Executing Payment') or (status = 'Waiting for payment date' and payment_date <= $1))
         order by created, id limit $2) p
       order by p.created limit $3`,
      [londonDay(now), MAX_OF_CLIENT, MAX_MOVES],
    );
    return rows;
  }

  /** Whether this process steers; it stays so until it ends or loses its connection. */
  async #steers(): Promise<boolean> {
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
      if (this.#connection === connection) this.#leave();
    });
    return true;
  }

  #leave(): void {
    // Destroyed, not put back: the lock ends with the session.
    this.#connection?.release(true);
    this.#connection = undefined;
  }
}
