import { judgePayments, writePayments } from '../../payments/creation.ts';
import { fromSequence, resolveIds } from '../identifiers.ts';
import { asDecimal, type Comparison, type ImportKind, Refusals, sameNames } from '../kind.ts';
import { createRecordWriter } from './payment-record.ts';
import { type ImportedPayment, type PaymentImportRow, readImportedPayment, readMoment } from './payment-row.ts';

const IDS = { table: 'payments', column: 'payment_id', make: fromSequence('payment_numbers', 'PAY') };

const INSTANTS = ['authorised_date', 'cancelled_date', 'rejected_date', 'sent_date'];
const asInstant = (value: unknown) => (value instanceof Date ? value : readMoment(value as string, ''))?.getTime();

const COMPARISON: Comparison = {
  table: 'payments',
  id: 'payment_id',
  fields: {
    ...sameNames('client_id', 'contact_id', 'trade_id', 'beneficiary_id', 'amount', 'payment_currency', 'payment_date'),
    ...sameNames('reference', 'fee_amount', 'fee_currency', 'charges', 'scheme', 'invoice_required', 'mass_payment_id'),
    ...sameNames(
      'mass_payment_external_reference_id',
      'status',
      'uuid',
      'authorised_by',
      'cancelled_by',
      'rejected_by',
    ),
    ...sameNames(...INSTANTS),
    created_date: 't.created',
  },
  forms: {
    amount: asDecimal,
    fee_amount: asDecimal,
    created_date: asInstant,
    ...Object.fromEntries(INSTANTS.map((name) => [name, asInstant])),
  },
  chosen: ['sent_date'],
};

/**
 * Payments (docs/imports.md). A payment without a status is treated like a single one: its approval is opened where one is
 * needed, otherwise it is validated next. One with a status has that status; where it is pending, its approval is opened.
 */
export const paymentImport: ImportKind<ImportedPayment, PaymentImportRow> = {
  entity: 'payment',
  batchRows: 4_000,
  claims: [
    { field: 'payment_id', id: ({ id }) => id },
    // Made ones are random.
    { field: 'uuid', id: ({ input }) => input.uuid },
  ],
  comparison: COMPARISON,

  read: (line, input, { act }) => readImportedPayment(line, input, act.now),

  async check(tx, rows) {
    const refusals = new Refusals().refuseRows(rows, await judgePayments(tx, rows, true));
    await resolveIds(tx, rows, refusals, IDS);
    return refusals;
  },

  async insert(tx, rows, { act, presentation, notify, trades }) {
    await writePayments(tx, act, presentation, rows, { silent: !notify, imported: true, trades });
  },

  records: createRecordWriter,
};
