import { evaluate } from '../approvals/approval.ts';
import { permittedContacts } from '../approvals/approvers.ts';
import { rulesOf } from '../approvals/requirement.ts';
import { type Requirement, requirementFor } from '../approvals/workflow.ts';
import type { Transaction } from '../database.ts';
import { Problem } from '../errors.ts';

/** One approver besides the creator, whatever the client's workflow says. */
const ONE_APPROVER = { creation_counts: false, eyes: 1 };

/** A payment that is about to be created for the contact who asks for it. */
export interface Wanted {
  clientId: string;
  callerId: string;
  amount: string;
  currency: string;
  now: Date;
}

/** Who creates a payment that needs an approval, and what it requires. */
export interface NeededApproval {
  creatorId: string;
  requirement: Requirement;
}

/**
 * Finds a creator, other than the caller, of a payment that needs at least one approval: the client's own rules if the caller can
 * approve under them, otherwise one approver (docs/sandbox.md, Create a payment). If the caller may not authorise payments, it is
 * another contact who can.
 * @throws Problem transition_not_allowed if the client has no second contact who may act
 */
export async function needApproval(tx: Transaction, wanted: Wanted): Promise<NeededApproval> {
  const { clientId, callerId } = wanted;
  const permitted = await permittedContacts(tx, clientId);
  const creators = await otherContacts(tx, clientId, callerId);
  const canApprove = async (requirement: Requirement): Promise<boolean> => {
    const rules = await rulesOf(tx, clientId, requirement);
    const state = evaluate(rules, { requirement, authorisations: [] }, permitted);
    const approves = permitted.has(callerId) ? state.mayAuthorise.includes(callerId) : state.mayAuthorise.length > 0;
    return !state.complete && state.possible && approves;
  };
  for (const creatorId of creators) {
    const requirement = await requirementFor(tx, { ...wanted, creatorId });
    if (requirement && (await canApprove(requirement))) return { creatorId, requirement };
  }
  for (const creatorId of creators) {
    const requirement = { ...ONE_APPROVER, creator: creatorId };
    if (await canApprove(requirement)) return { creatorId, requirement };
  }
  throw new Problem('transition_not_allowed', {
    field: 'approval',
    message: 'needed takes two contacts of the client, one who creates the payment and another who may approve it',
  });
}

/** The client's contacts who may act, without the caller; first those who could not approve, so that approvers stay. */
async function otherContacts(tx: Transaction, clientId: string, callerId: string): Promise<string[]> {
  const { rows } = await tx.query<{ contact_id: string }>(
    `select cc.contact_id from contact_clients cc join contacts c using (contact_id)
     where cc.client_id = $1 and cc.contact_id <> $2 and c.status = 'enabled' and (cc.can_manage_payments or cc.can_authorise_payments)
     order by cc.can_authorise_payments, cc.contact_id`,
    [clientId, callerId],
  );
  return rows.map((row) => row.contact_id);
}
