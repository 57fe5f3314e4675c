import type { Transaction } from '../database.ts';
import { Problem } from '../errors.ts';

/** @throws Problem client_not_found, contact_not_found */
export async function clientExists(
  tx: Transaction,
  clientId: string,
  contactId?: string,
  field = 'body',
): Promise<void> {
  const { rows } = await tx.query<{ client: boolean; contact: boolean }>(
    `select exists (select from clients where client_id = $1) as client,
       exists (select from contact_clients where client_id = $1 and contact_id = $2) as contact`,
    [clientId, contactId ?? null],
  );
  if (!rows[0]?.client) throw new Problem('client_not_found', `${field}.client_id: is no client`);
  if (contactId !== undefined && !rows[0].contact)
    throw new Problem('contact_not_found', `${field}.contact_id: is no contact of the client`);
}
