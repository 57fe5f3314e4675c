import type { Db, Transaction } from '../database/database.ts';
import type { PaymentNumber } from '../values/identifiers.ts';

/** What a contact did with a payment. */
export interface PaymentAct {
  clientId: string;
  id: PaymentNumber;
  contactId: string;
  action: 'authorise' | 'reject' | 'cancel';
  now: Date;
  /** The operator token that acted in the contact's name. */
  onBehalfBy?: string | undefined;
}

/** Stores what contacts did, for the list of each contact's own decisions. */
export async function keepActs(tx: Transaction, acts: PaymentAct[]): Promise<void> {
  tx.later({
    name: 'payment-decisions-keep',
    text: `insert into payment_decisions (client_id, contact_id, at, payment_id, action, on_behalf)
      select * from unnest($1::text[], $2::text[], $3::timestamptz[], $4::bigint[], $5::text[], $6::boolean[])`,
    values: [
      acts.map(({ clientId }) => clientId),
      acts.map(({ contactId }) => contactId),
      acts.map(({ now }) => now),
      acts.map(({ id }) => id),
      acts.map(({ action }) => action),
      acts.map(({ onBehalfBy }) => onBehalfBy !== undefined),
    ],
  });
}

/** An entry in the list of what a contact did. */
export interface OwnAct {
  payment_id: PaymentNumber;
  at: Date;
  action: PaymentAct['action'];
  on_behalf: boolean;
}

/** What a contact did with a client's payments, the newest first. */
export async function listActs(
  db: Db,
  { clientId, contactId }: { clientId: string; contactId: string },
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: OwnAct[]; total: number }> {
  const { rows } = await db.query<OwnAct & { total: number }>({
    name: 'payment-decisions-list',
    text: `select d.payment_id, d.at, d.action, d.on_behalf, t.total
      from (select count(*) as total from payment_decisions where client_id = $1 and contact_id = $2) t
      left join lateral (select payment_id, at, action, on_behalf from payment_decisions
        where client_id = $1 and contact_id = $2 order by at desc, payment_id desc limit $3 offset $4) d on true
      order by d.at desc, d.payment_id desc`,
    values: [clientId, contactId, limit, offset],
  });
  return { rows: rows.filter((row) => row.payment_id !== null), total: rows[0]?.total ?? 0 };
}
