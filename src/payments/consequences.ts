import { closeHolds, closeHoldsLater, executeHolds } from '../accounts/held-money.ts';
import type { Act } from '../audit/act.ts';
import type { Transaction } from '../database/database.ts';
import type { TradeNews } from '../exchange/trade.ts';
import type { TradeStatus } from '../exchange/trade-declaration.ts';
import type { FollowingTrade } from '../exchange/trade-status.ts';
import type { PaymentAction, PaymentStatus } from './moves.ts';

/** What moves of payments do to the money that is held for them, and to their own trades. */

/** A move of a payment that takes effect. */
export interface EffectiveMove {
  act: Act;
  traceparent: string | null | undefined;
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
export async function moveHolds(tx: Transaction, moves: readonly EffectiveMove[]): Promise<Set<string>> {
  const column = 'payment_id' as const;
  const holders = moves.map(({ act: { now }, clientId, paymentId: id, action: by }) => ({ clientId, id, by, now }));
  executeHolds(tx, { holders: holders.filter(({ by }) => by === 'send'), column });
  const ended = holders.filter(({ by }) => ENDING.includes(by));
  const returned = ended.filter(({ by }) => by === 'return');
  if (returned.length > 0) {
    const closed = await closeHolds(tx, { holders: ended, column });
    return new Set(returned.flatMap(({ id }) => (closed.has(id) ? [id] : [])));
  }
  closeHoldsLater(tx, { holders: ended, column });
  return new Set();
}

/** A trade that follows a payment's move. */
type Follower = FollowingTrade & TradeNews & { act: Act };

/** The trades that follow the moves of single payments. */
export function followersOf(moves: readonly EffectiveMove[]): Follower[] {
  return moves.flatMap(({ act, traceparent, clientId, ownTrade, action, before }): Follower[] => {
    if (ownTrade === null) return [];
    const was = statusOfTrade(before);
    // A return after the payment was complete leaves the trade closed.
    const ended = ENDING.includes(action) && was !== 'Closed';
    const next = ended ? 'Cancelled' : action === 'send' ? 'Funds Out Full Allocated' : 'Closed';
    const changes = ended || action === 'send' || action === 'complete';
    if (!changes) return [];
    return [{ act, now: act.now, traceparent, clientId, tradeId: ownTrade, before: was, status: next }];
  });
}
