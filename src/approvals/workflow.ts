import type { Db, Transaction } from '../database/database.ts';
import { londonTimestamp } from '../values/calendar.ts';
import { Problem } from '../values/errors.ts';
import type { PaymentNumber } from '../values/identifiers.ts';
import { keepActs } from './acts.ts';
import { type Approval, type Authorisation, approvedBy, evaluate } from './approval.ts';
import { type Approver, approversOf, permittedContacts, removeApprovers, writeApprovers } from './approvers.ts';
import { type Notice, removeNotices, tellRejection, tellWaiting } from './notices.ts';
import { type Requirement, rulesOf, stateOf } from './requirement.ts';
import type { ApprovalRules, ApprovalState } from './rules/rules.ts';

export { shareLock } from './lock.ts';
export { refreshApprovers } from './refresh.ts';
export { type Requirement, requirementFor } from './requirement.ts';

/** Values of an authorisation's `status`. */
const AUTHORISED = 1;
const REJECTED = 2;

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

/** An approval or a rejection that a contact gives. */
export interface Decision {
  clientId: string;
  id: PaymentNumber;
  contactId: string;
  now: Date;
  /** Why, in the contact's words. */
  reason?: string | undefined;
  /** The operator token that acts in the contact's name. */
  onBehalfBy?: string | undefined;
  /** No mail is sent about it. */
  quiet?: boolean | undefined;
}

/** An approval that waits, with all that decides who may give it. */
export interface Open extends Approval {
  created: Date;
  payment_date: string;
  rules: ApprovalRules;
  permitted: Set<string>;
}

/**
 * Counts a contact's approval.
 * @returns whether it was the last one needed
 * @throws Problem permission_denied, approval_not_allowed
 */
export async function authorise(tx: Transaction, decision: Decision): Promise<{ complete: boolean }> {
  const open = await findOpen(tx, decision);
  const outcome = authorised(open, decision, await nameOf(tx, decision.contactId));
  const complete = outcome.status === 'Approved';
  await save(tx, decision, outcome);
  await keepActs(tx, [{ ...decision, action: 'authorise' }]);
  await removeApprovers(tx, decision);
  if (!complete) {
    const payment = {
      clientId: decision.clientId,
      id: decision.id,
      created: open.created,
      paymentDate: open.payment_date,
    };
    await writeApprovers(tx, { ...payment, quiet: true }, outcome.approvers);
    if (!decision.quiet) await tellWaiting(tx, noticesOf(decision, outcome));
  } else await removeNotices(tx, decision);
  return { complete };
}

/** Whom to tell of an approval that was not the last one: those who may authorise now and could not before. */
export function noticesOf({ clientId, id }: Decision, { newcomers }: Outcome): Notice[] {
  return newcomers.map((contactId) => ({ clientId, id, contactId }));
}

/** What becomes of an approval. */
export interface Outcome {
  authorisations: Authorisation[];
  status: 'Pending approval' | 'Approved' | 'Rejected';
  remaining: number;
  state: Buffer;
  /** Who may act on the payment now. */
  approvers: Approver[];
  /** Those of them who may authorise, and could not before. */
  newcomers: string[];
}

/** The approval after a contact's authorisation. @param name of the contact @throws Problem approval_not_allowed */
export function authorised(open: Open, decision: Decision, name: string): Outcome {
  const before = evaluate(open.rules, open, open.permitted);
  if (!before.mayAuthorise.includes(decision.contactId)) throw refusal(open, decision.contactId, before);
  const given = [...open.authorisations, authorisation(decision, name, { status: AUTHORISED, level: 1 })];
  const state = evaluate(open.rules, { ...open, authorisations: given }, open.permitted);
  // A further approval can move earlier ones to other levels, if only then all of them count.
  const levels = new Map(state.approvals.map((approval) => [approval.contact_id, approval.level]));
  const authorisations = given.map((each) => ({ ...each, level: levels.get(each.contact_id) ?? each.level }));
  return {
    authorisations,
    status: state.complete ? 'Approved' : 'Pending approval',
    remaining: state.remaining,
    state: stateOf(open.requirement, open.rules, approvedBy({ ...open, authorisations })),
    approvers: state.complete ? [] : approversOf(state),
    newcomers: state.mayAuthorise.filter((contact) => !before.mayAuthorise.includes(contact)),
  };
}

/** The approval after a contact's rejection. @param name of the contact @throws Problem approval_not_allowed */
export function rejected(open: Open, decision: Decision, name: string): Outcome {
  const before = evaluate(open.rules, open, open.permitted);
  if (!before.mayReject.includes(decision.contactId)) throw refusal(open, decision.contactId, before);
  const level = levelOf(open.rules, before, decision.contactId);
  const authorisations = [...open.authorisations, authorisation(decision, name, { status: REJECTED, level })];
  const state = stateOf(open.requirement, open.rules, approvedBy({ ...open, authorisations }));
  return { authorisations, status: 'Rejected', remaining: 0, state, approvers: [], newcomers: [] };
}

/** Records a rejection by an approver of the payment. @throws Problem permission_denied, approval_not_allowed */
export async function reject(tx: Transaction, decision: Decision): Promise<void> {
  const open = await findOpen(tx, decision);
  await save(tx, decision, rejected(open, decision, await nameOf(tx, decision.contactId)));
  await keepActs(tx, [{ ...decision, action: 'reject' }]);
  await removeApprovers(tx, decision);
  await removeNotices(tx, decision);
  if (!decision.quiet) await tellRejection(tx, decision);
}

/** Closes the approval of a payment that was cancelled, if it has one. */
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
  await removeNotices(tx, payment);
}

async function findOpen(tx: Transaction, decision: Decision): Promise<Open> {
  const permitted = await permittedContacts(tx, decision.clientId);
  if (!permitted.has(decision.contactId)) throw noRight();
  const { rows } = await tx.query<Approval & { created: Date; payment_date: string }>({
    name: 'approval-open',
    text: `select a.requirement, a.authorisations, p.created, p.payment_date from payment_approvals a
      join payments p on p.client_id = $1 and p.id = a.payment_id
      where a.client_id = $1 and a.payment_id = $2 and a.status = 'Pending approval'`,
    values: [decision.clientId, decision.id],
  });
  if (!rows[0]) throw new Problem('approval_not_allowed', 'payment: it has no open approval');
  return { ...rows[0], permitted, rules: await rulesOf(tx, decision.clientId, rows[0].requirement) };
}

/** The contact may not authorise payments of the client. */
export function noRight(): Problem {
  return new Problem('permission_denied', 'contact: needs can_authorise_payments for this client');
}

function refusal(open: Open, contactId: string, state: ApprovalState): Problem {
  const why = () => {
    if (open.requirement.creator === contactId) return 'the creator may not act on its own payment';
    if (open.authorisations.some((each) => each.contact_id === contactId))
      return 'it has already acted on this payment';
    if (state.mayReject.includes(contactId)) return 'its approval would not complete any level that is still open';
    return 'it is not an approver of this payment';
  };
  return new Problem('approval_not_allowed', `contact: ${why()}`);
}

/** The level of a rejection: the first unmet one that names a group of the contact, else the first that names one. */
function levelOf(rules: ApprovalRules, state: ApprovalState, contactId: string): number {
  if (rules.kind !== 'levels') return 1;
  const own = new Set(rules.groups.filter(({ members }) => members.includes(contactId)).map(({ name }) => name));
  const naming = rules.levels.flatMap((level, index) =>
    level.flat().some((name) => own.has(name)) ? [index + 1] : [],
  );
  const unmet = naming.find((level) => state.levels.some((each) => each.level === level && !each.met));
  return unmet ?? naming[0] ?? 1;
}

function authorisation(
  { contactId, now, reason, onBehalfBy }: Pick<Decision, 'contactId' | 'now' | 'reason' | 'onBehalfBy'>,
  name: string,
  { status, level }: Pick<Authorisation, 'status' | 'level'>,
): Authorisation {
  return {
    date: londonTimestamp(now),
    status,
    contact_id: contactId,
    level,
    contact_name: name,
    reason: reason ?? null,
    on_behalf_by: onBehalfBy ?? null,
  };
}

async function nameOf(tx: Db, contactId: string): Promise<string> {
  const { rows } = await tx.query<{ name: string }>('select name from contacts where contact_id = $1', [contactId]);
  return rows[0]?.name ?? contactId;
}

async function save(tx: Transaction, { clientId, id }: Decision, outcome: Outcome): Promise<void> {
  const { authorisations, status, remaining, state } = outcome;
  await tx.query({
    name: 'approval-save',
    text: `update payment_approvals set authorisations = $3, remaining = $4, status = $5, state = $6
      where client_id = $1 and payment_id = $2`,
    values: [clientId, id, JSON.stringify(authorisations), remaining, status, state],
  });
}
