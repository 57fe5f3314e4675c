import {
  judgeParents,
  judgeTrades,
  type NewTrade,
  type WantedTrade,
  writeTrades,
} from '../../exchange/trade-booking.ts';
import { TRADE, type TradeInput, type TradeStatus } from '../../exchange/trade-declaration.ts';
import { readTrade } from '../../exchange/trade-input.ts';
import { setTradeStatus } from '../../exchange/trade-status.ts';
import { resolveIds } from '../identifiers.ts';
import { type ImportKind, type ImportRow, Refusals } from '../kind.ts';

/** `judgeTrades` settles its values. */
type TradeImportRow = ImportRow<TradeInput> & WantedTrade;

const COMPARISON = TRADE.comparison;

/** Trades (docs/imports.md). The parent of a drawdown already exists, or is on an earlier line. */
export const tradeImport: ImportKind<TradeInput, TradeImportRow> = {
  entity: 'trade',
  batchRows: 5_000,
  claims: [{ field: 'trade_id', id: ({ id }) => id }],
  comparison: COMPARISON,
  update: {
    fixed: Object.keys(COMPARISON.fields).filter((name) => name !== 'status'),
    // Such a line names the trade and its new status. All other fields must equal the stored ones.
    read: (line, input) => ({ line, input, id: input.trade_id, values: {} as TradeImportRow['values'] }),
    async write(tx, rows, { act, notify, presentation }) {
      for (const { id, input } of rows) {
        const wanted = { tradeId: id as string, status: input.status as TradeStatus, silent: !notify };
        await setTradeStatus(tx, act, presentation.apiUrl, wanted);
      }
    },
  },

  read: (line, input, { act }) => ({
    line,
    input,
    id: input.trade_id,
    values: readTrade(input, act.now),
  }),

  async check(tx, rows) {
    const refusals = new Refusals().refuseRows(rows, await judgeTrades(tx, rows));
    await resolveIds(tx, rows, refusals, 'trade');
    const open = rows.filter(({ line }) => !refusals.has(line)) as (TradeImportRow & NewTrade)[];
    refusals.refuseRows(open, judgeParents(open));
    return refusals;
  },

  async insert(tx, rows, { act, notify, presentation }) {
    await writeTrades(tx, act, presentation.apiUrl, rows as readonly NewTrade[], { silent: !notify, imported: true });
  },
};
