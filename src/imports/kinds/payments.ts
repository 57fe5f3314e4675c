import { judgePayments } from '../../payments/creation.ts';
import { IMPORTED_PAYMENT, type ImportedPayment } from '../../payments/declaration.ts';
import { writePayments } from '../../payments/writing.ts';
import { resolveIds } from '../identifiers.ts';
import { type ImportKind, Refusals } from '../kind.ts';
import { createRecordWriter } from './payment-record.ts';
import { type PaymentImportRow, readImportedPayment } from './payment-row.ts';

/**
 * Payments (docs/imports.md). A payment without a status is treated like a single one: its approval is opened if it needs one, and
 * otherwise it is validated next. A given status is used; if it is pending, the approval is opened.
 */
export const paymentImport: ImportKind<ImportedPayment, PaymentImportRow> = {
  entity: 'payment',
  batchRows: 4_000,
  claims: [
    { field: 'payment_id', id: ({ id }) => id },
    // Generated ones are random, so they need no claim.
    { field: 'uuid', id: ({ input }) => input.uuid },
  ],
  comparison: IMPORTED_PAYMENT.comparison,

  read: (line, input, { act }) => readImportedPayment(line, input, act.now),

  async check(tx, rows) {
    const refusals = new Refusals().refuseRows(rows, await judgePayments(tx, rows, true));
    await resolveIds(tx, rows, refusals, 'payment');
    return refusals;
  },

  async insert(tx, rows, { act, presentation, notify, trades }) {
    await writePayments(tx, act, presentation, rows, { silent: !notify, imported: true, trades });
  },

  records: createRecordWriter,
};
