import { judgeBookings, readBooking, type WantedBooking, writeBookings } from '../../accounts/booking.ts';
import { type Booking, TRANSACTION_COMPARISON, type TransactionInput } from '../../accounts/transaction.ts';
import { resolveIds } from '../identifiers.ts';
import { type ImportKind, type ImportRow, Refusals } from '../kind.ts';

export type TransactionImportRow = ImportRow<TransactionInput> & Booking & WantedBooking;

/** Transactions (docs/imports.md), booked in the order of their lines. Each has its account's balance after it. */
export const transactionImport: ImportKind<TransactionInput, TransactionImportRow> = {
  entity: 'transaction',
  batchRows: 5_000,
  claims: [{ field: 'transaction_id', id: ({ id }) => id }],
  comparison: TRANSACTION_COMPARISON,

  read: (line, input, { act }) => ({ line, act, ...readBooking(input, act.now) }),

  async check(tx, rows) {
    const refusals = new Refusals().refuseRows(rows, (await judgeBookings(tx, rows)).refused);
    await resolveIds(tx, rows, refusals, 'transaction');
    return refusals;
  },

  async insert(tx, rows, { notify }) {
    await writeBookings(tx, rows, { silent: !notify, imported: true });
  },
};
