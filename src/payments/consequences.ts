import { closeHolds, closeHoldsLater, executeHolds } from '../accounts/held-money.ts';
import type { Act } from '../audit/act.ts';
import { type Transaction, together } from '../database/database.ts';
import type { TradeStatus } from '../exchange/trade-declaration.ts';
import { type FollowingTrade, followPayments } from '../exchange/trade-status.ts';
import type { PaymentAction, PaymentStatus } from './moves.ts';
import { notifyPayments, type PaymentNews } from './notification.ts';
import type { Presentation } from './presentation.ts';

/** What moves of payments do to the money that is held for them, and to their own trades. */

/** A move of a payment that takes effect. */
export interface EffectiveMove {
  clientId: string;
  paymentId: string;
  action: PaymentAction;
  before: PaymentStatus;
  /** The trade that belongs only to this payment. */
  ownTrade: string | null;
}

/** The actions that end a payment. Afterwards nothing is held for it. */
const ENDING: readonly PaymentAction[] = ['reject', 'cancel', 'invalidate', 'return'];

/** The status of a single payment's trade while the payment has a given status. */
function statusOfTrade(status: PaymentStatus): TradeStatus {
  if (status === 'Payment complete') return 'Closed';
  if (status === 'Payment rejected' || status === 'Payment cancelled') return 'Cancelled';
  return status === 'Executing Payment' ? 'Funds Out Full Allocated' : 'Created';
}

/**
 * Closes the holds of payments that have ended, and notes which payments were sent.
 * @returns the payments that were returned while their money was still held: it was never debited
 */
export async function moveHolds(tx: Transaction, act: Act, moves: readonly EffectiveMove[]): Promise<Set<string>> {
  const column = 'payment_id' as const;
  const sent = moves.filter(({ action }) => action === 'send');
  executeHolds(tx, act.now, { holders: sent.map(({ clientId, paymentId: id }) => ({ clientId, id })), column });
  const ended = moves.filter(({ action }) => ENDING.includes(action));
  const holders = ended.map(({ clientId, paymentId: id, action: by }) => ({ clientId, id, by }));
  const returned = ended.filter(({ action }) => action === 'return');
  if (returned.length > 0) {
    const closed = await closeHolds(tx, act.now, { holders, column });
    return new Set(returned.flatMap(({ paymentId }) => (closed.has(paymentId) ? [paymentId] : [])));
  }
  closeHoldsLater(tx, act.now, { holders, column });
  return new Set();
}

/** Updates the trades that follow single payments, and notifies both. */
export async function tellMoves(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  { moves, news, silent }: { moves: readonly EffectiveMove[]; news: PaymentNews[]; silent: boolean },
): Promise<void> {
  const trades = moves.flatMap(({ clientId, ownTrade, action, before }): FollowingTrade[] => {
    if (ownTrade === null) return [];
    const was = statusOfTrade(before);
    // A return after the payment was complete leaves the trade closed.
    const ended = ENDING.includes(action) && was !== 'Closed';
    const next = ended ? 'Cancelled' : action === 'send' ? 'Funds Out Full Allocated' : 'Closed';
    const changes = ended || action === 'send' || action === 'complete';
    return changes ? [{ clientId, tradeId: ownTrade, before: was, status: next }] : [];
  });
  await together([
    silent ? undefined : notifyPayments(tx, act, presentation, news),
    followPayments(tx, act, presentation.apiUrl, { trades, silent }),
  ]);
}
