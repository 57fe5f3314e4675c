import { randomUUID } from 'node:crypto';
import { judgeBookings, readBooking, type WantedBooking, writeBookings } from '../../accounts/booking.ts';
import { type Booking, moment, type Party, party, type TransactionInput } from '../../accounts/transaction.ts';
import type { Transaction } from '../../database/database.ts';
import { resolveIds } from '../identifiers.ts';
import { asDecimal, type Comparison, type ImportKind, type ImportRow, Refusals, sameNames } from '../kind.ts';

export type TransactionImportRow = ImportRow<TransactionInput> & Booking & WantedBooking;

const IDS = {
  table: 'transactions',
  column: 'transaction_id',
  make: async (_tx: Transaction, count: number) => Array.from({ length: count }, () => randomUUID()),
};

const asInstant = (value: unknown) => (value instanceof Date ? value : moment(value as string, ''))?.getTime();
const asParty = (value: unknown) => JSON.stringify(party(value as Party));

const COMPARISON: Comparison = {
  table: 'transactions',
  id: 'transaction_id',
  fields: {
    ...sameNames('client_id', 'currency_account_id', 'kind', 'creditor_name', 'creditor_account', 'debtor_name'),
    ...sameNames('debtor_account', 'transaction_reference', 'transaction_information'),
    ...sameNames('additional_transaction_information', 'booking_datetime', 'value_datetime'),
    amount: `json_build_object('amount', abs(t.amount)::text, 'currency', t.currency)`,
  },
  forms: {
    amount: (value) => {
      const { amount, currency } = value as TransactionInput['amount'];
      return `${asDecimal(amount)} ${currency}`;
    },
    creditor_account: asParty,
    debtor_account: asParty,
    booking_datetime: asInstant,
    value_datetime: asInstant,
  },
};

/** Transactions (docs/imports.md), booked in the order of their lines: each has the balance of its account after it. */
export const transactionImport: ImportKind<TransactionInput, TransactionImportRow> = {
  entity: 'transaction',
  batchRows: 5_000,
  claims: [{ field: 'transaction_id', id: ({ id }) => id }],
  comparison: COMPARISON,

  read: (line, input, { act }) => ({ line, ...readBooking(input, act.now) }),

  async check(tx, rows) {
    const refused = await judgeBookings(tx, rows);
    const refusals = new Refusals(
      rows.flatMap(({ line }, index) => {
        const problem = refused.get(index);
        return problem ? [[line, problem]] : [];
      }),
    );
    await resolveIds(tx, rows, refusals, IDS);
    return refusals;
  },

  async insert(tx, rows, { act, notify }) {
    await writeBookings(tx, act, rows, { silent: !notify, imported: true });
  },
};
