import { closeHoldsLater, executeHolds } from '../accounts/held-money.ts';
import type { Act } from '../audit/act.ts';
import { type AuditEntry, audit } from '../audit/record.ts';
import { first, type Transaction } from '../database/database.ts';
import { RowList } from '../database/row-list.ts';
import { Problem } from '../values/errors.ts';
import { findTrade, noTrade, notifyReadTrades, notifyTrades, type TradeNews } from './trade.ts';
import type { TradeRecord, TradeStatus } from './trade-declaration.ts';

/** An ordered trade never leaves these statuses, because its held money has been spent or released. */
const FINAL: readonly TradeStatus[] = ['Closed', 'Cancelled', 'Rejected'];

interface LockedTrade {
  status: TradeStatus;
  client_id: string;
  source: 'client' | 'institution';
  single: boolean;
}

/**
 * Changes the status of a trade. A new status is notified, unless `silent` is set.
 * @throws Problem trade_not_found; transition_not_allowed if the trade follows its payment, or was ordered by a client and has ended
 */
export async function setTradeStatus(
  tx: Transaction,
  act: Act,
  apiUrl: string,
  { tradeId, status, silent = false }: { tradeId: string; status: TradeStatus; silent?: boolean },
): Promise<TradeRecord> {
  const before =
    first(
      await tx.query<LockedTrade & Record<string, unknown>>(
        'select status, client_id, source, single from trades where trade_id = $1 for update',
        [tradeId],
      ),
    ) ?? noTrade();
  if (before.single) throw ofOnePayment('trade_id');
  if (before.status === status) return findTrade(tx, apiUrl, tradeId);
  if (before.source === 'client' && FINAL.includes(before.status))
    throw new Problem('transition_not_allowed', {
      field: 'status',
      message: `the trade was ordered by the client and is "${before.status}": it takes no other status`,
    });
  const move = { clientId: before.client_id, tradeId, before: before.status, status };
  writeStatuses(tx, [move]);
  audit(tx, act, statusEntry(move));
  const holders = [{ clientId: before.client_id, id: tradeId, by: status, now: act.now }];
  if (status === 'Closed') executeHolds(tx, { holders, column: 'trade_id' });
  else if (FINAL.includes(status)) closeHoldsLater(tx, { holders, column: 'trade_id' });
  const trade = await findTrade(tx, apiUrl, tradeId);
  if (!silent) await notifyTrades(tx, act.now, [trade]);
  return trade;
}

/** The refusal for a caller that uses the trade of a single payment. @param field that names the trade */
export function ofOnePayment(field: string): Problem {
  return new Problem('transition_not_allowed', {
    field,
    message: 'the trade belongs to one payment from an account, and follows it',
  });
}

/** A trade that follows its payment's status. */
export interface FollowingTrade {
  clientId: string;
  tradeId: string;
  before: TradeStatus;
  status: TradeStatus;
}

/**
 * Sets the status of trades of single payments from the status of the payments, whose rows are locked, and notifies them. The caller writes
 * the audit rows (`statusEntry`).
 */
export async function followPayments(
  tx: Transaction,
  apiUrl: string,
  { trades, silent }: { trades: readonly (FollowingTrade & TradeNews)[]; silent: boolean },
): Promise<void> {
  if (trades.length === 0) return;
  writeStatuses(tx, trades);
  if (!silent) await notifyReadTrades(tx, apiUrl, trades);
}

function writeStatuses(tx: Transaction, trades: readonly FollowingTrade[]): void {
  const list = new RowList(trades, ({ clientId }) => clientId, {
    trade_id: { type: 'text', of: ({ tradeId }) => tradeId },
    status: { type: 'text', of: ({ status }) => status },
  });
  tx.later({
    name: list.named('trades-status'),
    text: `update trades t set status = ${list.at('status')} ${list.after('from')}
      where t.client_id = ${list.client} and t.trade_id = ${list.at('trade_id')}`,
    values: list.values,
  });
}

/** The audit row of a trade's new status. */
export function statusEntry({ clientId, tradeId, before, status }: FollowingTrade): AuditEntry {
  return {
    action: 'update',
    entity: 'trade',
    entityId: tradeId,
    clientId,
    before: { status: before },
    after: { status },
  };
}
