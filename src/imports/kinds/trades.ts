import type { TradeStatus } from '../../exchange/trade.ts';
import { judgeParents, judgeTrades, type NewTrade, setTradeStatus, writeTrades } from '../../exchange/trade-booking.ts';
import { parseMaturity, readTrade, type TradeInput } from '../../exchange/trade-input.ts';
import { fromSequence, resolveIds } from '../identifiers.ts';
import { asDecimal, type Comparison, type ImportKind, type ImportRow, Refusals, sameNames } from '../kind.ts';

type TradeImportRow = ImportRow<TradeInput> & NewTrade;

const IDS = { table: 'trades', column: 'trade_id', make: fromSequence('trade_numbers', 'TRD') };

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
    const refusals = new Refusals().refuseRows(rows, await judgeTrades(tx, rows, true));
    await resolveIds(tx, rows, refusals, IDS);
    const open = rows.filter(({ line }) => !refusals.has(line));
    refusals.refuseRows(open, judgeParents(open));
    return refusals;
  },

  async insert(tx, rows, { act, notify, presentation }) {
    await writeTrades(tx, act, presentation.apiUrl, rows, { silent: !notify, imported: true });
  },
};
