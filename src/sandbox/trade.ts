import type { Act } from '../audit/act.ts';
import { first, type Transaction } from '../database/database.ts';
import type { TradeRecord, TradeStatus } from '../exchange/trade-declaration.ts';
import { ofOnePayment } from '../exchange/trade-status.ts';
import { notOfClient } from '../identity/people/tenant.ts';
import { Problem } from '../values/errors.ts';
import { moveTradeAsCore } from './core.ts';

/** The states to which a trade can be advanced. `next` is the next step of its ordinary course. */
export type TradeDestination = TradeStatus | 'next';

const NEXT: Partial<Record<TradeStatus, TradeStatus>> = {
  Created: 'Funds In Full',
  'Funds In Partially': 'Funds In Full',
  'Funds In Full': 'Closed',
  'Funds Out Partially Allocated': 'Closed',
  'Funds Out Full Allocated': 'Closed',
};

/**
 * Moves a trade of a client as its core would, in the caller's transaction (docs/sandbox.md, Advance a trade).
 * @throws Problem trade_not_found; transition_not_allowed if it has ended, has that status already, or follows its payment
 */
export async function advanceTrade(
  tx: Transaction,
  act: Act,
  apiUrl: string,
  { clientId, tradeId, to }: { clientId: string; tradeId: string; to: TradeDestination },
): Promise<TradeRecord> {
  const trade = first(
    await tx.query<{ status: TradeStatus; single: boolean }>(
      'select status, single from trades where client_id = $1 and trade_id = $2 for no key update',
      [clientId, tradeId],
    ),
  );
  if (!trade) throw notOfClient('trade_not_found', 'trade_id');
  if (trade.single) throw ofOnePayment('trade_id');
  const next = NEXT[trade.status];
  const status = to === 'next' ? next : to;
  if (next === undefined || status === undefined || status === trade.status)
    throw new Problem('transition_not_allowed', {
      field: 'trade_id',
      message: `the trade is "${trade.status}": no step leads to "${to}"`,
    });
  return moveTradeAsCore(tx, act, apiUrl, { clientId, tradeId, status });
}
