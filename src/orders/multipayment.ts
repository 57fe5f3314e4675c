import type { Db } from '../database/database.ts';
import { Problem } from '../values/errors.ts';
import { isUuid, type PaymentNumber } from '../values/identifiers.ts';

/** Trades that were booked together with the payments that they fund. */
export interface Multipayment {
  multipayment_id: number;
  client_id: string;
  multipayment_unique_id: string;
  contact_id: string;
  status: 'created' | 'rejected';
  trade_ids: string[];
  /** In the order of creation. */
  payments: PaymentNumber[];
}

/** The formatted identifier: `MP000001`. */
export function formattedId(id: number): string {
  return `MP${String(id).padStart(6, '0')}`;
}

/**
 * Finds a multi payment by any of its identifiers: the number, the formatted one, the uuid.
 * @param clientId null: of any client (the operator)
 * @throws Problem multipayment_not_found
 */
export async function findMultipayment(db: Db, clientId: string | null, id: string): Promise<Multipayment> {
  const tenant = clientId === null ? 'm.client_id' : '$2';
  const { rows } = await db.query<Multipayment>(
    `select m.multipayment_id, m.client_id, m.multipayment_unique_id, m.contact_id, m.status,
       array(select t.trade_id from trades t where t.client_id = ${tenant} and t.multipayment_id = m.multipayment_id
         order by t.created_at, t.trade_id) as trade_ids,
       array(select p.id::float8 from payments p where p.client_id = ${tenant} and p.multipayment_id = m.multipayment_id
         order by p.id) as payments
     from multipayments m where ${clientId === null ? '' : 'm.client_id = $2 and '}${condition(id)}`,
    [id.replace(/^MP/i, ''), ...(clientId === null ? [] : [clientId])],
  );
  return rows[0] ?? notFound();
}

/** A multi payment in the form that the operator reads. Its trades and payments are listed by identifier. */
export interface MultipaymentRecord {
  multipayment_id: string;
  multipayment: string;
  multipayment_unique_id: string;
  client_id: string;
  contact_id: string;
  status: 'created' | 'rejected';
  trades: string[];
  payments: string[];
}

/** Multi payments of any clients, for the change feed. @param ids their numbers */
export async function readMultipayments(db: Db, ids: readonly string[]): Promise<MultipaymentRecord[]> {
  const { rows } = await db.query<MultipaymentRecord>(
    `select m.multipayment_id::text as multipayment_id, '' as multipayment, m.multipayment_unique_id, m.client_id, m.contact_id, m.status,
       array(select t.trade_id from trades t where t.client_id = m.client_id and t.multipayment_id = m.multipayment_id
         order by t.created_at, t.trade_id) as trades,
       array(select p.payment_id from payments p where p.client_id = m.client_id and p.multipayment_id = m.multipayment_id
         order by p.id) as payments
     from multipayments m where m.multipayment_id = any($1::bigint[])`,
    [ids],
  );
  return rows.map((row) => ({ ...row, multipayment: formattedId(Number(row.multipayment_id)) }));
}

/** An SQL condition for an identifier. A text in none of the three forms matches no multi payment. */
function condition(id: string): string {
  if (isUuid(id)) return 'm.multipayment_unique_id = $1::uuid';
  if (/^(MP)?\d{1,18}$/i.test(id)) return 'm.multipayment_id = $1::bigint';
  return notFound();
}

function notFound(): never {
  throw new Problem('multipayment_not_found', {
    field: 'multipayment_id',
    message: 'does not exist for this client',
  });
}
