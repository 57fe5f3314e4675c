import { londonTimestamp } from '../values/calendar.ts';
import { Problem } from '../values/errors.ts';
import type { PaymentNumber } from '../values/identifiers.ts';
import { type Approval, type Authorisation, approvedBy, evaluate } from './approval.ts';
import { type Approver, approversOf } from './approvers.ts';
import { stateOf } from './requirement.ts';
import type { ApprovalRules, ApprovalState } from './rules/rules.ts';

/** Determines the result of a contact's decision on an approval, without writing it. */

/** Values of an authorisation's `status`. */
export const AUTHORISED = 1;
const REJECTED = 2;

/** An approval or a rejection that a contact gives. */
export interface Decision {
  action: 'authorise' | 'reject';
  clientId: string;
  id: PaymentNumber;
  contactId: string;
  now: Date;
  /** The reason, in the contact's words. */
  reason?: string | undefined;
  /** The operator token that acts in the contact's name. */
  onBehalfBy?: string | undefined;
}

/** A waiting approval, with everything that decides who may give it. */
export interface Open extends Approval {
  created: Date;
  payment_date: string;
  rules: ApprovalRules;
  permitted: Set<string>;
}

/** The result of a decision for an approval. */
export interface Outcome {
  authorisations: Authorisation[];
  status: 'Pending approval' | 'Approved' | 'Rejected';
  remaining: number;
  state: Buffer;
  /** Who may act on the payment now. */
  approvers: Approver[];
  /** Those of them who may authorise now and could not before. */
  newcomers: string[];
}

/**
 * The approval after a contact's decision.
 * @param name of the contact
 * @throws Problem permission_denied, approval_not_allowed
 */
export function outcomeOf(open: Open, decision: Decision, name: string): Outcome {
  const own = open.rules.kind === 'own' && open.rules.creator === decision.contactId;
  if (!own && !open.permitted.has(decision.contactId)) throw noRight();
  return decision.action === 'authorise' ? authorised(open, decision, name) : rejected(open, decision, name);
}

function authorised(open: Open, decision: Decision, name: string): Outcome {
  const before = evaluate(open.rules, open, open.permitted);
  if (!before.mayAuthorise.includes(decision.contactId)) throw refusal(open, decision.contactId, before);
  const given = [...open.authorisations, authorisation(decision, name, { status: AUTHORISED, level: 1 })];
  const state = evaluate(open.rules, { ...open, authorisations: given }, open.permitted);
  // A new approval may move earlier ones to other levels, if otherwise not all of them count.
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

function rejected(open: Open, decision: Decision, name: string): Outcome {
  const before = evaluate(open.rules, open, open.permitted);
  if (!before.mayReject.includes(decision.contactId)) throw refusal(open, decision.contactId, before);
  const level = levelOf(open.rules, before, decision.contactId);
  const authorisations = [...open.authorisations, authorisation(decision, name, { status: REJECTED, level })];
  const state = stateOf(open.requirement, open.rules, approvedBy({ ...open, authorisations }));
  return { authorisations, status: 'Rejected', remaining: 0, state, approvers: [], newcomers: [] };
}

/** The refusal for a contact who may not authorise payments of the client. */
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

/** The level of a rejection: the first unmet level that names a group of the contact, or else the first level that does. */
function levelOf(rules: ApprovalRules, state: ApprovalState, contactId: string): number {
  if (rules.kind !== 'levels') return 1;
  const own = new Set(rules.groups.filter(({ members }) => members.includes(contactId)).map(({ name }) => name));
  const naming = rules.levels.flatMap((level, index) =>
    level.flat().some((name) => own.has(name)) ? [index + 1] : [],
  );
  const unmet = naming.find((level) => state.levels.some((each) => each.level === level && !each.met));
  return unmet ?? naming[0] ?? 1;
}

/** An entry of a payment's approvals. @param name of the contact */
export function authorisation(
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
