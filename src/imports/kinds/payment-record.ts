import type { RecordText } from '../../audit/change.ts';
import { statusOf } from '../../payments/new-payment.ts';
import { paymentFields } from '../../payments/payment-fields.ts';
import { createFieldsWriter, wallTime } from '../../payments/payment-json.ts';
import type { ImportScope, RecordOf } from '../kind.ts';
import type { PaymentImportRow } from './payment-row.ts';

/**
 * Makes the writer of imported payments as the operator's GET shows them: from the row in memory, because sending each payment to the
 * database and reading it again would double the import's time. A payment that needs an approval is read.
 */
export function createRecordWriter({ act, presentation }: ImportScope): RecordOf<PaymentImportRow> {
  const writers = new Map<string, ReturnType<typeof createFieldsWriter>>();
  const writerOf = (clientId: string) => {
    let writer = writers.get(clientId);
    if (!writer) {
      writer = createFieldsWriter({ clientId, viewer: null, institution: true, now: act.now, ...presentation });
      writers.set(clientId, writer);
    }
    return writer;
  };
  const write = (row: PaymentImportRow): RecordText => {
    const { amount, input } = row;
    const { fields, row: texts } = fieldsOf(row);
    return { text: writerOf(input.client_id)(fields, texts, false), amount, currency: input.payment_currency };
  };
  return (row) => (row.requirement === null ? () => write(row) : undefined);
}

/** What the database would give of a payment. */
function fieldsOf(row: PaymentImportRow): ReturnType<typeof paymentFields> {
  const { id, input, payee, history } = row;
  return paymentFields({
    payment_id: id ?? null,
    contact_id: input.contact_id,
    trade_id: input.trade_id,
    uuid: row.uuid,
    scheme: input.scheme ?? 'SWIFT',
    amount: row.amount,
    payment_currency: input.payment_currency,
    fee_amount: row.fee,
    fee_currency: input.fee_currency ?? null,
    reference: input.reference ?? null,
    status: statusOf(row),
    charges: input.charges ?? null,
    invoice_required: flag(input.invoice_required ?? false),
    ordered_by_name: row.creatorName,
    created: wallTime(row.created),
    payment_date: input.payment_date,
    authorised_by: history.authorised_by ?? null,
    authorised_date: instant(history.authorised_date),
    cancelled_by: history.cancelled_by ?? null,
    cancelled_date: instant(history.cancelled_date),
    rejected_by: history.rejected_by ?? null,
    rejected_date: instant(history.rejected_date),
    authorisation_workflow: row.workflow,
    beneficiary_id: input.beneficiary_id,
    beneficiary_name: payee?.beneficiary_name ?? null,
    beneficiary_aml_id: payee?.beneficiary_aml_id ?? null,
    beneficiary_active: flag(payee?.active),
    beneficiary_authorised: flag(payee?.authorised),
    beneficiary_blocked: flag(payee?.blocked),
    beneficiary_completed: flag(payee?.completed),
    beneficiary_verified: flag(payee?.verified),
    account_number: payee?.account_number ?? null,
    iban: payee?.iban ?? null,
    swift_code: payee?.swift_code ?? null,
    bank_identifier: payee?.bank_identifier ?? null,
    sent: flag(history.sent_date != null),
    return_started: 'f',
  });
}

function instant(value: Date | null | undefined): string | null {
  return value ? wallTime(value) : null;
}

function flag(value: boolean | undefined): string {
  return value ? 't' : 'f';
}
