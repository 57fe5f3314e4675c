import { type Columns, copyRows } from '../../database/copy.ts';
import type { Transaction } from '../../database/database.ts';
import { findTrade, notifyTrade, type TradeStatus } from '../../exchange/trade.ts';
import { setTradeStatus } from '../../exchange/trade-booking.ts';
import { parseMaturity, readTrade, type TradeInput } from '../../exchange/trade-input.ts';
import { fromSequence, resolveIds } from '../identifiers.ts';
import { asDecimal, type Comparison, type ImportKind, type ImportRow, Refusals, sameNames } from '../kind.ts';
import { checkClients, checkContacts, findMissing, notOwned, pairKey } from '../references.ts';

export interface TradeImportRow extends ImportRow<TradeInput> {
  values: ReturnType<typeof readTrade>;
}

const IDS = { table: 'trades', column: 'trade_id', make: fromSequence('trade_numbers', 'TRD') };

const columns = (now: Date): Columns<TradeImportRow> => ({
  trade_id: ({ id }) => id,
  client_id: ({ input }) => input.client_id,
  contact_id: ({ input }) => input.contact_id,
  parent_trade_id: ({ input }) => input.parent_trade_id,
  status: ({ input }) => input.status ?? 'Created',
  trade_type: ({ values }) => values.type,
  rate_symbol: ({ values }) => values.symbol,
  rate: ({ values }) => values.rate,
  buy_currency: ({ input }) => input.buy_currency,
  sell_currency: ({ input }) => input.sell_currency,
  buy_amount: ({ values }) => values.buyAmount,
  sell_amount: ({ values }) => values.sellAmount,
  fee_amount: ({ values }) => values.feeAmount,
  fee_currency: ({ input }) => input.fee_currency,
  order_date: ({ values }) => values.orderDate,
  maturity_date: ({ values }) => values.maturity,
  reference: ({ input }) => input.reference,
  synthetic: ({ input }) => input.synthetic ?? false,
  created_at: () => now,
  beneficiaries: ({ input }) => (input.beneficiaries ? JSON.stringify(input.beneficiaries) : null),
});

const FIXED = [
  ...[
    'client_id',
    'contact_id',
    'parent_trade_id',
    'trade_type',
    'rate_symbol',
    'rate',
    'buy_currency',
    'sell_currency',
  ],
  ...[
    'buy_amount',
    'sell_amount',
    'fee_amount',
    'fee_currency',
    'order_date',
    'maturity_date',
    'reference',
    'synthetic',
  ],
  'beneficiaries',
];
const COMPARISON: Comparison = {
  table: 'trades',
  id: 'trade_id',
  fields: sameNames('status', ...FIXED),
  forms: {
    rate: asDecimal,
    buy_amount: asDecimal,
    sell_amount: asDecimal,
    fee_amount: asDecimal,
    maturity_date: (at) => (at instanceof Date ? at : parseMaturity(at as string)).getTime(),
    beneficiaries: (list) => JSON.stringify(list),
  },
};

/** Trades (docs/imports.md). The parent of a drawdown exists already, or is on an earlier line. */
export const tradeImport: ImportKind<TradeInput, TradeImportRow> = {
  entity: 'trade',
  batchRows: 5_000,
  claims: [{ field: 'trade_id', id: ({ id }) => id }],
  comparison: COMPARISON,
  update: {
    fixed: FIXED,
    // Such a line names the trade and its new status; what else it says only has to be so.
    read: (line, input) => ({ line, input, id: input.trade_id, values: {} as TradeImportRow['values'] }),
    async write(tx, rows, { act, notify, presentation }) {
      for (const { id, input } of rows) {
        const wanted = { tradeId: id as string, status: input.status as TradeStatus, silent: !notify };
        await setTradeStatus(tx, act, presentation.apiUrl, wanted);
      }
    },
  },

  read: (line, input, { act }) => ({ line, input, id: input.trade_id, values: readTrade(input, act.now) }),

  async check(tx, rows) {
    const refusals = new Refusals();
    await checkClients(tx, rows, refusals);
    await checkContacts(tx, rows, refusals);
    await resolveIds(tx, rows, refusals, IDS);
    await checkParents(tx, rows, refusals);
    return refusals;
  },

  async insert(tx, rows, { act, notify, presentation }) {
    await copyRows(tx, 'trades', columns(act.now), rows);
    if (!notify) return;
    for (const { id } of rows) await notifyTrade(tx, act.now, await findTrade(tx, presentation.apiUrl, id as string));
  },
};

/** Refuses drawdowns of a trade that the client does not have, neither stored nor on an earlier line of the batch. */
async function checkParents(tx: Transaction, rows: TradeImportRow[], refusals: Refusals): Promise<void> {
  const parents = rows.flatMap(({ input }): [string, string][] =>
    input.parent_trade_id != null ? [[input.client_id, input.parent_trade_id]] : [],
  );
  const missing = await findMissing(tx, IDS, parents);
  const earlier = new Set<string>();
  for (const { line, id, input } of rows) {
    const { client_id: clientId, parent_trade_id: parentId } = input;
    const parent = parentId == null ? undefined : pairKey(clientId, parentId);
    if (parent !== undefined && missing.has(parent) && !earlier.has(parent))
      refusals.refuse(line, 'trade_not_found', notOwned('parent_trade_id'));
    if (!refusals.has(line)) earlier.add(pairKey(clientId, id as string));
  }
}
