import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import { newId } from '../database/cells/identifiers.ts';
import { first, type Transaction } from '../database/database.ts';
import { insertRow } from '../database/rows.ts';
import { requireContact } from '../identity/people/tenant.ts';
import { findTrade, noTrade, notifyTrade, type TradeRecord, type TradeStatus } from './trade.ts';
import { readTrade, type TradeInput } from './trade-input.ts';

/** Where a trade comes from, if not from a request of its own. */
export interface TradeOrigin {
  multipaymentId?: number;
  /** Path of the trade in the request, before the names of its fields: `trades[0].` */
  inside?: string;
}

/**
 * Books a trade and notifies TRADE_STATUS_CHANGE.
 * @throws Problem already_exists, client_not_found, contact_not_found, trade_not_found, invalid_body
 */
export async function createTrade(
  tx: Transaction,
  act: Act,
  apiUrl: string,
  input: TradeInput,
  { multipaymentId, inside }: TradeOrigin = {},
): Promise<TradeRecord> {
  // A multi payment has checked its own client and contact, once for all of its trades.
  if (multipaymentId === undefined)
    await requireContact(tx, { clientId: input.client_id, contactId: input.contact_id });
  const values = readTrade(input, act.now, inside);
  const tradeId = await newId(tx, input.client_id, 'trade_id', input.trade_id);
  await insertRow(
    tx,
    'trades',
    {
      trade_id: tradeId,
      client_id: input.client_id,
      contact_id: input.contact_id,
      parent_trade_id: input.parent_trade_id ?? null,
      status: input.status ?? 'Created',
      trade_type: values.type,
      rate_symbol: values.symbol,
      rate: values.rate,
      buy_currency: input.buy_currency,
      sell_currency: input.sell_currency,
      buy_amount: values.buyAmount,
      sell_amount: values.sellAmount,
      fee_amount: values.feeAmount,
      fee_currency: input.fee_currency ?? null,
      order_date: values.orderDate,
      maturity_date: values.maturity,
      reference: input.reference ?? null,
      synthetic: input.synthetic ?? false,
      multipayment_id: multipaymentId ?? null,
      created_at: act.now,
      beneficiaries: input.beneficiaries ? JSON.stringify(input.beneficiaries) : null,
    },
    { returning: 'trade_id' },
  );
  const trade = await findTrade(tx, apiUrl, tradeId);
  await audit(tx, act, {
    action: 'create',
    entity: 'trade',
    entityId: tradeId,
    clientId: input.client_id,
    after: trade,
  });
  await notifyTrade(tx, act.now, trade);
  return trade;
}

/** Gives a trade a status; a new one is notified, unless it is to be `silent`. @throws Problem trade_not_found */
export async function setTradeStatus(
  tx: Transaction,
  act: Act,
  apiUrl: string,
  { tradeId, status, silent = false }: { tradeId: string; status: TradeStatus; silent?: boolean },
): Promise<TradeRecord> {
  const before =
    first(
      await tx.query<{ status: TradeStatus; client_id: string }>(
        'select status, client_id from trades where trade_id = $1 for update',
        [tradeId],
      ),
    ) ?? noTrade();
  if (before.status !== status) {
    await tx.query('update trades set status = $3 where client_id = $1 and trade_id = $2', [
      before.client_id,
      tradeId,
      status,
    ]);
    await audit(tx, act, {
      action: 'update',
      entity: 'trade',
      entityId: tradeId,
      clientId: before.client_id,
      before: { status: before.status },
      after: { status },
    });
  }
  const trade = await findTrade(tx, apiUrl, tradeId);
  if (before.status !== status && !silent) await notifyTrade(tx, act.now, trade);
  return trade;
}
