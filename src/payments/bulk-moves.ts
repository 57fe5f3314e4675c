import {
  type BulkDecision,
  closeApprovals,
  type Decided,
  saveDecisions,
  workOut,
} from '../approvals/bulk-decisions.ts';
import { shareLock } from '../approvals/workflow.ts';
import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import type { Transaction } from '../database/database.ts';
import { Problem } from '../values/errors.ts';
import type { PaymentNumber } from '../values/identifiers.ts';
import { notifyAll } from '../webhooks/notification.ts';
import {
  auditOf,
  checkContact,
  checkMove,
  type LockedPayment,
  type MoveRequest,
  noteDecision,
  PENDING,
  stampsOf,
} from './lifecycle.ts';
import { MOVES, mayMove, type PaymentStatus } from './moves.ts';
import { noPayment, paymentBodies } from './payment.ts';
import type { Presentation } from './presentation.ts';

/** Moves of many payments at once, one of each: what `movePayment` does for one of them, by statements for all. */

/** A legal move, and its result. */
interface LegalMove {
  request: MoveRequest;
  id: PaymentNumber;
  before: PaymentStatus;
  /** The status afterwards. */
  status: PaymentStatus;
  /** Whether it takes effect: an approval does not while further ones are needed. */
  final: boolean;
  decided: Decided | undefined;
}

/**
 * Moves payments, and writes their audit rows and notifications, in the order of the requests.
 * @param requests each for a different payment
 * @param options `silent`: nobody is notified; `stop`: stop at the first request that is refused
 * @returns why requests were refused, by their index
 */
export async function movePayments(
  tx: Transaction,
  act: Act,
  requests: MoveRequest[],
  options: { presentation: Presentation; silent: boolean; stop: boolean },
): Promise<Map<number, Problem>> {
  await lockClients(tx, requests);
  const payments = await lockPayments(tx, requests);
  const { legal, refused } = await judge(tx, act, requests, payments);
  const end = options.stop ? Math.min(...refused.keys()) : Number.POSITIVE_INFINITY;
  const moves = legal.filter((move, index) => move !== undefined && index < end) as LegalMove[];
  await saveDecisions(
    tx,
    moves.flatMap(({ decided }) => decided ?? []),
    options.silent,
  );
  await writeMoves(
    tx,
    act,
    moves.filter(({ final }) => final),
  );
  const cancelled = moves.filter(({ status }) => status === 'Payment cancelled');
  await closeApprovals(
    tx,
    cancelled.map(({ request: { clientId }, id }) => ({ clientId, id })),
  );
  await audit(tx, act, ...moves.map(({ request, before, status }) => auditOf(request, before, status)));
  for (const { request } of moves) noteDecision(tx, act, request);
  if (!options.silent) await notifyMoves(tx, act, options.presentation, moves);
  return refused;
}

/** All turns in one call: taken one by one, two callers could wait for each other. */
async function lockClients(tx: Transaction, requests: MoveRequest[]): Promise<void> {
  const clients = requests.filter(({ action }) => mayMove(PENDING, action)).map(({ clientId }) => clientId);
  if (clients.length > 0) await shareLock(tx, ...new Set(clients));
}

/** Locks the payments until the transaction ends, in one order for everybody. */
async function lockPayments(tx: Transaction, requests: MoveRequest[]): Promise<Map<string, LockedPayment>> {
  const { rows } = await tx.query<LockedPayment & { payment_id: string }>(
    `select p.payment_id, p.id, p.status, p.return_started,
       (select s.status from payments s where s.client_id = u.client_id and s.payment_id = u.payment_id) as seen
     from unnest($1::text[], $2::text[]) as u(client_id, payment_id)
     join payments p on p.client_id = u.client_id and p.payment_id = u.payment_id order by p.id for update of p`,
    [requests.map(({ clientId }) => clientId), requests.map(({ paymentId }) => paymentId)],
  );
  return new Map(rows.map((row) => [row.payment_id, row]));
}

async function judge(
  tx: Transaction,
  act: Act,
  requests: MoveRequest[],
  payments: Map<string, LockedPayment>,
): Promise<{ legal: (LegalMove | undefined)[]; refused: Map<number, Problem> }> {
  const refused = new Map<number, Problem>();
  const legal = requests.map((request, index): LegalMove | undefined => {
    try {
      checkContact(request);
      const payment = payments.get(request.paymentId) ?? noPayment();
      checkMove(payment, request.action);
      const status = MOVES[request.action].to ?? payment.status;
      return { request, id: payment.id, before: payment.status, status, final: true, decided: undefined };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      refused.set(index, error);
      return undefined;
    }
  });
  const open = legal.flatMap((move, index) => {
    const decision = move && decisionOf(move, act);
    return decision ? [{ move, index, decision }] : [];
  });
  const decided =
    open.length === 0
      ? []
      : await workOut(
          tx,
          open.map(({ decision }) => decision),
        );
  for (const [place, { move, index }] of open.entries()) {
    const one = decided[place] as Decided | Problem;
    if (one instanceof Problem) {
      refused.set(index, one);
      legal[index] = undefined;
      continue;
    }
    move.decided = one;
    if (one.outcome.status !== 'Pending approval') continue;
    move.final = false;
    move.status = move.before;
  }
  return { legal, refused };
}

function decisionOf({ request, id }: LegalMove, { now }: Act): BulkDecision | undefined {
  const { clientId, action, contactId, reason, onBehalfBy } = request;
  if (action !== 'authorise' && action !== 'reject') return undefined;
  return { clientId, id, contactId: contactId as string, now, reason, onBehalfBy, action };
}

/** The columns that moves write. */
const TYPES: Record<string, string> = {
  status: 'payment_status',
  authorised_by: 'text',
  authorised_date: 'timestamptz',
  rejected_by: 'text',
  rejected_date: 'timestamptz',
  cancelled_by: 'text',
  cancelled_date: 'timestamptz',
  reason: 'text',
  invalidated: 'boolean',
  sent_date: 'timestamptz',
  return_started: 'boolean',
};

/** Sets the status and what goes with the action: a statement for each action. */
async function writeMoves(tx: Transaction, act: Act, moves: LegalMove[]): Promise<void> {
  for (const own of Map.groupBy(moves, ({ request }) => request.action).values()) {
    const rows = own.map(({ request, id, status }) => ({
      client_id: request.clientId,
      id,
      values: { status, ...stampsOf(act, request) } as Record<string, unknown>,
    }));
    const columns = Object.keys(rows[0]?.values ?? {});
    const types = columns.map((column, index) => `$${index + 3}::${TYPES[column]}[]`);
    await tx.query(
      `update payments p set ${columns.map((column) => `${column} = u.${column}`).join(', ')}
       from unnest($1::text[], $2::bigint[], ${types.join(', ')}) as u(client_id, id, ${columns.join(', ')})
       where p.client_id = u.client_id and p.id = u.id`,
      [
        rows.map((row) => row.client_id),
        rows.map((row) => row.id),
        ...columns.map((column) => rows.map(({ values }) => values[column])),
      ],
    );
  }
}

/** Writes the PAYMENT_STATUS_CHANGE of each move that has one. */
async function notifyMoves(tx: Transaction, act: Act, presentation: Presentation, moves: LegalMove[]): Promise<void> {
  const told = moves.filter(({ request, final }) => final && MOVES[request.action].webhook);
  const bodies = new Map<PaymentNumber, string>();
  for (const [clientId, own] of Map.groupBy(told, ({ request }) => request.clientId)) {
    const view = { clientId, viewer: null, now: act.now, ...presentation };
    const texts = await paymentBodies(
      tx,
      view,
      own.map(({ id }) => id),
    );
    for (const [index, { id }] of own.entries()) bodies.set(id, texts[index] as string);
  }
  await notifyAll(
    tx,
    told.map(({ request, id }) => ({
      clientId: request.clientId,
      type: 'PAYMENT_STATUS_CHANGE',
      paymentId: request.paymentId,
      body: `{"data":[${bodies.get(id)}],"payment_webhook_status":["${MOVES[request.action].webhook}"]}`,
      now: act.now,
    })),
  );
}
