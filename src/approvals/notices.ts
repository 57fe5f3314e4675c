import type { Transaction } from '../database/database.ts';
import { RowList } from '../database/row-list.ts';
import type { PaymentNumber } from '../values/identifiers.ts';

/**
 * Records who gets a mail about a payment (src/mails/). A notice is written in the transaction of its cause, so none is lost. It stays
 * while the payment waits, so nobody gets the mail twice.
 */

/** Extends a statement that writes approvers: whoever may authorise and has no notice yet gets one. */
export function telling(write: string): string {
  return `with written as (${write} returning client_id, payment_id, contact_id, may_authorise)
    insert into payment_notices (client_id, payment_id, contact_id)
    select client_id, payment_id, contact_id from written where may_authorise on conflict do nothing`;
}

/** A person who gets a mail, and the payment. */
export interface Notice {
  clientId: string;
  id: PaymentNumber;
  contactId: string;
}

/** Writes notices for contacts who may authorise payments now and have none yet. */
export async function tellWaiting(tx: Transaction, notices: Notice[]): Promise<void> {
  if (notices.length === 0) return;
  tx.later({
    name: 'payment-notices-write',
    text: `insert into payment_notices (client_id, payment_id, contact_id)
      select * from unnest($1::text[], $2::bigint[], $3::text[]) on conflict do nothing`,
    values: [
      notices.map(({ clientId }) => clientId),
      notices.map(({ id }) => id),
      notices.map(({ contactId }) => contactId),
    ],
  });
}

/** Writes notices for the creators of rejected payments, except those who rejected their own. */
export async function tellRejections(
  tx: Transaction,
  rejected: { clientId: string; id: PaymentNumber; contactId: string; now: Date }[],
): Promise<void> {
  if (rejected.length === 0) return;
  const list = new RowList(rejected, ({ clientId }) => clientId, {
    id: { type: 'bigint', of: ({ id }) => id },
    contact: { type: 'text', of: ({ contactId }) => contactId },
    now: { type: 'timestamptz', of: ({ now }) => now },
  });
  tx.later({
    name: list.named('mails-rejection'),
    text: `insert into mails (kind, contact_id, client_id, payment_id, created_at, due_at)
      select 'rejection', p.contact_id, p.client_id, p.id, ${list.at('now')}, ${list.at('now')} from payments p ${list.after('cross join')}
      where p.client_id = ${list.client} and p.id = ${list.at('id')} and p.contact_id <> ${list.at('contact')}`,
    values: list.values,
  });
}
