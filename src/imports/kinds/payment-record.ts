import type { RecordText } from '../../audit/change.ts';
import type { CopyValue } from '../../database/copy.ts';
import { NEW_PAYMENT_COLUMNS } from '../../payments/new-payment.ts';
import { paymentFields } from '../../payments/payment-fields.ts';
import { createFieldsWriter, wallTime } from '../../payments/payment-json.ts';
import type { ImportScope, RecordOf } from '../kind.ts';
import type { PaymentImportRow } from './payment-row.ts';

/**
 * Makes the function that writes imported payments in the form of the operator's GET. It uses the row in memory, because reading each
 * payment back from the database would double the import's time. A payment that needs an approval is read.
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

const COLUMNS = Object.entries(NEW_PAYMENT_COLUMNS);

/** The values that the database would return for a payment: those that are written, and those that it reads elsewhere. */
function fieldsOf(row: PaymentImportRow): ReturnType<typeof paymentFields> {
  const { payee, history } = row;
  const values: Record<string, string | null> = {};
  for (const [name, of] of COLUMNS) values[name] = asText(of(row));
  return paymentFields({
    ...values,
    beneficiary_aml_id: payee?.beneficiary_aml_id ?? null,
    beneficiary_active: flag(payee?.active),
    beneficiary_authorised: flag(payee?.authorised),
    beneficiary_blocked: flag(payee?.blocked),
    beneficiary_completed: flag(payee?.completed),
    beneficiary_verified: flag(payee?.verified),
    sent: flag(history.sent_date != null),
    return_started: 'f',
  });
}

/** A value in PostgreSQL's spelling. */
function asText(value: CopyValue): string | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return wallTime(value);
  return typeof value === 'boolean' ? flag(value) : String(value);
}

function flag(value: boolean | undefined): string {
  return value ? 't' : 'f';
}
