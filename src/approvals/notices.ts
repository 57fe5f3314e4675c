import type { Transaction } from '../database/database.ts';
import type { PaymentNumber } from '../values/identifiers.ts';

/**
 * Who gets a mail about a payment (src/mails/). A notice is written in the transaction of its cause, so that none is lost, and stays
 * while the payment waits, so that nobody gets the mail twice.
 */

/** A statement that writes approvers `$1` is the client of, and a notice for each who may authorise and has none. */
export function telling(write: string): string {
  return `with written as (${write} returning payment_id, contact_id, may_authorise)
    insert into payment_notices (client_id, payment_id, contact_id)
    select $1, payment_id, contact_id from written where may_authorise on conflict do nothing`;
}

/** Who gets a mail about which payment. */
export interface Notice {
  clientId: string;
  id: PaymentNumber;
  contactId: string;
}

/** Notices for contacts who may authorise payments now, except for those who have one. */
export async function tellWaiting(tx: Transaction, notices: Notice[]): Promise<void> {
  if (notices.length === 0) return;
  await tx.query(
    `insert into payment_notices (client_id, payment_id, contact_id)
     select * from unnest($1::text[], $2::bigint[], $3::text[]) on conflict do nothing`,
    [notices.map(({ clientId }) => clientId), notices.map(({ id }) => id), notices.map(({ contactId }) => contactId)],
  );
}

/** Removes the notices of a payment that no longer waits: nobody gets a mail about it. */
export async function removeNotices(tx: Transaction, payment: { clientId: string; id: PaymentNumber }): Promise<void> {
  await tx.query({
    name: 'notices-remove',
    text: 'delete from payment_notices where client_id = $1 and payment_id = $2',
    values: [payment.clientId, payment.id],
  });
}

/** Tells the creator that the payment was rejected, unless the creator did it. */
export async function tellRejection(
  tx: Transaction,
  rejected: { clientId: string; id: PaymentNumber; contactId: string; now: Date },
): Promise<void> {
  await tx.query(
    `insert into mails (kind, contact_id, client_id, payment_id, created_at, due_at)
     select 'rejection', p.contact_id, $1, p.id, $4, $4 from payments p where p.client_id = $1 and p.id = $2 and p.contact_id <> $3`,
    [rejected.clientId, rejected.id, rejected.contactId, rejected.now],
  );
}
