/**
 * The payment lifecycle as a table (docs/decisions.md, 3). Pure: no database, no clock.
 */

export const PAYMENT_STATUSES = [
  'Need more beneficiary information',
  'Validating beneficiary information',
  'Waiting for payment date',
  'Payment complete',
  'Executing Payment',
  'Payment pending of authorization',
  'Payment rejected',
  'Payment cancelled',
] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

export const WEBHOOK_STATUSES = [
  'CREATED',
  'PENDING_OF_AUTHORIZATION',
  'AUTHORIZED',
  'REJECTED',
  'CANCELLED',
  'SENT',
  'PENDING_RETURN',
  'RETURNED',
  'INVALIDATED',
] as const;
export type PaymentWebhookStatus = (typeof WEBHOOK_STATUSES)[number];

const PENDING = 'Payment pending of authorization';
const VALIDATING = 'Validating beneficiary information';
const NEEDS_INFORMATION = 'Need more beneficiary information';
const WAITING = 'Waiting for payment date';
const EXECUTING = 'Executing Payment';
const COMPLETE = 'Payment complete';
const REJECTED = 'Payment rejected';
const CANCELLED = 'Payment cancelled';

/** The statuses in which a payment can be cancelled. */
export const BEFORE_EXECUTING: readonly PaymentStatus[] = [PENDING, VALIDATING, NEEDS_INFORMATION, WAITING];

interface Move {
  from: readonly PaymentStatus[];
  /** null: the status does not change. */
  to: PaymentStatus | null;
  webhook: PaymentWebhookStatus | null;
}

export const MOVES = {
  authorise: { from: [PENDING], to: VALIDATING, webhook: 'AUTHORIZED' },
  reject: { from: [PENDING], to: REJECTED, webhook: 'REJECTED' },
  cancel: { from: BEFORE_EXECUTING, to: CANCELLED, webhook: 'CANCELLED' },
  request_information: { from: [VALIDATING], to: NEEDS_INFORMATION, webhook: null },
  provide_information: { from: [NEEDS_INFORMATION], to: VALIDATING, webhook: null },
  validate: { from: [VALIDATING], to: WAITING, webhook: null },
  send: { from: [WAITING], to: EXECUTING, webhook: 'SENT' },
  complete: { from: [EXECUTING], to: COMPLETE, webhook: null },
  invalidate: { from: [...BEFORE_EXECUTING, EXECUTING], to: CANCELLED, webhook: 'INVALIDATED' },
  start_return: { from: [EXECUTING, COMPLETE], to: null, webhook: 'PENDING_RETURN' },
  return: { from: [EXECUTING, COMPLETE], to: CANCELLED, webhook: 'RETURNED' },
} as const satisfies Record<string, Move>;

export type PaymentAction = keyof typeof MOVES;
export const PAYMENT_ACTIONS = Object.keys(MOVES) as PaymentAction[];

/** The status of a payment, and whether its return has started. */
export interface Standing {
  status: PaymentStatus;
  returnStarted: boolean;
}

/** Whether an action is legal. Once a return has started, only `return` is, and `complete` of an executing payment. */
export function mayMove(standing: Standing, action: PaymentAction): boolean {
  const move: Move = MOVES[action];
  if (!move.from.includes(standing.status)) return false;
  if (standing.returnStarted) return action === 'return' || action === 'complete';
  return action !== 'return';
}

/** The actions that a payment allows now, in the table's order. */
export function allowedMoves(standing: Standing): PaymentAction[] {
  return PAYMENT_ACTIONS.filter((action) => mayMove(standing, action));
}
