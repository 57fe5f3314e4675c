import { evaluate } from '../approvals/approval.ts';
import { permittedContacts } from '../approvals/approvers.ts';
import { type Requirement, requirementFor, rulesOf } from '../approvals/requirement.ts';
import type { ApprovalState } from '../approvals/rules/rules.ts';
import type { Transaction } from '../database/database.ts';
import { Problem } from '../values/errors.ts';

/** One approver other than the creator, whatever the client's workflow. */
const ONE_APPROVER = { creation_counts: false, eyes: 1 };

/** A payment that will be created for the contact who asks for it. */
export interface WantedPayment {
  clientId: string;
  callerId: string;
  amount: string;
  currency: string;
}

/** The creator of a payment, and the requirement of its approval: null for nothing, undefined for the client's rules. */
export interface ApprovalChoice {
  creatorId: string;
  requirement?: Requirement | null;
}

export type ChooseApproval = (tx: Transaction, wanted: WantedPayment) => Promise<ApprovalChoice>;

/** The client's rules for a payment that the caller creates. */
export const asRuled: ChooseApproval = async (_tx, { callerId }) => ({ creatorId: callerId });

/** No approval is needed. */
export const notNeeded: ChooseApproval = async (_tx, { callerId }) => ({ creatorId: callerId, requirement: null });

/**
 * At least one approval is needed, and another contact creates the payment: under the client's own rules if the caller can then approve it,
 * otherwise with one approver. If the caller may not authorise payments, another contact can approve.
 * @throws Problem transition_not_allowed if the client has no second contact who may act
 */
export const needed: ChooseApproval = async (tx, wanted) => {
  const choice = await chooseNeeded(tx, wanted);
  if (choice) return choice;
  throw new Problem(
    'transition_not_allowed',
    'an approval takes two contacts of the client: one who creates the payment, and another who may approve it',
  );
};

/** The payment waits for an approval, even if nobody may give it: by the client's rules, or with one approver. */
export const waiting: ChooseApproval = async (tx, wanted) => {
  const { callerId } = wanted;
  const requirement = await requirementFor(tx, { ...wanted, creatorId: callerId });
  if (requirement && !(await stateOf(tx, wanted.clientId, requirement)).complete)
    return { creatorId: callerId, requirement };
  return (
    (await chooseNeeded(tx, wanted)) ?? { creatorId: callerId, requirement: { ...ONE_APPROVER, creator: callerId } }
  );
};

/** The client's rules, with a creator whose payment others can approve. If there is no such contact, no approval is needed. */
export const approvable: ChooseApproval = async (tx, wanted) => {
  const { clientId, callerId } = wanted;
  for (const creatorId of [callerId, ...(await otherContacts(tx, clientId, callerId))]) {
    const requirement = await requirementFor(tx, { ...wanted, creatorId });
    if (!requirement || (await stateOf(tx, clientId, requirement)).possible) return { creatorId, requirement };
  }
  return { creatorId: callerId, requirement: null };
};

async function chooseNeeded(tx: Transaction, wanted: WantedPayment): Promise<ApprovalChoice | undefined> {
  const { clientId, callerId } = wanted;
  const permitted = await permittedContacts(tx, clientId);
  const creators = await otherContacts(tx, clientId, callerId);
  const canBeApproved = async (requirement: Requirement): Promise<boolean> => {
    const state = await stateOf(tx, clientId, requirement);
    const approves = permitted.has(callerId) ? state.mayAuthorise.includes(callerId) : state.mayAuthorise.length > 0;
    return !state.complete && state.possible && approves;
  };
  for (const creatorId of creators) {
    const requirement = await requirementFor(tx, { ...wanted, creatorId });
    if (requirement && (await canBeApproved(requirement))) return { creatorId, requirement };
  }
  for (const creatorId of creators) {
    const requirement = { ...ONE_APPROVER, creator: creatorId };
    if (await canBeApproved(requirement)) return { creatorId, requirement };
  }
  return undefined;
}

/** The state in which the approval of a new payment begins. */
async function stateOf(tx: Transaction, clientId: string, requirement: Requirement): Promise<ApprovalState> {
  const rules = await rulesOf(tx, clientId, requirement);
  return evaluate(rules, { requirement, authorisations: [] }, await permittedContacts(tx, clientId));
}

/** The client's contacts who may act, without the caller. Those who could not approve come first, so that approvers remain. */
async function otherContacts(tx: Transaction, clientId: string, callerId: string): Promise<string[]> {
  const { rows } = await tx.query<{ contact_id: string }>(
    `select cc.contact_id from contact_clients cc join contacts c using (contact_id)
     where cc.client_id = $1 and cc.contact_id <> $2 and c.status = 'enabled' and (cc.can_manage_payments or cc.can_authorise_payments)
     order by cc.can_authorise_payments, cc.contact_id`,
    [clientId, callerId],
  );
  return rows.map((row) => row.contact_id);
}
