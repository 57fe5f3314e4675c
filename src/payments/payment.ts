import { BoundedMap } from '../bounded-map.ts';
import { londonTimestamp } from '../calendar.ts';
import type { Db } from '../database.ts';
import type { Presentation } from './presentation.ts';

/**
 * The Payment as clients see it (the service interface, Payment): every field always, in the specification's order, null where
 * it is absent. The text is written by hand from rows of texts: a page of 50 costs half of what objects and JSON.stringify take
 * (docs/performance.md).
 */

/** Who looks at payments, and when. */
export interface PaymentView extends Presentation {
  clientId: string;
  /** The contact who asks, for the actions it may take; null where nobody in particular does (events, the operator). */
  viewer: string | null;
  now: Date;
}

/** Days from its creation during which a SWIFT payment can be tracked (the service interface, Limits). */
export const TRACKING_DAYS = 124;
const DAY = 86_400_000;

/** A row of `PAYMENT_COLUMNS`: texts as PostgreSQL writes them. */
export type PaymentRow = (string | null)[];

/** Between the fields of the first column. No field there can hold it: identifiers, codes, numbers, flags, dates, and JSON. */
const SEPARATOR = '\x1f';

/** The fields of the first column, in the order that the writer reads them; null is an empty text there. */
const PACKED = `p.payment_id, p.contact_id, p.trade_id, p.uuid, p.scheme, p.amount, p.payment_currency, p.fee_amount, p.fee_currency,
  p.status, p.invoice_required, p.created at time zone 'UTC', p.payment_date, p.authorised_date at time zone 'UTC',
  p.cancelled_date at time zone 'UTC', p.rejected_date at time zone 'UTC', p.authorisation_workflow, pa.authorisations, pv.may_authorise,
  pv.may_reject, pa.status, pa.remaining, p.beneficiary_id, b.active, b.authorised, b.blocked, b.completed, b.verified, b.iban,
  b.swift_code, p.multipayment_id, m.multipayment_unique_id, p.sent_date is not null, p.return_started`;

/**
 * The columns behind a Payment: most fields packed into one, and one for each text that anybody wrote. A field costs the driver
 * 0.1 us however short it is, so that this halves what a page costs in this process and leaves the database where it was.
 * Instants come as UTC wall time: neither the session's time zone nor a Date object is involved. `p`: payments, `b`: beneficiaries,
 * `m`: multipayments, `pa`: payment_approvals, `pv`: payment_approvers of the viewer.
 */
export const PAYMENT_COLUMNS = `concat(${PACKED.replaceAll(/,\s+/g, ", E'\\x1f', ")}),
  p.reference, p.charges, p.ordered_by_name, p.authorised_by, p.cancelled_by, p.rejected_by, b.beneficiary_name, b.beneficiary_aml_id,
  b.account_number, b.bank_identifier`;

/** The tables that `PAYMENT_COLUMNS` come from, beside `p`. @param viewer the SQL parameter with the viewer's contact_id */
export function paymentJoins(viewer: string): string {
  return `left join beneficiaries b on b.beneficiary_id = p.beneficiary_id and b.client_id = p.client_id
  left join multipayments m on m.multipayment_id = p.multipayment_id and m.client_id = p.client_id
  left join payment_approvals pa on pa.payment_id = p.id
  left join payment_approvers pv on pv.client_id = p.client_id and pv.contact_id = ${viewer} and pv.payment_id = p.id`;
}

/** SQL that says whether the viewer may manage the client's payments (parameters: the client's id, the viewer). */
export function mayManage(client: string, viewer: string): string {
  return `(select can_manage_payments from contact_clients where client_id = ${client} and contact_id = ${viewer})`;
}

/** Hands PostgreSQL's texts on as they are: nothing is parsed that is only written down again. */
export const AS_TEXT = { getTypeParser: () => (text: string) => text };

/**
 * Payments as JSON texts, each exactly as the search shows it, in the order of the ids; ids of other clients are left out.
 * @param ids payments.id
 */
export async function paymentBodies(db: Db, view: PaymentView, ids: number[]): Promise<string[]> {
  const { rows } = await db.query<PaymentRow>({
    name: 'payment_bodies',
    text: `select ${PAYMENT_COLUMNS}, ${mayManage('$1', '$2')}
      from unnest($3::bigint[]) with ordinality as wanted (id, place)
      join payments p on p.id = wanted.id and p.client_id = $1
      ${paymentJoins('$2')} order by wanted.place`,
    values: [view.clientId, view.viewer, ids],
    rowMode: 'array',
    types: AS_TEXT as never,
  });
  const write = paymentWriter(view);
  return rows.map((row) => write(row, row[MAY_MANAGE] === 't'));
}

/** The Payment of an identifier as JSON text, or undefined where the client has none (GET /payments/{payment_id}). */
export async function paymentBody(db: Db, view: PaymentView, paymentId: string): Promise<string | undefined> {
  const { rows } = await db.query<PaymentRow>({
    name: 'payment_body',
    text: `select ${PAYMENT_COLUMNS}, ${mayManage('$1', '$2')} from payments p ${paymentJoins('$2')}
      where p.client_id = $1 and p.payment_id = $3`,
    values: [view.clientId, view.viewer, paymentId],
    rowMode: 'array',
    types: AS_TEXT as never,
  });
  const row = rows[0];
  return row && paymentWriter(view)(row, row[MAY_MANAGE] === 't');
}

/** Whether a row of outer joins has no payment. */
export function isEmpty(row: PaymentRow): boolean {
  return (row[0] as string).startsWith(SEPARATOR);
}

/** Place of what stands behind `PAYMENT_COLUMNS` in a row. */
export const MAY_MANAGE = 11;

const BEFORE_SENDING = new Set([
  'Payment pending of authorization',
  'Validating beneficiary information',
  'Need more beneficiary information',
  'Waiting for payment date',
]);
const CANCELLED = 'Payment cancelled';
/** The approval status of a payment that needs no approval, or never had one recorded. */
const APPROVAL_STATUS: Record<string, string> = {
  'Payment pending of authorization': 'Pending approval',
  'Payment rejected': 'Rejected',
  [CANCELLED]: 'Cancelled',
};

/** Makes the function that writes rows as Payments for one view. */
export function paymentWriter(view: PaymentView): (row: PaymentRow, manages: boolean) => string {
  const documents = `${JSON.stringify(`${view.apiUrl}/documents?type=`).slice(0, -1)}`;
  const client = `&client_id=${encodeURIComponent(view.clientId)}"`;
  const trackedSince = new Date(view.now.getTime() - TRACKING_DAYS * DAY).toISOString().replace('T', ' ').slice(0, 23);
  return (row, manages) => {
    const [
      paymentId,
      contactId,
      tradeId,
      uuid,
      scheme,
      amount,
      currency,
      feeAmount,
      feeCurrency,
      status,
      invoice,
      created,
      paymentDate,
      authorisedDate,
      cancelledDate,
      rejectedDate,
      workflow,
      authorisations,
      mayAuthorise,
      mayReject,
      approvalStatus,
      remaining,
      beneficiaryId,
      active,
      authorised,
      blocked,
      completed,
      verified,
      iban,
      swiftCode,
      multipaymentId,
      multipaymentUniqueId,
      sent,
      returning,
    ] = (row[0] as string).split(SEPARATOR) as Fields;
    const [, reference, charges, orderedBy, authorisedBy, cancelledBy, rejectedBy, name, amlId, accountNumber, bank] =
      row;
    const moment = londonTime(created);
    const tracked =
      scheme === 'SWIFT' && status !== CANCELLED && created > trackedSince && moment.slice(0, 10) > view.trackingCutoff;
    const link = `${paymentId}${client}`;
    const actions =
      view.viewer === null
        ? NO_ACTIONS
        : allowed(
            mayAuthorise === 't',
            mayReject === 't',
            returning !== 't' && BEFORE_SENDING.has(status) && (manages || contactId === view.viewer),
          ) + executed(view.viewer, authorisations, cancelledBy ?? null);
    // One line for each piece of the specification's table; the formatter would hide the order of the fields.
    // biome-ignore format: the order of the fields is what matters here
    return `{"payment_id":"${paymentId}","contact_id":"${contactId}","trade_id":"${tradeId}","uuid":"${uuid}","is_uuid_used_for_tracking":${tracked
      },"amount":${amount},"payment_currency":${code(currency)},"fee_amount":${feeAmount || 'null'},"fee_currency":${code(feeCurrency)
      },"reference":${text(reference)},"status":"${status}","charges":${text(charges)},"invoice_required":${bool(invoice)
      },"ordered_by_name":${text(orderedBy)},"created_date":"${moment}","payment_date":"${paymentDate
      }","authorised_by":${text(authorisedBy)},"authorised_date":${time(authorisedDate)
      },"cancelled_by":${text(cancelledBy)},"cancelled_date":${time(cancelledDate)
      },"rejected_by":${text(rejectedBy)},"rejected_date":${time(rejectedDate)
      },"authorisation_workflow":${code(workflow)},"approvals_workflow":{"authorisations":${authorisations || '[]'
      },"contact_authorisation_actions":{${actions}},"n_eyes_plus_status":"${approvalStatus || (APPROVAL_STATUS[status] ?? 'Approved')
      }","minimum_remaining_authorisations":${remaining || '0'}},"beneficiary_name":${text(name)},"beneficiary_id":"${beneficiaryId
      }","beneficiary_aml_id":${text(amlId)},"beneficiary_active":${bool(active)},"beneficiary_authorised":${bool(authorised)
      },"beneficiary_blocked":${bool(blocked)},"beneficiary_completed":${bool(completed)},"beneficiary_verified":${bool(verified)
      },"account_number":${text(accountNumber)},"iban":${code(iban)},"bank_identifier":${text(bank)},"swift_code":${code(swiftCode)
      },"multipayment":${multipaymentId && `"MP${multipaymentId.padStart(6, '0')}"` || 'null'},"multipayment_id":${code(multipaymentId)
      },"multipayment_unique_id":${code(multipaymentUniqueId)},"payment_instruction":${documents}pi&id=${link
      },"payment_receipt":${sent === 't' ? `${documents}pr&id=${link}` : 'null'}}`;
  };
}

/** As many texts as `PACKED` has fields: more than are named above would not be read. */
type Fields = [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
];

const NO_ACTIONS = '"allowed":[],"executed":null';

function allowed(authorise: boolean, reject: boolean, cancel: boolean): string {
  if (!authorise && !reject) return cancel ? '"allowed":["cancel"]' : '"allowed":[]';
  const actions = [authorise && '"authorise"', reject && '"reject"', cancel && '"cancel"'].filter(Boolean);
  return `"allowed":[${actions.join(',')}]`;
}

/** The viewer's own last action: a cancellation, else its entry in the list of authorisations (status 1 authorised, 2 rejected). */
function executed(viewer: string, authorisations: string, cancelledBy: string | null): string {
  if (cancelledBy === viewer) return ',"executed":"cancel"';
  if (authorisations === '' || !authorisations.includes(viewer)) return ',"executed":null';
  const own = (JSON.parse(authorisations) as { contact_id: string; status: number }[]).findLast(
    (entry) => entry.contact_id === viewer,
  );
  return own ? `,"executed":"${own.status === 1 ? 'authorise' : 'reject'}"` : ',"executed":null';
}

/** Characters that JSON must escape; also the separators that older readers choke on. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes control characters
const ESCAPED = /["\\\u0000-\u001f\u2028\u2029\ud800-\udfff]/;

function text(value: string | null | undefined): string {
  if (value == null) return 'null';
  return ESCAPED.test(value) ? JSON.stringify(value) : `"${value}"`;
}

/** A code, an identifier or an IBAN: nothing in it needs escaping. */
function code(value: string): string {
  return value === '' ? 'null' : `"${value}"`;
}

function bool(value: string): string {
  return value === 't' ? 'true' : value === 'f' ? 'false' : 'null';
}

function time(value: string): string {
  return value === '' ? 'null' : `"${londonTime(value)}"`;
}

const MAX_CACHED_HOURS = 50_000;
const hours = new BoundedMap<string, [start: string, offset: string]>(MAX_CACHED_HOURS);

/** UTC wall time as PostgreSQL writes it (`2026-07-01 09:15:00.123`) as an instant with the London offset. Offsets change on full hours. */
function londonTime(wall: string): string {
  const hour = wall.slice(0, 13);
  let known = hours.get(hour);
  if (known === undefined) {
    const shown = londonTimestamp(new Date(`${hour.replace(' ', 'T')}:00:00Z`));
    known = [shown.slice(0, 13), shown.slice(19)];
    hours.set(hour, known);
  }
  return known[0] + wall.slice(13, 19) + known[1];
}
