import type { Db, Transaction } from '../database/database.ts';
import type { PaymentNumber } from '../values/identifiers.ts';
import { evaluate } from './approval.ts';
import { approversOf, permittedContacts, writeApprovers } from './approvers.ts';
import { AUTHORISED, authorisation } from './outcome.ts';
import { type Requirement, rulesOf, stateOf } from './requirement.ts';

export { shareLock } from './lock.ts';
export { refreshApprovers } from './refresh.ts';
export { type Requirement, requirementFor } from './requirement.ts';

/**
 * The approvals of payments, in tables of their own (docs/decisions.md, 4). Every function works in the caller's transaction, which holds the
 * client's lock (lock.ts). Those that act on a payment expect its row to be locked (payments/lifecycle.ts), so that two approvals at
 * the same instant follow each other and never both count as the last one.
 */

/**
 * Opens the approval of a payment that was just created.
 * @returns whether its creation is all that was needed (`complete`), and whether it counts as an approval (`byCreation`)
 */
export async function openApproval(
  tx: Transaction,
  payment: { id: PaymentNumber; clientId: string; created: Date; paymentDate: string; quiet?: boolean },
  requirement: Requirement,
): Promise<{ complete: boolean; byCreation: boolean }> {
  const rules = await rulesOf(tx, payment.clientId, requirement);
  const state = evaluate(rules, { requirement, authorisations: [] }, await permittedContacts(tx, payment.clientId));
  const creation = state.approvals.find((approval) => approval.creation && approval.counts);
  const decision = { contactId: requirement.creator, now: payment.created };
  const authorisations = creation
    ? [
        authorisation(decision, await nameOf(tx, requirement.creator), {
          status: AUTHORISED,
          level: creation.level,
        }),
      ]
    : [];
  await tx.query(
    `insert into payment_approvals (payment_id, client_id, requirement, authorisations, remaining, status, state)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      payment.id,
      payment.clientId,
      JSON.stringify(requirement),
      JSON.stringify(authorisations),
      state.remaining,
      state.complete ? 'Approved' : 'Pending approval',
      stateOf(requirement, rules, []),
    ],
  );
  if (!state.complete) await writeApprovers(tx, payment, approversOf(state));
  return { complete: state.complete, byCreation: creation !== undefined };
}

async function nameOf(tx: Db, contactId: string): Promise<string> {
  const { rows } = await tx.query<{ name: string }>('select name from contacts where contact_id = $1', [contactId]);
  return rows[0]?.name ?? contactId;
}
