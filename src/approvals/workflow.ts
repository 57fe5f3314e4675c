import { londonTimestamp } from '../calendar.ts';
import type { Db, Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import type { PaymentNumber } from '../identifiers.ts';
import { type Approval, type Authorisation, approvedBy, evaluate } from './approval.ts';
import { approversOf, permittedContacts, removeApprovers, writeApprovers } from './approvers.ts';
import { type Requirement, rulesOf, stateOf } from './requirement.ts';
import type { ApprovalState, Requirement as Rules } from './rules.ts';

export { refreshApprovers } from './refresh.ts';
export { type Requirement, requirementFor } from './requirement.ts';
export { shareTurn } from './turns.ts';

/**
 * The approvals of payments, kept beside them (docs/decisions.md, 4). Every function works in the caller's transaction, which
 * has the client's turn (turns.ts); those that act on a payment expect its row to be locked (payments/lifecycle.ts), so that
 * two approvals at the same instant follow each other and never both count as the last one.
 */

/** Opens the approval of a payment that was just created; complete where its creation is all that was needed. */
export async function openApproval(
  tx: Transaction,
  payment: { id: PaymentNumber; clientId: string; created: Date; paymentDate: string },
  requirement: Requirement,
): Promise<{ complete: boolean }> {
  const rules = await rulesOf(tx, payment.clientId, requirement);
  const state = evaluate(rules, { requirement, authorisations: [] }, await permittedContacts(tx, payment.clientId));
  const creation = state.approvals.find((approval) => approval.creation && approval.counts);
  const authorisations = creation
    ? [await authorisation(tx, requirement.creator, payment.created, 1, creation.level)]
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
  return { complete: state.complete };
}

interface Acting {
  clientId: string;
  id: PaymentNumber;
  contactId: string;
  now: Date;
}

interface Open extends Approval {
  created: Date;
  payment_date: string;
  rules: Rules;
  permitted: Set<string>;
}

/**
 * Counts a contact's approval.
 * @returns whether it was the last one needed
 * @throws Problem permission_denied, approval_not_allowed
 */
export async function authorise(tx: Transaction, act: Acting): Promise<{ complete: boolean }> {
  const open = await findOpen(tx, act);
  const before = evaluate(open.rules, open, open.permitted);
  if (!before.mayAuthorise.includes(act.contactId)) throw refusal(open, act.contactId, before);
  const given = [...open.authorisations, await authorisation(tx, act.contactId, act.now, 1, 1)];
  const state = evaluate(open.rules, { ...open, authorisations: given }, open.permitted);
  // A further approval can move earlier ones to other levels, where only so all of them count.
  const levels = new Map(state.approvals.map((approval) => [approval.contact_id, approval.level]));
  const shown = given.map((each) => ({ ...each, level: levels.get(each.contact_id) ?? each.level }));
  await save(tx, act, open, shown, state.complete ? 'Approved' : 'Pending approval', state.remaining);
  await removeApprovers(tx, act);
  if (!state.complete) {
    const payment = { clientId: act.clientId, id: act.id, created: open.created, paymentDate: open.payment_date };
    await writeApprovers(tx, payment, approversOf(state));
  }
  return { complete: state.complete };
}

/** Records a rejection by an approver of the payment. @throws Problem permission_denied, approval_not_allowed */
export async function reject(tx: Transaction, act: Acting): Promise<void> {
  const open = await findOpen(tx, act);
  const state = evaluate(open.rules, open, open.permitted);
  if (!state.mayReject.includes(act.contactId)) throw refusal(open, act.contactId, state);
  const level = levelOf(open.rules, state, act.contactId);
  const given = [...open.authorisations, await authorisation(tx, act.contactId, act.now, 2, level)];
  await save(tx, act, open, given, 'Rejected', 0);
  await removeApprovers(tx, act);
}

/** Closes the approval of a payment that was cancelled, where it has one. */
export async function closeApproval(
  tx: Transaction,
  payment: { clientId: string; id: PaymentNumber; status: 'Cancelled' },
): Promise<void> {
  await tx.query('update payment_approvals set status = $3, remaining = 0 where client_id = $1 and payment_id = $2', [
    payment.clientId,
    payment.id,
    payment.status,
  ]);
  await removeApprovers(tx, payment);
}

async function findOpen(tx: Transaction, act: Acting): Promise<Open> {
  const permitted = await permittedContacts(tx, act.clientId);
  if (!permitted.has(act.contactId))
    throw new Problem('permission_denied', 'contact: needs can_authorise_payments for this client');
  const { rows } = await tx.query<Approval & { created: Date; payment_date: string }>({
    name: 'approval-open',
    text: `select a.requirement, a.authorisations, p.created, p.payment_date from payment_approvals a
      join payments p on p.id = a.payment_id and p.client_id = a.client_id
      where a.client_id = $1 and a.payment_id = $2 and a.status = 'Pending approval'`,
    values: [act.clientId, act.id],
  });
  if (!rows[0]) throw new Problem('approval_not_allowed', 'payment: no approval of it is open');
  return { ...rows[0], permitted, rules: await rulesOf(tx, act.clientId, rows[0].requirement) };
}

function refusal(open: Open, contactId: string, state: ApprovalState): Problem {
  const why = () => {
    if (open.requirement.creator === contactId) return 'the creator may not act on its own payment';
    if (open.authorisations.some((each) => each.contact_id === contactId)) return 'has acted on this payment already';
    if (state.mayReject.includes(contactId)) return 'its approval would not bring the payment any further';
    return 'is not an approver of this payment';
  };
  return new Problem('approval_not_allowed', `contact: ${why()}`);
}

/** The level that a rejection stands for: the first one still unmet that names a group of the contact, else the first that does. */
function levelOf(rules: Rules, state: ApprovalState, contactId: string): number {
  if (rules.kind !== 'levels') return 1;
  const own = new Set(rules.groups.filter(({ members }) => members.includes(contactId)).map(({ name }) => name));
  const naming = rules.levels.flatMap((level, index) =>
    level.flat().some((name) => own.has(name)) ? [index + 1] : [],
  );
  const unmet = naming.find((level) => state.levels.some((each) => each.level === level && !each.met));
  return unmet ?? naming[0] ?? 1;
}

async function authorisation(
  tx: Db,
  contactId: string,
  at: Date,
  status: 1 | 2,
  level: number,
): Promise<Authorisation> {
  const { rows } = await tx.query<{ name: string }>('select name from contacts where contact_id = $1', [contactId]);
  return { date: londonTimestamp(at), status, contact_id: contactId, level, contact_name: rows[0]?.name ?? contactId };
}

async function save(
  tx: Transaction,
  act: Acting,
  { requirement, rules }: Open,
  authorisations: Authorisation[],
  status: string,
  remaining: number,
): Promise<void> {
  await tx.query({
    name: 'approval-save',
    text: `update payment_approvals set authorisations = $3, remaining = $4, status = $5, state = $6
      where client_id = $1 and payment_id = $2`,
    values: [
      act.clientId,
      act.id,
      JSON.stringify(authorisations),
      remaining,
      status,
      stateOf(requirement, rules, approvedBy({ requirement, authorisations })),
    ],
  });
}
