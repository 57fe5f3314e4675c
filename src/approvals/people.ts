import { type Db, first } from '../database/database.ts';

/** A contact of a client whom groups can name. */
export interface ClientPerson {
  id: string;
  name: string;
  email: string;
  /** Whether an approval of this person counts now. */
  may_authorise: boolean;
}

/** What decides approvals in addition to the ruleset, and who there is to approve. */
export interface ApprovalScene {
  authorisation_workflow: string;
  payment_approvals_enabled: boolean;
  payment_creator_approval_enabled: boolean;
  approval_step_up: boolean;
  people: ClientPerson[];
}

/** What the form of a client's approval rules needs: its settings, and its contacts by name. */
export async function approvalScene(db: Db, clientId: string): Promise<ApprovalScene | undefined> {
  return first(
    await db.query<ApprovalScene & Record<string, unknown>>(
      `select c.authorisation_workflow, c.payment_approvals_enabled, c.payment_creator_approval_enabled, c.approval_step_up,
         coalesce((select json_agg(json_build_object('id', k.contact_id, 'name', k.name, 'email', k.email,
             'may_authorise', m.can_authorise_payments and k.status = 'enabled') order by k.name, k.contact_id)
           from contact_clients m join contacts k on k.contact_id = m.contact_id where m.client_id = $1), '[]') as people
       from clients c where c.client_id = $1`,
      [clientId],
    ),
  );
}
