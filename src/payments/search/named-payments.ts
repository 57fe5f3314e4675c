import { overCells, unionOfCells } from '../../database/cells/union.ts';
import type { Db } from '../../database/database.ts';
import { isUuid } from '../../values/identifiers.ts';

/** A payment in the results of a global search. */
export interface NamedPayment {
  client_id: string;
  payment_id: string;
  amount: string;
  payment_currency: string;
  beneficiary_name: string;
  reference: string | null;
  status: string;
  created: Date;
}

const COLUMNS = `p.client_id, p.payment_id, p.amount::text as amount, p.payment_currency, p.beneficiary_name, p.reference,
  p.status::text as status, p.created`;

/**
 * The columns with names that a client or its file gives a payment. Each has an index that begins with the client, so it is searched once
 * for each client.
 */
const CALLED = ['reference', 'mass_payment_external_reference_id', 'instruction_id', 'end_to_end_id'] as const;

const BY_ID = `select ${COLUMNS} from payments p where p.payment_id = $1
  union select ${COLUMNS} from payments p where p.uuid = $2`;
const NAMED = `${BY_ID}
  ${CALLED.map(
    (column) => `union select p.* from clients c cross join lateral (
    select ${COLUMNS} from payments p where p.client_id = c.client_id and p.${column} = $1 order by p.created desc, p.id desc limit $3) p`,
  ).join('\n')}
  order by created desc, payment_id limit $3`;
/** The same for a cell on a Citus worker, where a subquery cannot depend on each client. */
const NAMED_IN_CELL = `${BY_ID}
  ${CALLED.map(
    (column) => `union (select ${COLUMNS} from payments p
    where p.client_id = any(array(select client_id from clients)) and p.${column} = $1 order by p.created desc, p.id desc limit $3)`,
  ).join('\n')}`;

/** The payments of all clients that a text names: by identifier, UETR, reference or a name from a file. The newest come first. */
export async function paymentsNamed(db: Db, text: string, limit: number): Promise<NamedPayment[]> {
  const { rows } = await db.query<NamedPayment & Record<string, unknown>>(
    unionOfCells(db, 'payments')
      ? `select * from (${unionOfCells(db, 'payments')?.(NAMED_IN_CELL)}) p order by created desc, payment_id limit $3`
      : NAMED,
    [text, isUuid(text) ? text : null, limit],
  );
  return rows;
}

const NEWEST = `select ${COLUMNS}, p.id from payments p order by p.id desc limit $1`;

/** The payments of all clients that came last, the newest first. Their ids are the order in which they came, so this reads only them. */
export async function newestPayments(db: Db, limit: number): Promise<NamedPayment[]> {
  const { rows } = await db.query<NamedPayment & Record<string, unknown>>(
    `select client_id, payment_id, amount, payment_currency, beneficiary_name, reference, status, created
    from ${overCells(db, 'payments', NEWEST)} p order by created desc, p.id desc limit $1`,
    [limit],
  );
  return rows;
}

const TO_PAYEES = `select ${COLUMNS}, p.id, n.place from unnest($1::text[], $2::text[]) with ordinality as n(client_id, beneficiary_id, place)
  cross join lateral (select * from payments p where p.client_id = n.client_id and p.beneficiary_id = n.beneficiary_id
    order by p.created desc, p.id desc limit $3) p`;

/**
 * The payments to some payees: for each the newest first, one payee after the other.
 * @param limit the most payments to each
 */
export async function paymentsTo(
  db: Db,
  payees: readonly { client_id: string; beneficiary_id: string }[],
  limit: number,
): Promise<NamedPayment[]> {
  if (payees.length === 0) return [];
  const { rows } = await db.query<NamedPayment & Record<string, unknown>>(
    `select client_id, payment_id, amount, payment_currency, beneficiary_name, reference, status, created
    from ${overCells(db, 'payments', TO_PAYEES)} p order by place, created desc, p.id desc`,
    [payees.map((payee) => payee.client_id), payees.map((payee) => payee.beneficiary_id), limit],
  );
  return rows;
}
