import { BoundedMap } from '../values/bounded-map.ts';
import { londonTimestamp } from '../values/calendar.ts';
import { BEFORE_EXECUTING } from './moves.ts';
import { FIELD_AT as AT, COLUMN_AT, type PaymentFields, type PaymentTexts, unpack } from './payment-fields.ts';
import type { PaymentView } from './presentation.ts';

/**
 * The Payment in the form that clients see (service interface, Payment). Every field is always present, in the specification's order, and
 * null if it has no value. The text is written by hand from rows of texts. A page of 50 then takes half the time of objects and
 * JSON.stringify (docs/performance.md).
 */

/** Days after its creation during which a SWIFT payment can be tracked (service interface, Limits). */
const TRACKING_DAYS = 124;
const DAY_MS = 86_400_000;

const BEFORE_SENDING = new Set<string>(BEFORE_EXECUTING);
const CANCELLED = 'Payment cancelled';
/** The approval status of a payment without a stored approval; 'Approved' for every other status. */
const APPROVAL_STATUS: Record<string, string> = {
  'Payment pending of authorization': 'Pending approval',
  'Payment rejected': 'Rejected',
  [CANCELLED]: 'Cancelled',
};

/** Writes one row as a Payment. @param manages whether the viewer may manage the client's payments */
export type PaymentWriter = (row: PaymentTexts, manages: boolean) => string;

/** Makes the writer of one view. */
export function createPaymentWriter(view: PaymentView): PaymentWriter {
  const write = createFieldsWriter(view);
  return (row, manages) => write(unpack(row), row, manages);
}

/** Like `createPaymentWriter`, for fields that are not packed. The writer reads only the texts of the row. */
export function createFieldsWriter(
  view: PaymentView,
): (fields: PaymentFields, row: PaymentTexts, manages: boolean) => string {
  const documents = `${JSON.stringify(`${view.apiUrl}/documents?type=`).slice(0, -1)}`;
  const client = `&client_id=${encodeURIComponent(view.clientId)}"`;
  const owner = view.institution ? `"client_id":${JSON.stringify(view.clientId)},` : '';
  const trackedSince = wallTime(new Date(view.now.getTime() - TRACKING_DAYS * DAY_MS));
  return (f, row, manages) => {
    const status = f[AT.status];
    const created = londonTime(f[AT.created]);
    const tracked =
      f[AT.scheme] === 'SWIFT' &&
      status !== CANCELLED &&
      f[AT.created] > trackedSince &&
      created.slice(0, 10) > view.trackingCutoff;
    const link = `${f[AT.payment_id]}${client}`;
    const multipayment = f[AT.multipayment_id];
    const ordered = view.institution ? row[COLUMN_AT.ordered] : null;
    const reason = text(row[COLUMN_AT.reason]);
    // The institution reads the reason of an order in `ordered`.
    const why = reason === 'null' || ordered !== null ? '' : `,"reason":${reason}`;
    // One line for each part of the specification's table. The formatter would hide the order of the fields.
    // biome-ignore format: the order of the fields is what matters here
    return `{${owner}"payment_id":"${f[AT.payment_id]}","contact_id":"${f[AT.contact_id]}","trade_id":"${f[AT.trade_id]}","uuid":"${f[AT.uuid]
      }","is_uuid_used_for_tracking":${tracked},"amount":${f[AT.amount]},"payment_currency":${code(f[AT.payment_currency])
      },"fee_amount":${f[AT.fee_amount] || 'null'},"fee_currency":${code(f[AT.fee_currency])
      },"reference":${text(row[COLUMN_AT.reference])},"status":"${status}","charges":${text(row[COLUMN_AT.charges])
      },"invoice_required":${bool(f[AT.invoice_required])},"ordered_by_name":${text(row[COLUMN_AT.ordered_by_name])
      },"created_date":"${created}","payment_date":"${f[AT.payment_date]
      }","authorised_by":${text(row[COLUMN_AT.authorised_by])},"authorised_date":${time(f[AT.authorised_date])
      },"cancelled_by":${text(row[COLUMN_AT.cancelled_by])},"cancelled_date":${time(f[AT.cancelled_date])
      },"rejected_by":${text(row[COLUMN_AT.rejected_by])},"rejected_date":${time(f[AT.rejected_date])
      }${why},"authorisation_workflow":${code(f[AT.authorisation_workflow])
      },"approvals_workflow":{"authorisations":${view.institution ? f[AT.authorisations] || '[]' : authorisations(f[AT.authorisations])
      },"contact_authorisation_actions":{${actions(row, f, view.viewer, manages)
      }},"n_eyes_plus_status":"${f[AT.approval_status] || (APPROVAL_STATUS[status] ?? 'Approved')
      }","minimum_remaining_authorisations":${f[AT.remaining] || '0'
      }},"beneficiary_name":${text(row[COLUMN_AT.beneficiary_name])},"beneficiary_id":"${f[AT.beneficiary_id]
      }","beneficiary_aml_id":${text(row[COLUMN_AT.beneficiary_aml_id])},"beneficiary_active":${bool(f[AT.beneficiary_active])
      },"beneficiary_authorised":${bool(f[AT.beneficiary_authorised])},"beneficiary_blocked":${bool(f[AT.beneficiary_blocked])
      },"beneficiary_completed":${bool(f[AT.beneficiary_completed])},"beneficiary_verified":${bool(f[AT.beneficiary_verified])
      },"account_number":${text(row[COLUMN_AT.account_number])},"iban":${code(f[AT.iban])
      },"bank_identifier":${text(row[COLUMN_AT.bank_identifier])},"swift_code":${code(f[AT.swift_code])
      },"multipayment":${multipayment && `"MP${multipayment.padStart(6, '0')}"` || 'null'},"multipayment_id":${code(multipayment)
      },"multipayment_unique_id":${code(f[AT.multipayment_unique_id])},"payment_instruction":${documents}pi&id=${link
      },"payment_receipt":${f[AT.sent] === 't' ? `${documents}pr&id=${link}` : 'null'
      }${view.institution ? `,"scheme":${code(f[AT.scheme])},"mass_payment_id":${code(f[AT.mass_payment_id])},"decision_reason":${reason
      },${ordered?.slice(1, -1) ?? UNORDERED}` : ''}}`;
  };
}

/** What the institution reads if no client ordered the payment. */
const UNORDERED = JSON.stringify({
  ...{ source: 'institution', purpose_of_payment: null, email_beneficiary: null, account_id: null },
  ...{ funding_account_id: null, quote_id: null, request_index: null, instruction_id: null },
  ...{ end_to_end_id: null, information: null, hold_released: false },
}).slice(1, -1);

/** Approvals in the form that clients see. They do not show which token of the institution gave one. */
function authorisations(stored: string): string {
  if (!stored.includes('"on_behalf_by":"')) return stored || '[]';
  const list = JSON.parse(stored) as { on_behalf_by: string | null }[];
  return JSON.stringify(list.map((each) => ({ ...each, on_behalf_by: each.on_behalf_by && 'institution' })));
}

/** UTC wall time in PostgreSQL's form, with all digits of the milliseconds. */
export function wallTime(instant: Date): string {
  return instant.toISOString().replace('T', ' ').slice(0, 23);
}

/** What the viewer may do now, and what it did last. */
function actions(row: PaymentTexts, f: PaymentFields, viewer: string | null, manages: boolean): string {
  if (viewer === null) return '"allowed":[],"executed":null';
  const ends = manages || f[AT.contact_id] === viewer;
  const cancel = ends && f[AT.return_started] !== 't' && BEFORE_SENDING.has(f[AT.status]);
  const allow = allowed(f[AT.may_authorise] === 't', f[AT.may_reject] === 't', cancel);
  return allow + executed(viewer, f[AT.authorisations], row[COLUMN_AT.cancelled_by]);
}

function allowed(authorise: boolean, reject: boolean, cancel: boolean): string {
  if (!authorise && !reject) return cancel ? '"allowed":["cancel"]' : '"allowed":[]';
  const list = [authorise && '"authorise"', reject && '"reject"', cancel && '"cancel"'].filter(Boolean);
  return `"allowed":[${list.join(',')}]`;
}

/** The viewer's last action: its cancellation, or else its entry in the list of authorisations (status 1 authorised, 2 rejected). */
function executed(viewer: string, authorisations: string, cancelledBy: string | null): string {
  if (cancelledBy === viewer) return ',"executed":"cancel"';
  if (authorisations === '' || !authorisations.includes(viewer)) return ',"executed":null';
  const own = (JSON.parse(authorisations) as { contact_id: string; status: number }[]).findLast(
    (entry) => entry.contact_id === viewer,
  );
  return own ? `,"executed":"${own.status === 1 ? 'authorise' : 'reject'}"` : ',"executed":null';
}

/** Characters that JSON must escape, and the separators that older parsers reject. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes control characters
const ESCAPED = /["\\\u0000-\u001f\u2028\u2029\ud800-\udfff]/;

function text(value: string | null): string {
  if (value === null) return 'null';
  return ESCAPED.test(value) ? JSON.stringify(value) : `"${value}"`;
}

/** A code, an identifier or an IBAN as JSON. Such a text needs no escaping. */
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

/**
 * Writes an instant with its Europe/London offset. The offset changes only on full hours, so each hour is converted once.
 * @param wall UTC wall time in PostgreSQL's form: `2026-07-01 09:15:00.123`
 * @returns `2026-07-01T10:15:00+01:00`, without the fraction of a second
 */
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
