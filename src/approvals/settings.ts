import { type Db, first } from '../database/database.ts';

/** Whether and how a client approves payments (the service interface, Approvals workflow settings). */
export interface ApprovalSettings {
  payment_approvals_enabled: boolean;
  payment_creator_approval_enabled: boolean;
}

export async function readApprovalSettings(db: Db, clientId: string): Promise<ApprovalSettings | undefined> {
  return first(
    await db.query<ApprovalSettings & Record<string, unknown>>(
      'select payment_approvals_enabled, payment_creator_approval_enabled from clients where client_id = $1',
      [clientId],
    ),
  );
}
