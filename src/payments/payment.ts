import { type Db, first } from '../database/database.ts';
import { RowList } from '../database/row-list.ts';
import { Problem } from '../values/errors.ts';
import type { PaymentId, PaymentNumber } from '../values/identifiers.ts';
import { present } from '../values/unknown.ts';
import {
  AS_TEXT,
  FIELD_AT,
  INSTITUTION_COLUMNS,
  MAY_MANAGE,
  PAYMENT_COLUMNS,
  PAYMENTS_BY_ID,
  type PaymentFields,
  type PaymentTexts,
  paymentJoins,
  unpack,
} from './payment-fields.ts';
import { createFieldsWriter, createPaymentWriter } from './payment-json.ts';
import type { PaymentView, Presentation } from './presentation.ts';
import { mayManage, withPermissions } from './viewer-permissions.ts';

/** Payments as JSON texts, exactly as the search shows them, in the order of the numbers. Payments of other clients are left out. */
export async function paymentBodies(db: Db, view: PaymentView, numbers: readonly PaymentNumber[]): Promise<string[]> {
  return (await paymentRecords(db, view, numbers)).map(({ text }) => text);
}

/** Like `paymentBodies`, with what the change feed needs to know about each. */
export async function paymentRecords(
  db: Db,
  view: PaymentView,
  numbers: readonly PaymentNumber[],
): Promise<PaymentRecord[]> {
  const statement = await withPermissions(db, {
    name: view.institution ? 'payment_bodies_institution' : 'payment_bodies',
    text: `select ${view.institution ? INSTITUTION_COLUMNS : PAYMENT_COLUMNS}, ${mayManage('$1', '$2')}
      from unnest($3::bigint[]) with ordinality as wanted (id, place)
      cross join lateral (select * from payments where client_id = $1 and id = wanted.id offset 0) p
      ${paymentJoins('$1', '$2')} order by wanted.place`,
    values: [view.clientId, view.viewer, numbers],
  });
  const { rows } = await db.query<PaymentTexts>({ ...statement, rowMode: 'array', types: AS_TEXT });
  const write = createFieldsWriter(view);
  return rows.map((row) => {
    const fields = unpack(row);
    return recordOf(fields, write(fields, row, row[MAY_MANAGE] === 't'));
  });
}

/** A payment in the form that its client sees, and in the form that the institution sees. */
export interface PaymentForms {
  /** JSON, seen by no particular contact. */
  body: string;
  record: PaymentRecord;
}

/** A payment, with its client and its number. */
export interface PlacedPayment {
  clientId: string;
  paymentId: PaymentId;
  id: PaymentNumber;
}

/** Both forms of payments, by `payment_id`. @param payments at least one, of any clients */
export async function paymentForms(
  db: Db,
  view: Presentation & { now: Date },
  payments: readonly PlacedPayment[],
): Promise<Map<string, PaymentForms>> {
  const list = new RowList(payments, ({ clientId }) => clientId, { id: { type: 'bigint', of: ({ id }) => id } });
  const { rows } = await db.query<PaymentTexts>({
    name: list.named('payment-forms'),
    text: `select ${INSTITUTION_COLUMNS} from ${list.before('cross join lateral')}
        (select * from payments where client_id = ${list.client} and id = ${list.at('id')} offset 0) p ${paymentJoins(list.client)}`,
    values: list.values,
    rowMode: 'array',
    types: AS_TEXT,
  });
  const owners = new Map(payments.map(({ clientId, paymentId }) => [paymentId as string, clientId]));
  const writers = new Map(
    [...new Set(owners.values())].map((clientId) => {
      const own = { ...view, clientId, viewer: null };
      return [clientId, [createFieldsWriter(own), createFieldsWriter({ ...own, institution: true })] as const];
    }),
  );
  return new Map(
    rows.map((row) => {
      const fields = unpack(row);
      const [write, writeForInstitution] = present(writers.get(present(owners.get(fields[FIELD_AT.payment_id]))));
      const record = recordOf(fields, writeForInstitution(fields, row, false));
      return [record.payment_id, { body: write(fields, row, false), record }];
    }),
  );
}

/** A payment in the form that a reader sees. */
export interface PaymentRecord {
  payment_id: string;
  amount: string;
  currency: string;
  /** JSON. */
  text: string;
}

/** Payments of a client in the form that the operator reads, for the change feed. */
export async function readPayments(
  db: Db,
  presentation: Presentation,
  now: Date,
  { clientId, ids }: { clientId: string; ids: readonly string[] },
): Promise<PaymentRecord[]> {
  const { rows } = await db.query<PaymentTexts>({
    name: 'payment_records',
    text: `select ${INSTITUTION_COLUMNS} from ${PAYMENTS_BY_ID} ${paymentJoins('$1')}`,
    values: [clientId, ids],
    rowMode: 'array',
    types: AS_TEXT,
  });
  const write = createFieldsWriter({ clientId, viewer: null, institution: true, now, ...presentation });
  return rows.map((row) => {
    const fields = unpack(row);
    return recordOf(fields, write(fields, row, false));
  });
}

function recordOf(fields: PaymentFields, text: string): PaymentRecord {
  const { payment_id: id, amount, payment_currency: currency } = FIELD_AT;
  return { payment_id: fields[id], amount: fields[amount], currency: fields[currency], text };
}

/** A payment of the client as JSON text; undefined if the client has no such payment (GET /payments/{payment_id}). */
export async function paymentBody(db: Db, view: PaymentView, paymentId: PaymentId): Promise<string | undefined> {
  const statement = await withPermissions(db, {
    name: 'payment_body',
    text: `select ${PAYMENT_COLUMNS}, ${mayManage('$1', '$2')} from payments p ${paymentJoins('$1', '$2')}
      where p.client_id = $1 and p.payment_id = $3`,
    values: [view.clientId, view.viewer, paymentId],
  });
  const { rows } = await db.query<PaymentTexts>({ ...statement, rowMode: 'array', types: AS_TEXT });
  const row = rows[0];
  return row && createPaymentWriter(view)(row, row[MAY_MANAGE] === 't');
}

/** @throws Problem payment_not_found, always */
export function noPayment(message?: string): never {
  throw unknownPayment(message);
}

export function unknownPayment(message = 'does not exist for this client'): Problem {
  return new Problem('payment_not_found', { field: 'payment_id', message });
}

/** The number and the client of any client's payment, for the operator. */
export interface PaymentOwner {
  id: PaymentNumber;
  client_id: string;
}

/** @throws Problem payment_not_found */
export async function findPaymentOwner(db: Db, paymentId: string): Promise<PaymentOwner> {
  const owner = first(
    await db.query<{ id: PaymentNumber; client_id: string }>(
      'select id, client_id from payments where payment_id = $1',
      [paymentId],
    ),
  );
  return owner ?? noPayment('does not exist');
}
