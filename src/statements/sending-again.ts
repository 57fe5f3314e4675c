import type { Act } from '../audit/act.ts';
import { noteChange } from '../audit/change.ts';
import { audit } from '../audit/record.ts';
import { first, leaveWork, type Transaction } from '../database/database.ts';
import { Problem } from '../values/errors.ts';
import { isUuid } from '../values/identifiers.ts';

/**
 * Sends the same statement again. Deliveries that were sent or have failed begin another round, with a new Message-ID for the mail.
 * Deliveries that wait for another attempt are made now. The mail goes to the contact's current address.
 * @param id of the request
 * @returns the number of deliveries that are made
 * @throws Problem statement_not_found; transition_not_allowed if all of them are being made anyway, or if the contact who requested it may
 * no longer read it
 */
export async function sendStatementAgain(tx: Transaction, act: Act, id: string): Promise<{ count: number }> {
  const found = isUuid(id)
    ? first(
        await tx.query<{ client_id: string; contact_id: string; email: boolean }>(
          `select client_id, contact_id, delivery in ('email', 'both') as email from statement_requests where statement_id = $1 for update`,
          [id],
        ),
      )
    : undefined;
  if (!found) throw new Problem('statement_not_found', { field: 'id', message: 'does not exist' });
  const { client_id: clientId, contact_id: contactId, email } = found;
  const reader = first(
    await tx.query<{ name: string; email: string; reads: boolean }>(
      `select name, email, status = 'enabled' and exists (
         select from contact_clients c where c.client_id = $2 and c.contact_id = $1) as reads from contacts where contact_id = $1`,
      [contactId, clientId],
    ),
  );
  if (email && !reader?.reads) {
    const message = 'the contact who asked for it is disabled, or is no longer a contact of the client';
    throw new Problem('transition_not_allowed', { field: 'id', message });
  }
  const again = await tx.query(
    `update statement_deliveries set status = case when status = 'retrying' then status else 'requested' end, due_at = $3,
       round = round + (status <> 'retrying')::int, round_began_at = case when status = 'retrying' then round_began_at else $3 end,
       round_attempts = case when status = 'retrying' then round_attempts else 0 end, finished_at = null
     where client_id = $1 and statement_id = $2 and status in ('sent', 'failed', 'retrying')`,
    [clientId, id, act.now],
  );
  leaveWork(tx, 'statements');
  const count = again.rowCount ?? 0;
  if (count === 0)
    throw new Problem('transition_not_allowed', { field: 'id', message: 'it is being made and has not been sent yet' });
  await tx.query(
    `update statement_requests set email = coalesce($3, email), contact_name = coalesce($4, contact_name)
     where client_id = $1 and statement_id = $2`,
    [clientId, id, reader?.email, reader?.name],
  );
  const after = { action: 'send', count };
  audit(tx, act, { action: 'action', entity: 'statement', entityId: id, clientId, after });
  noteChange(tx, act, { entity: 'statement_request', id, clientId, action: 'update' });
  return { count };
}
