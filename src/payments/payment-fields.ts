import type pg from 'pg';
import { mayApprove } from './viewer-permissions.ts';

/**
 * What the Payment is read from: a single table of names and SQL. The statement and the places of the fields in its rows both come from it,
 * so no field can be read from the place of another.
 *
 * Most fields are packed into one column. A column costs the driver 0.1 us however short it is, so this halves the cost of a page in this
 * process, at no cost to the database. Instants arrive as UTC wall time, so neither the session's time zone nor a Date object is involved.
 * `p`: payments, `b`: beneficiaries, `m`: multipayments, `pa`: payment_approvals, `pv`: payment_approvers of the viewer.
 */

/** Fields that cannot contain the separator: identifiers, codes, numbers, flags, dates and JSON. Null is an empty text. */
const PACKED = [
  ['payment_id', 'p.payment_id'],
  ['contact_id', 'p.contact_id'],
  ['trade_id', 'p.trade_id'],
  ['uuid', 'p.uuid'],
  ['scheme', 'p.scheme'],
  ['amount', 'p.amount'],
  ['payment_currency', 'p.payment_currency'],
  ['fee_amount', 'p.fee_amount'],
  ['fee_currency', 'p.fee_currency'],
  ['status', 'p.status'],
  ['invoice_required', 'p.invoice_required'],
  ['created', "p.created at time zone 'UTC'"],
  ['payment_date', 'p.payment_date'],
  ['authorised_date', "p.authorised_date at time zone 'UTC'"],
  ['cancelled_date', "p.cancelled_date at time zone 'UTC'"],
  ['rejected_date', "p.rejected_date at time zone 'UTC'"],
  ['authorisation_workflow', 'p.authorisation_workflow'],
  ['authorisations', 'pa.authorisations'],
  ['may_authorise', 'pv.may_authorise'],
  ['may_reject', 'pv.may_reject'],
  ['approval_status', 'pa.status'],
  ['remaining', 'pa.remaining'],
  ['beneficiary_id', 'p.beneficiary_id'],
  ['beneficiary_active', 'b.active'],
  ['beneficiary_authorised', 'b.authorised'],
  ['beneficiary_blocked', 'b.blocked'],
  ['beneficiary_completed', 'b.completed'],
  ['beneficiary_verified', 'b.verified'],
  ['iban', 'p.iban'],
  ['swift_code', 'p.swift_code'],
  ['multipayment_id', 'p.multipayment_id'],
  ['multipayment_unique_id', 'm.multipayment_unique_id'],
  ['sent', 'p.sent_date is not null'],
  ['return_started', 'p.return_started'],
  ['mass_payment_id', 'p.mass_payment_id'],
] as const;

/** The columns of a row: the packed fields, and one column for each text that people wrote, because it can contain anything. */
const COLUMNS = [
  ['packed', `concat(${expressions(PACKED, ", E'\\x1f', ")})`],
  ['reference', 'p.reference'],
  ['charges', 'p.charges'],
  ['ordered_by_name', 'p.ordered_by_name'],
  ['authorised_by', 'p.authorised_by'],
  ['cancelled_by', 'p.cancelled_by'],
  ['rejected_by', 'p.rejected_by'],
  ['reason', 'p.reason'],
  ['beneficiary_name', 'p.beneficiary_name'],
  ['beneficiary_aml_id', 'b.beneficiary_aml_id'],
  ['account_number', 'p.account_number'],
  ['bank_identifier', 'p.bank_identifier'],
  // Only the institution sees this. Clients search without it.
  ['ordered', 'null'],
] as const;

type Table = readonly (readonly [name: string, sql: string])[];
/** The place of each name in a table, as a literal type. So the compiler knows that a row's tuple has the field. */
type Places<T extends Table> = {
  readonly [I in Extract<keyof T, `${number}`> as T[I][0]]: I extends `${infer Place extends number}` ? Place : never;
};
/** A tuple of a table's fields, in order. */
type Texts<T extends Table, Field> = { readonly [I in keyof T]: Field };

function places<const T extends Table>(table: T): Places<T> {
  return Object.fromEntries(table.map(([name], place) => [name, place])) as Places<T>;
}

function expressions(table: Table, separator: string): string {
  return table.map(([, sql]) => sql).join(separator);
}

const SEPARATOR = '\x1f';

/** What a client gave with its order, as JSON; null for an institution's payment without any of it. */
const ORDERED = `case when p.source = 'client' or p.information is not null then
  json_build_object('source', p.source, 'reason', coalesce(p.order_reason, p.reason), 'purpose_of_payment', p.purpose_of_payment,
    'email_beneficiary', p.email_beneficiary, 'account_id', p.account_id, 'funding_account_id', p.funding_account_id, 'quote_id', p.quote_id,
    'request_index', p.request_index, 'instruction_id', p.instruction_id, 'end_to_end_id', p.end_to_end_id,
    'information', p.information, 'hold_released', p.hold_released)::text end`;

/** The columns of a Payment, for a `select`. */
export const PAYMENT_COLUMNS = expressions(COLUMNS, ', ');
/** The columns of a Payment in the form that the institution sees. */
export const INSTITUTION_COLUMNS = expressions(
  COLUMNS.map(([name, sql]) => [name, name === 'ordered' ? ORDERED : sql]),
  ', ',
);
/** The index of `mayManage` in a row. Statements select it right after `PAYMENT_COLUMNS`. */
export const MAY_MANAGE = COLUMNS.length;

/** The index of each text in a row. */
export const COLUMN_AT = places(COLUMNS);
/** The index of each packed field in the result of `unpack`. */
export const FIELD_AT = places(PACKED);

/** A row of `PAYMENT_COLUMNS`, and of what was selected after them, as texts of PostgreSQL. */
export type PaymentTexts = [...Texts<typeof COLUMNS, string | null>, ...after: (string | null)[]];

type Names<T extends Table> = T[number][0];
/** The values from which a payment is written, by field. An absent value is null. */
export type PaymentValues = Partial<
  Record<Names<typeof PACKED> | Exclude<Names<typeof COLUMNS>, 'packed'>, string | null>
>;

const PACKED_NAMES = PACKED.map(([name]) => name);
const TEXT_NAMES = COLUMNS.map(([name]) => name).filter((name) => name !== 'packed');

/** The packed fields, unpacked. */
export type PaymentFields = Texts<typeof PACKED, string>;

/** The fields and the row texts of a payment that is not read from the database, in PostgreSQL's spelling. */
export function paymentFields(values: PaymentValues): { fields: PaymentFields; row: PaymentTexts } {
  // Both lists are made from the tables, but no type can express that a mapped list has the places of its table.
  const fields = PACKED_NAMES.map((name) => values[name] ?? '') as unknown as PaymentFields;
  const row = ['', ...TEXT_NAMES.map((name) => values[name] ?? null)] as unknown as PaymentTexts;
  return { fields, row };
}

/** The packed fields of a row. */
export function unpack(row: PaymentTexts): PaymentFields {
  // As in paymentFields: the packed fields have the places of the table.
  return (row[COLUMN_AT.packed] as string).split(SEPARATOR) as unknown as PaymentFields;
}

/** Whether a row of outer joins contains no payment. */
export function isEmpty(row: PaymentTexts): boolean {
  return (row[COLUMN_AT.packed] as string).startsWith(SEPARATOR);
}

/**
 * The payments `p` of the client `$1` that have the payment_ids `$2`. `offset 0` makes each a look-up by key. Otherwise the planner, which
 * knows only how many payments a client has on average, may scan the index of all the client's payments.
 */
export const PAYMENTS_BY_ID = `unnest($2::text[]) as w (payment_id)
  cross join lateral (select * from payments where client_id = $1 and payment_id = w.payment_id offset 0) p`;

/**
 * The tables that `PAYMENT_COLUMNS` needs in addition to `p`. Each names the tenant itself. `offset 0` makes each a look-up by key for each
 * payment. Otherwise the planner, which knows only averages, may read and hash all the client's rows.
 * @param client,viewer SQL parameters; viewer is omitted if no particular contact asks
 */
export function paymentJoins(client: string, viewer?: string): string {
  const found = (alias: string, columns: string, from: string) =>
    `left join lateral (select ${columns} from ${from} offset 0) ${alias} on true`;
  return [
    found('b', BENEFICIARY, `beneficiaries b where b.client_id = ${client} and b.beneficiary_id = p.beneficiary_id`),
    found(
      'm',
      'm.multipayment_unique_id',
      `multipayments m where m.client_id = ${client} and m.multipayment_id = p.multipayment_id`,
    ),
    found(
      'pa',
      'pa.authorisations, pa.status, pa.remaining',
      `payment_approvals pa where pa.client_id = ${client} and pa.payment_id = p.id`,
    ),
    found(
      'pv',
      'pv.may_authorise, pv.may_reject',
      viewer === undefined
        ? '(select null::boolean as may_authorise, null::boolean as may_reject) pv'
        : `payment_approvers pv where pv.client_id = ${client} and pv.contact_id = ${viewer} and pv.payment_id = p.id and ${mayApprove(client, viewer)}`,
    ),
  ].join('\n  ');
}

const BENEFICIARY = `b.beneficiary_name, b.beneficiary_aml_id, b.account_number, b.iban, b.swift_code, b.bank_identifier, b.active,
  b.authorised, b.blocked, b.completed, b.verified`;

/** Leaves PostgreSQL's texts unparsed, because they are only written out again. */
export const AS_TEXT: pg.CustomTypesConfig = { getTypeParser: () => (text: string) => text };
