import { first, type Transaction } from '../database/database.ts';
import type { Orderer } from '../payments/orders/order.ts';

/** What a contact may do for a client now. */
export interface Rights {
  client_enabled: boolean;
  contact_enabled: boolean;
  can_create_payments: boolean;
  can_manage_multipayments: boolean;
  can_manage_beneficiaries: boolean;
  can_trade: boolean;
  step_up: boolean;
}

const NONE: Rights = {
  ...{ client_enabled: false, contact_enabled: false, can_create_payments: false, can_manage_multipayments: false },
  ...{ can_manage_beneficiaries: false, can_trade: false, step_up: false },
};

/** What the contact who sent an order may do for its client now. The request may have been long ago. */
export async function rightsOf(tx: Transaction, { clientId, contactId }: Orderer): Promise<Rights> {
  const of = (permission: string) => `coalesce(p.${permission}, false) as ${permission}`;
  const found = first(
    await tx.query<Rights & Record<string, unknown>>(
      `select k.status = 'enabled' as client_enabled, coalesce(c.status = 'enabled', false) as contact_enabled,
         k.approval_step_up as step_up, ${of('can_create_payments')}, ${of('can_manage_multipayments')},
         ${of('can_manage_beneficiaries')}, ${of('can_trade')}
       from clients k
       left join contact_clients p on p.client_id = k.client_id and p.contact_id = $2
       left join contacts c on c.contact_id = p.contact_id
       where k.client_id = $1`,
      [clientId, contactId],
    ),
  );
  return found ?? NONE;
}
