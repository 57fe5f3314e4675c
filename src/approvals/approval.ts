import type { Db } from '../database/database.ts';
import type { Requirement } from './requirement.ts';
import { type ApprovalRules, type ApprovalState, approvalState } from './rules/rules.ts';

/** An approval or rejection in the form that the search shows (service interface, approvals_workflow). */
export interface Authorisation {
  date: string;
  /** 1 authorised, 2 rejected. */
  status: 1 | 2;
  contact_id: string;
  level: number;
  contact_name: string;
  /** In the contact's words; null if it gave none. */
  reason: string | null;
  /** The operator token that acted in the contact's name; null if the contact acted itself. */
  on_behalf_by: string | null;
}

/** What is stored of a payment's approval. */
export interface Approval {
  requirement: Requirement;
  authorisations: Authorisation[];
}

/** Who approved, except the creator. The creator's approval is the creation itself, unless nobody else approves. */
export function approvedBy({ requirement, authorisations }: Approval): string[] {
  return authorisations
    .filter((each) => each.status === 1 && (requirement.own || each.contact_id !== requirement.creator))
    .map((each) => each.contact_id);
}

/** The state of a stored approval, given the people who are permitted now. */
export function evaluate(rules: ApprovalRules, approval: Approval, permitted: ReadonlySet<string>): ApprovalState {
  return approvalState(rules, {
    approvals: approvedBy(approval),
    creator: approval.requirement.creator,
    creatorApprovalEnabled: approval.requirement.creation_counts,
    permitted,
  });
}

/** The decisions of a client's payments that need or needed an approval, for the change feed. */
export async function readDecisions(
  db: Db,
  clientId: string,
  paymentIds: readonly string[],
): Promise<Map<string, Authorisation[]>> {
  const { rows } = await db.query<{ payment_id: string; authorisations: Authorisation[] }>(
    `select d.payment_id, d.authorisations from unnest($2::text[]) as w (payment_id) cross join lateral (
       select p.payment_id, a.authorisations from payments p
       join payment_approvals a on a.client_id = $1 and a.payment_id = p.id where p.client_id = $1 and p.payment_id = w.payment_id offset 0) d`,
    [clientId, paymentIds],
  );
  return new Map(rows.map((row) => [row.payment_id, row.authorisations]));
}
