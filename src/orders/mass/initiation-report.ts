import { type Db, first } from '../../database/database.ts';
import type { RowFault } from '../../iso20022/initiation.ts';
import type { BlockReport, StatusReport, TransactionReport } from '../../iso20022/report.ts';
import { type FileEnd, groupStatus, type PaymentState, type Reported, reportOf } from '../../iso20022/status.ts';
import { Problem } from '../../values/errors.ts';
import { ROW_FIELDS } from '../instructions/row.ts';
import type { AnsweredFault } from '../rows.ts';
import type { MassStatus } from './declaration.ts';
import type { StoredOrigin } from './file.ts';
import type { KeptBlock, KeptInitiation } from './initiation.ts';

/** Reports what became of a pain.001: the statuses of its mass payments, and of their rows and payments. */

/** How a report refers to the message that it answers. */
export function originalOf(kept: KeptInitiation): StatusReport['original'] {
  return {
    ...{ messageId: kept.message_id, message: kept.message, createdAt: kept.written_at, count: kept.transactions },
    sum: kept.control_sum ?? undefined,
  };
}

/** The state of a message that was just accepted. Whatever is not refused is accepted for processing. */
export function reportTaken({ blocks }: KeptInitiation): Pick<StatusReport, 'status' | 'blocks'> {
  const refused = blocks.filter(({ reason }) => reason !== null).length;
  const status = refused === 0 ? 'ACTC' : refused === blocks.length ? 'RJCT' : 'PART';
  return {
    status,
    blocks: blocks.map((block) => ({
      ...headOf(block),
      ...{ status: block.reason ? 'RJCT' : 'ACTC', transactions: [] },
    })),
  };
}

function headOf({ id, count, sum, reason }: KeptBlock): Pick<BlockReport, 'id' | 'count' | 'sum' | 'reasons'> {
  return { id, count: count ?? undefined, sum: sum ?? undefined, reasons: reason ? [reason] : [] };
}

/** A stored message of a client. @throws Problem payment_initiation_not_found */
export async function findInitiation(db: Db, clientId: string, messageId: string): Promise<KeptInitiation> {
  const found = first(
    await db.query<KeptInitiation & Record<string, unknown>>(
      `select message_id, message, written_at, transactions, control_sum, blocks from payment_initiations
       where client_id = $1 and message_id = $2`,
      // PostgreSQL's texts cannot contain NUL, so no stored identifier has one.
      [clientId, messageId.replaceAll('\0', '\ufffd')],
    ),
  );
  if (found) return found;
  throw new Problem('payment_initiation_not_found', { field: 'message_id', message: 'does not exist for this client' });
}

interface Row extends Record<string, unknown> {
  mass_payment_id: string;
  file_status: MassStatus;
  file_error: AnsweredFault | null;
  state: 'valid' | 'invalid' | 'created' | null;
  errors: AnsweredFault[] | null;
  warning: string | null;
  origin: StoredOrigin | null;
  instruction_id: string | null;
  payment_id: string | null;
  payment_status: string | null;
  invalidated: boolean;
  returned: boolean;
  reason: string | null;
  return_reason: string | null;
}

/** The current state of a message. */
export async function reportNow(
  db: Db,
  clientId: string,
  { blocks }: KeptInitiation,
): Promise<Pick<StatusReport, 'status' | 'blocks'>> {
  const ids = blocks.flatMap(({ mass_payment_id: id }) => id ?? []);
  const { rows } = await db.query<Row>(
    `select r.mass_payment_id, m.status as file_status, m.error as file_error, r.status as state, r.errors, r.warning, r.origin,
       r.sent ->> 'instruction_id' as instruction_id, p.payment_id, p.status::text as payment_status, p.invalidated, p.returned, p.reason,
       p.return_reason
     from mass_payment_rows r join mass_payments m on m.client_id = r.client_id and m.mass_payment_id = r.mass_payment_id
       left join payments p on p.client_id = r.client_id and p.payment_id = r.payment_id
     where r.client_id = $1 and r.mass_payment_id = any($2::uuid[]) order by r.mass_payment_id, r.request_index`,
    [clientId, ids],
  );
  const ofFile = Map.groupBy(rows, ({ mass_payment_id: id }) => id);
  const all = new Set<Reported['status']>();
  const reported = blocks.map((block): BlockReport => {
    const transactions = (ofFile.get(block.mass_payment_id ?? '') ?? []).map(transactionOf);
    const statuses = new Set(block.reason ? (['RJCT'] as const) : transactions.map(({ status }) => status));
    for (const status of statuses) all.add(status);
    return { ...headOf(block), status: groupStatus(statuses), transactions };
  });
  return { status: groupStatus(all), blocks: reported };
}

function transactionOf(row: Row): TransactionReport {
  const { state, origin, warning, instruction_id: instructionId, payment_id: paymentId } = row;
  const faults = (row.errors ?? []).map(faultOf);
  const reported = reportOf({ state: state ?? 'waiting', faults, warning, payment: paymentOf(row) }, endOf(row));
  return {
    ...reported,
    ...{ instructionId, endToEndId: origin?.end_to_end_id ?? '', uetr: origin?.uuid ?? null, paymentId },
  };
}

function paymentOf({ payment_status: status, invalidated, returned, reason, ...row }: Row): PaymentState | null {
  return status === null ? null : { status, invalidated, returned, reason, returnReason: row.return_reason };
}

function endOf({ file_status: status, file_error: error }: Row): FileEnd | undefined {
  if (status === 'Cancelled') return { status };
  return status === 'Failed' ? { status, code: error?.code ?? '', details: error?.details ?? '' } : undefined;
}

const FIELDS: ReadonlySet<string> = new Set([...ROW_FIELDS, 'charges', 'uuid']);

/** Converts a fault in answer form back to the form in which it was found. */
function faultOf({ code, details }: AnsweredFault): RowFault {
  const [field = '', ...rest] = details.split(': ');
  return FIELDS.has(field) ? { code, field, message: rest.join(': ') } : { code, field: '', message: details };
}
