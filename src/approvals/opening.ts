import type { Columns, WriteRows } from '../database/copy.ts';
import type { Transaction } from '../database/database.ts';
import { evaluate } from './approval.ts';
import { type Approver, approversOf, type PaymentApprovers, permittedContacts, writeApprovers } from './approvers.ts';
import { AUTHORISED, authorisation } from './outcome.ts';
import { type Requirement, rulesOf, stateOf } from './requirement.ts';

/**
 * Opens the approvals of new payments, in their own tables (docs/decisions.md, 4), for any number at once. The functions work in the
 * caller's transaction, which holds the locks of the clients (lock.ts).
 */

/** The beginning of an approval. */
export interface BegunApproval {
  state: Buffer;
  remaining: number;
  /** Whether the creation already completes it. */
  complete: boolean;
  /** The level at which the creation counts as an approval; undefined if it does not count. */
  creationLevel: number | undefined;
  approvers: readonly Approver[];
}

/**
 * Determines how approvals begin, and writes nothing.
 * @param permitted the contacts who may authorise, by client; for other clients they are read
 * @returns one for each payment, in order; payments with the same state begin alike
 */
export async function beginApprovals(
  tx: Transaction,
  payments: readonly { clientId: string; requirement: Requirement }[],
  permitted: Map<string, Set<string>>,
): Promise<BegunApproval[]> {
  const known = new Map<string, BegunApproval>();
  const begun: BegunApproval[] = [];
  for (const { clientId, requirement } of payments) {
    const rules = await rulesOf(tx, clientId, requirement);
    const state = stateOf(requirement, rules, []);
    const key = `${clientId}\0${state.toString('hex')}`;
    let approval = known.get(key);
    if (!approval) {
      const contacts = permitted.get(clientId) ?? (await permittedContacts(tx, clientId));
      permitted.set(clientId, contacts);
      const evaluated = evaluate(rules, { requirement, authorisations: [] }, contacts);
      const { complete, remaining } = evaluated;
      const creationLevel = evaluated.approvals.find(({ creation, counts }) => creation && counts)?.level;
      approval = { state, remaining, complete, creationLevel, approvers: complete ? [] : approversOf(evaluated) };
      known.set(key, approval);
    }
    begun.push(approval);
  }
  return begun;
}

/** The beginning of an approval, for a stored payment. */
export interface OpenedApproval extends BegunApproval, PaymentApprovers {
  requirement: Requirement;
  creatorName: string;
}

const COLUMNS: Columns<OpenedApproval> = {
  payment_id: ({ id }) => id,
  client_id: ({ clientId }) => clientId,
  requirement: ({ requirement }) => JSON.stringify(requirement),
  authorisations: ({ requirement, created, creatorName, creationLevel: level }) => {
    const decision = { contactId: requirement.creator, now: created };
    return JSON.stringify(
      level === undefined ? [] : [authorisation(decision, creatorName, { status: AUTHORISED, level })],
    );
  },
  remaining: ({ remaining }) => remaining,
  status: ({ complete }) => (complete ? 'Approved' : 'Pending approval'),
  state: ({ state }) => state,
};

/** Writes the beginnings of approvals. @param options `quiet`: nobody gets a mail about them; `write`: how rows are written */
export async function openApprovals(
  tx: Transaction,
  approvals: readonly OpenedApproval[],
  { quiet, write }: { quiet: boolean; write: WriteRows },
): Promise<void> {
  if (approvals.length === 0) return;
  await write(tx, 'payment_approvals', COLUMNS, approvals);
  await writeApprovers(tx, approvals, quiet);
}
