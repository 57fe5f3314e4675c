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
import { type AuditEntry, audit } from '../audit/record.ts';
import { endStep, type Transaction, together } from '../database/database.ts';
import { RowList } from '../database/row-list.ts';
import { Problem } from '../values/errors.ts';
import type { PaymentId, PaymentNumber } from '../values/identifiers.ts';
import { present } from '../values/unknown.ts';
import { type EffectiveMove, moveHolds, tellMoves } from './consequences.ts';
import { allowedMoves, MOVES, mayMove, type PaymentAction, type PaymentStatus } from './moves.ts';
import type { PaymentNews } from './notification.ts';
import { noPayment } from './payment.ts';
import type { Presentation } from './presentation.ts';

/** Moves payments (docs/decisions.md, 3). Each move is of a different payment, and the statements cover all of them. */

export interface MoveRequest {
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
 * payment wait for each other at its row; each then sees the result of the one before it.
 * @param requests each for a different payment
 * @returns what was moved, and why requests were refused, by their index
 */
export async function movePayments(
  tx: Transaction,
  act: Act,
  requests: MoveRequest[],
  { presentation, silent = false, stop = false }: MoveOptions,
): Promise<{ moved: Moved[]; refused: Map<number, Problem> }> {
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
  await writeMoves(tx, act, final);
  const effective = final.map(({ request: { clientId, paymentId, action }, before, ownTrade }): EffectiveMove => {
    return { clientId, paymentId, action, before, ownTrade };
  });
  const uncredited = await moveHolds(tx, act, effective);
  const cancelled = moves.filter(({ status }) => status === 'Payment cancelled');
  await closeApprovals(
    tx,
    cancelled.map(({ request: { clientId }, id }) => ({ clientId, id })),
  );
  audit(tx, act, ...moves.map(({ request, before, status }) => auditOf(request, before, status)));
  for (const { request } of moves) noteDecision(tx, act, request);
  await tellMoves(tx, act, presentation, { moves: effective, news: newsOf(moves), silent });
  const moved = moves.map(({ request: { clientId, paymentId }, id, status }) => {
    return { clientId, id, status, uncredited: uncredited.has(paymentId) };
  });
  return { moved, refused };
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
      return { request, id, before, status, ownTrade, final: true, decided: undefined };
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

function decisionOf({ request, id }: LegalMove, { now }: Act): Decision | undefined {
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
function auditOf(request: MoveRequest, before: PaymentStatus, status: PaymentStatus): AuditEntry {
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
  information: 'text',
  invalidated: 'boolean',
  sent_date: 'timestamptz',
  return_started: 'boolean',
  returned: 'boolean',
};

/** Sets the status and the columns of the action, with one statement for each action. */
async function writeMoves(tx: Transaction, act: Act, moves: LegalMove[]): Promise<void> {
  for (const [action, own] of Map.groupBy(moves, ({ request }) => request.action)) {
    const rows = own.map(({ request, id, status }) => ({
      clientId: request.clientId,
      id,
      values: { status, ...stampsOf(act, request) } as Record<string, unknown>,
    }));
    const columns = Object.keys(rows[0]?.values ?? {});
    const list = new RowList(rows, ({ clientId }) => clientId, {
      id: { type: 'bigint', of: (row) => row.id },
      ...Object.fromEntries(
        columns.map((name) => [name, { type: TYPES[name] ?? 'text', of: (row) => row.values[name] }]),
      ),
    } as Record<string, { type: string; of: (row: (typeof rows)[number]) => unknown }>);
    tx.later({
      name: list.named(`payments-${action}-${columns.length}`),
      text: `update payments p set ${columns.map((name) => `${name} = ${list.at(name)}`).join(', ')} ${list.after('from')}
        where p.client_id = ${list.client} and p.id = ${list.at('id')}`,
      values: list.values,
    });
  }
}

/** The columns in which a payment records an action. */
function stampsOf(act: Act, request: MoveRequest): Record<string, unknown> {
  const by = request.contactId ?? act.actor.replace(/^contact:/, '');
  const cancelled = { cancelled_by: by, cancelled_date: act.now };
  const reason = request.reason ?? null;
  const stamps: Partial<Record<PaymentAction, Record<string, unknown>>> = {
    authorise: { authorised_by: by, authorised_date: act.now },
    reject: { rejected_by: by, rejected_date: act.now, reason },
    cancel: act.actor.startsWith('contact:') ? { ...cancelled, reason } : cancelled,
    provide_information: request.information === undefined ? {} : { information: request.information },
    invalidate: { ...cancelled, invalidated: true },
    send: { sent_date: act.now },
    start_return: { return_started: true, return_reason: reason },
    return: { ...cancelled, return_started: false, returned: true },
  };
  return stamps[request.action] ?? {};
}

/** The notifications of moves: one for each move that takes effect and has a webhook. */
function newsOf(moves: LegalMove[]): PaymentNews[] {
  return moves.flatMap(({ request: { clientId, paymentId, action }, id, final }) => {
    const { webhook } = MOVES[action];
    return final && webhook ? [{ clientId, id, paymentId, statuses: [webhook] }] : [];
  });
}
