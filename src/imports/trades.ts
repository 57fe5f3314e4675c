import { findTrade, notifyTrade, readTrade, type TradeGiven } from '../payments/trade.ts';
import { copyRows } from './copy.ts';
import { type ImportKind, Refusals } from './kind.ts';
import { findClients, findContactNames, findMissing, nextIds, pairKey, settleIds } from './lookups.ts';

export interface TradeRow {
  given: TradeGiven;
  tradeId: string | undefined;
  values: ReturnType<typeof readTrade>;
}

const COLUMNS = [
  'trade_id',
  'client_id',
  'contact_id',
  'parent_trade_id',
  'status',
  'trade_type',
  'rate_symbol',
  'rate',
  'buy_currency',
  'sell_currency',
  'buy_amount',
  'sell_amount',
  'fee_amount',
  'fee_currency',
  'order_date',
  'maturity_date',
  'reference',
  'synthetic',
  'created_at',
  'beneficiaries',
] as const;

/** Trades (docs/imports.md). The parent of a drawdown is a trade that exists, or stands on an earlier line. */
export const tradeImport: ImportKind<TradeGiven, TradeRow> = {
  entity: 'trade',
  batchLines: 5_000,

  read: (given, { act }) => ({ given, tradeId: given.trade_id, values: readTrade(given, act.now) }),

  async check(tx, rows, _scope) {
    const refusals = new Refusals();
    const clients = await findClients(
      tx,
      rows.map(({ row }) => row.given.client_id),
    );
    const names = await findContactNames(
      tx,
      rows.map(({ row: { given } }) => [given.client_id, given.contact_id]),
    );
    for (const {
      line,
      row: { given },
    } of rows) {
      if (!clients.has(given.client_id))
        refusals.refuse(line, 'client_not_found', { field: 'client_id', message: 'is no client' });
      else if (!names.has(pairKey(given.client_id, given.contact_id)))
        refusals.refuse(line, 'contact_not_found', { field: 'contact_id', message: 'is no contact of the client' });
    }
    await settleIds(
      tx,
      rows,
      refusals,
      { name: 'trades', column: 'trade_id' },
      {
        get: (row) => row.tradeId,
        set: (row, id) => {
          row.tradeId = id;
        },
      },
      (count) => nextIds(tx, 'trade_numbers', 'TRD', count),
    );
    const orphans = await findMissing(
      tx,
      'trades',
      'trade_id',
      rows.flatMap(({ row: { given } }) =>
        given.parent_trade_id ? [[given.client_id, given.parent_trade_id] as [string, string]] : [],
      ),
    );
    const earlier = new Set<string>();
    for (const { line, row } of rows) {
      const { client_id: clientId, parent_trade_id: parent } = row.given;
      if (parent && orphans.has(pairKey(clientId, parent)) && !earlier.has(pairKey(clientId, parent))) {
        refusals.refuse(line, 'trade_not_found', { field: 'parent_trade_id', message: 'is no trade of the client' });
      }
      if (!refusals.has(line)) earlier.add(pairKey(clientId, row.tradeId as string));
    }
    return refusals;
  },

  async insert(tx, rows, { act, notify, presentation }) {
    await copyRows(
      tx,
      'trades',
      COLUMNS,
      rows.map(({ row: { given, tradeId, values } }) => [
        tradeId,
        given.client_id,
        given.contact_id,
        given.parent_trade_id,
        given.status ?? 'Created',
        values.type,
        values.symbol,
        values.rate,
        given.buy_currency,
        given.sell_currency,
        values.buyAmount,
        values.sellAmount,
        values.feeAmount,
        given.fee_currency,
        values.orderDate,
        values.maturity,
        given.reference,
        given.synthetic ?? false,
        act.now,
        given.beneficiaries ? JSON.stringify(given.beneficiaries) : null,
      ]),
    );
    if (!notify) return;
    for (const { row } of rows)
      await notifyTrade(tx, act.now, await findTrade(tx, presentation.apiUrl, row.tradeId as string));
  },
};
