import {
  closeApprovals,
  type Decided,
  type Deciding,
  type DecisionScene,
  judgeDecisions,
  readScene,
  writeDecisions,
} from '../approvals/decisions.ts';
import { shareLock } from '../approvals/lock.ts';
import type { Decision } from '../approvals/outcome.ts';
import type { Act } from '../audit/act.ts';
import { hasChanged, noteChange } from '../audit/change.ts';
import { type AuditEntry, auditSteps } from '../audit/record.ts';
import { endStep, type Transaction, together } from '../database/database.ts';
import { RowList } from '../database/row-list.ts';
import { followPayments, statusEntry } from '../exchange/trade-status.ts';
import { Problem } from '../values/errors.ts';
import type { PaymentId, PaymentNumber } from '../values/identifiers.ts';
import { present } from '../values/unknown.ts';
import { type EffectiveMove, followersOf, moveHolds } from './consequences.ts';
import { writeMoves } from './move-columns.ts';
import { allowedMoves, MOVES, mayMove, type PaymentAction, type PaymentStatus } from './moves.ts';
import { type PaymentNews, WrittenPayments } from './notification.ts';
import { noPayment, type PaymentForms } from './payment.ts';
import type { Presentation } from './presentation.ts';

/** Moves payments (docs/decisions.md, 3). Each move is of a different payment, and the statements cover all of them. */

export interface MoveRequest {
  /** Who acts, if the requests come from separate calls. */
  act?: Act | undefined;
  /** The trace span that it belongs to; by default, the current one. */
  traceparent?: string | null | undefined;
  clientId: string;
  paymentId: PaymentId;
  action: PaymentAction;
  /** The contact who acts. Required for authorise and reject. */
  contactId?: string | undefined;
  /** The reason. The payment shows it if a person rejects or cancels. A reason of the institution stays in the audit trail. */
  reason?: string | undefined;
  /** What the client says about the payee, for provide_information. */
  information?: string | undefined;
  /** The operator token that acts in the contact's name. */
  onBehalfBy?: string | undefined;
}

export interface Moved {
  clientId: string;
  id: PaymentNumber;
  status: PaymentStatus;
  /** Whether its money was still held when it was returned. Then nothing was debited, and nothing is credited. */
  uncredited: boolean;
}

/** The result of moves. */
export interface MoveResult {
  moved: Moved[];
  /** Why requests were refused, by their index. */
  refused: Map<number, Problem>;
  /** What clients and the institution see of the moved payments, by `payment_id`; empty if nobody is notified. */
  forms: Promise<ReadonlyMap<string, PaymentForms>>;
}

/** A payment whose row is locked until the transaction ends. */
interface LockedPayment {
  payment_id: PaymentId;
  id: PaymentNumber;
  status: PaymentStatus;
  return_started: boolean;
  /** The status when the statement began, before it waited for the lock. */
  seen: PaymentStatus;
  /** The trade that belongs only to this payment. */
  own_trade: string | null;
}

const PENDING = { status: 'Payment pending of authorization', returnStarted: false } as const;

/** A legal move, and its result. */
interface LegalMove {
  request: MoveRequest;
  act: Act;
  id: PaymentNumber;
  before: PaymentStatus;
  /** The status afterwards. */
  status: PaymentStatus;
  ownTrade: string | null;
  /** Whether the move takes effect. An approval does not while further approvals are needed. */
  final: boolean;
  decided: Decided | undefined;
}

/** Options for moving payments. */
export interface MoveOptions {
  presentation: Presentation;
  /** Nobody is notified. */
  silent?: boolean;
  /** Stop at the first move that is refused. */
  stop?: boolean;
}

/**
 * Moves a single payment; see `movePayments`.
 * @throws Problem payment_not_found; transition_not_allowed, which names the current status and the moves it allows; approval_not_allowed
 * and permission_denied from the approvals
 */
export async function movePayment(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  request: MoveRequest,
): Promise<Moved> {
  const { moved, refused } = await movePayments(tx, act, [request], { presentation });
  const [one] = moved;
  if (!one) throw refused.get(0);
  return one;
}

/**
 * Moves payments in the caller's transaction, and writes their audit rows and notifications, in the order of the requests. Moves of one
 * payment wait for each other at its row; each then sees the result of the one before it. Requests of separate calls are separate steps in
 * the change feed.
 * @param requests each for a different payment
 */
export async function movePayments(
  tx: Transaction,
  act: Act,
  requests: MoveRequest[],
  { presentation, silent = false, stop = false }: MoveOptions,
): Promise<MoveResult> {
  await lockClients(tx, requests);
  // A payment was moved earlier in this transaction. Ending the step lets readers of the change feed see each move.
  if (requests.some(({ paymentId }) => hasChanged(tx, 'payment', paymentId))) await endStep(tx);
  const [payments, scene] = await together([lockPayments(tx, requests), readScene(tx, requests.flatMap(decidingOf))]);
  const { legal, refused } = await judge(tx, act, requests, { payments, scene });
  const end = stop ? Math.min(...refused.keys()) : Number.POSITIVE_INFINITY;
  const moves = legal.flatMap((move, index) => (move !== undefined && index < end ? [move] : []));
  await writeDecisions(
    tx,
    moves.flatMap(({ decided }) => decided ?? []),
    silent,
  );
  const final = moves.filter((move) => move.final);
  await writeMoves(tx, final);
  const effective = final.map(
    ({ act: by, request: { clientId, paymentId, action, traceparent }, before, ownTrade }): EffectiveMove => {
      return { act: by, traceparent, clientId, paymentId, action, before, ownTrade };
    },
  );
  const uncredited = await moveHolds(tx, effective);
  const cancelled = moves.filter(({ status }) => status === 'Payment cancelled');
  await closeApprovals(
    tx,
    cancelled.map(({ request: { clientId }, id }) => ({ clientId, id })),
  );
  const placed = moves.map(({ request: { clientId, paymentId }, id }) => ({ clientId, paymentId, id }));
  const written = new WrittenPayments(tx, { ...presentation, now: act.now }, silent ? [] : placed);
  const followers = followersOf(effective);
  await together([
    silent ? undefined : written.notify(newsOf(moves)),
    followPayments(tx, presentation.apiUrl, { trades: followers, silent }),
  ]);
  auditSteps(
    tx,
    [...Map.groupBy(moves, (move) => move.act)].map(([by, own]) => ({
      act: by,
      entries: own.map(auditOf),
      note: () => {
        for (const { request } of own) {
          noteDecision(tx, by, request);
          if (!silent) written.note(request.paymentId);
        }
      },
      following: followers.filter((follower) => follower.act === by).map(statusEntry),
    })),
  );
  const moved = moves.map(({ request: { clientId, paymentId }, id, status }) => {
    return { clientId, id, status, uncredited: uncredited.has(paymentId) };
  });
  return { moved, refused, forms: written.forms };
}

/** @throws Problem invalid_body if a decision does not name the contact who decides */
function checkContact({ action, contactId }: Pick<MoveRequest, 'action' | 'contactId'>): void {
  if ((action === 'authorise' || action === 'reject') && !contactId)
    throw new Problem('invalid_body', { field: 'contact_id', message: `is required by ${action}` });
}

/** Takes all locks in one call. If they were taken one by one, two callers could deadlock. */
async function lockClients(tx: Transaction, requests: MoveRequest[]): Promise<void> {
  const clients = requests.filter(({ action }) => mayMove(PENDING, action)).map(({ clientId }) => clientId);
  if (clients.length > 0) await shareLock(tx, ...new Set(clients));
}

/** Locks the payments until the transaction ends, in the same order for everybody. */
async function lockPayments(tx: Transaction, requests: MoveRequest[]): Promise<Map<string, LockedPayment>> {
  if (requests.length === 0) return new Map();
  const list = new RowList(requests, ({ clientId }) => clientId, {
    payment_id: { type: 'text', of: ({ paymentId }) => paymentId },
  });
  // `seen` is from the statement's snapshot. The other columns are from the row as earlier transactions left it.
  const { rows } = await tx.query<LockedPayment>({
    name: list.named('payments-lock'),
    text: `select p.payment_id, p.id, p.status, p.return_started, case when p.own_trade then p.trade_id end as own_trade,
        (select s.status from payments s where s.client_id = ${list.client} and s.payment_id = p.payment_id) as seen
      from payments p ${list.after('cross join')} where p.client_id = ${list.client} and p.payment_id = ${list.at('payment_id')}
      order by p.id for update of p`,
    values: list.values,
  });
  return new Map(rows.map((row) => [row.payment_id, row]));
}

async function judge(
  tx: Transaction,
  act: Act,
  requests: MoveRequest[],
  { payments, scene }: { payments: Map<string, LockedPayment>; scene: DecisionScene },
): Promise<{ legal: (LegalMove | undefined)[]; refused: Map<number, Problem> }> {
  const refused = new Map<number, Problem>();
  const legal = requests.map((request, index): LegalMove | undefined => {
    try {
      checkContact(request);
      const payment = payments.get(request.paymentId) ?? noPayment();
      checkMove(payment, request.action);
      const status = MOVES[request.action].to ?? payment.status;
      const { id, status: before, own_trade: ownTrade } = payment;
      return { request, act: request.act ?? act, id, before, status, ownTrade, final: true, decided: undefined };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      refused.set(index, error);
      return undefined;
    }
  });
  const open = legal.flatMap((move, index) => {
    const decision = move && decisionOf(move);
    return decision ? [{ move, index, decision }] : [];
  });
  const decided =
    open.length === 0
      ? []
      : await judgeDecisions(
          tx,
          open.map(({ decision }) => decision),
          scene,
        );
  for (const [place, { move, index }] of open.entries()) {
    const one = present(decided[place]);
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

/** The decision of a request; empty if it is not a decision. */
function decidingOf({ clientId, paymentId, action, contactId }: MoveRequest): Deciding[] {
  const decides = (action === 'authorise' || action === 'reject') && contactId;
  return decides ? [{ clientId, paymentId, contactId }] : [];
}

function decisionOf({ request, act: { now }, id }: LegalMove): Decision | undefined {
  const { clientId, action, contactId, reason, onBehalfBy } = request;
  if (action !== 'authorise' && action !== 'reject') return undefined;
  return { clientId, id, contactId: contactId as string, now, reason, onBehalfBy, action };
}

/** @throws Problem transition_not_allowed */
function checkMove({ status, return_started: returnStarted, seen }: LockedPayment, action: PaymentAction): void {
  const standing = { status, returnStarted };
  // If a cancellation and an approval arrive at the same time, the second is refused, and its caller can look again.
  const overtaken = action === 'cancel' && seen === PENDING.status && status !== PENDING.status;
  if (!overtaken && mayMove(standing, action)) return;
  const state = returnStarted ? `${status}, its return has started` : status;
  const why = overtaken ? ', because somebody else acted first' : '';
  const allowed = allowedMoves(standing).join(', ') || 'none';
  throw new Problem('transition_not_allowed', {
    field: 'payment_id',
    message: `${action} is not allowed${why}: the payment is "${state}" and allows: ${allowed}`,
  });
}

/** The audit row of a move. */
function auditOf({ request, before, status }: LegalMove): AuditEntry {
  const { clientId, paymentId, action, contactId, reason, information, onBehalfBy } = request;
  return {
    action: 'action',
    entity: 'payment',
    entityId: paymentId,
    clientId,
    before: { status: before },
    after: { action, status, contact_id: contactId, reason, information, on_behalf_by: contactId && onBehalfBy },
  };
}

/** Notes the approval or rejection of a move. */
function noteDecision(tx: Transaction, act: Act, request: MoveRequest): void {
  const { clientId, paymentId, action, contactId, reason } = request;
  if (!contactId || (action !== 'authorise' && action !== 'reject')) return;
  noteChange(tx, act, {
    entity: 'approval',
    id: `${paymentId}/${contactId}`,
    clientId,
    action,
    created: true,
    reason,
  });
}

/** The notifications of moves: one for each move that takes effect and has a webhook. */
function newsOf(moves: LegalMove[]): PaymentNews[] {
  return moves.flatMap(({ request: { clientId, paymentId, action, traceparent }, act: { now }, id, final }) => {
    const { webhook } = MOVES[action];
    return final && webhook ? [{ clientId, id, paymentId, statuses: [webhook], now, traceparent }] : [];
  });
}
