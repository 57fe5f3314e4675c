import type { Transaction } from '../database/database.ts';
import { contactNames } from '../identity/people/contact.ts';
import { Problem } from '../values/errors.ts';
import type { PaymentNumber } from '../values/identifiers.ts';
import { type Exact, exact } from '../values/json.ts';
import { type Approval, type Authorisation, evaluate } from './approval.ts';
import { approversOf, permittedContacts } from './approvers.ts';
import { rulesOf } from './requirement.ts';
import type { ApprovalRules, ApprovalState } from './rules/rules.ts';

/** Explains the state of a payment's approvals: which rules apply, who met which level, and who could act next. */
export interface Explanation {
  payment_id: string;
  status: string;
  /** What decided when the payment was created: nothing, the client's eyes workflow, or a rule of its ruleset. */
  governed_by: 'none' | 'eyes' | 'ruleset';
  n_eyes_plus_status: string;
  minimum_remaining_authorisations: number;
  /** Whether those who may authorise payments now can complete it. */
  can_be_completed: boolean;
  creator: { contact_id: string; contact_name: string; creation_counts: boolean };
  /** For eyes: the number of approvers other than the creator. */
  approvers_needed: number | null;
  rule: ExplainedRule | null;
  levels: ExplainedLevel[];
  authorisations: Authorisation[];
  /** Who could act on it now. */
  next: { contact_id: string; contact_name: string; actions: ('authorise' | 'reject')[] }[];
}

export interface ExplainedRule {
  version: number;
  /** Index into `ruleset.rules` of that version. */
  index: number;
  minimum_threshold: Exact | null;
  currency: string;
  payment_amount: Exact | null;
  payment_currency: string;
  rate: Exact | null;
  converted_amount: Exact | null;
}

export interface ExplainedLevel {
  level: number;
  met: boolean;
  /** What the level asks for; empty for eyes. */
  one_of: { all_of: string[] }[];
  /** Index into `one_of` of the alternative that needs the fewest further people. */
  alternative: number;
  /** Each place of that alternative, and who fills it. */
  places: { group: string | null; contact_id: string | null; contact_name: string | null }[];
}

interface Row {
  id: PaymentNumber;
  status: string;
  amount: string;
  payment_currency: string;
  creator: string;
  approval: (Approval & { status: string; remaining: number }) | null;
}

/**
 * Explains a payment's approvals, as of one instant of the database.
 * @param tx a transaction in which nothing was read yet
 * @throws Problem payment_not_found
 */
export async function explainApproval(tx: Transaction, clientId: string, paymentId: string): Promise<Explanation> {
  await tx.query('set transaction isolation level repeatable read, read only');
  const { rows } = await tx.query<Row>(
    `select p.id, p.status, p.amount, p.payment_currency, p.contact_id as creator,
       (select json_build_object('requirement', a.requirement, 'authorisations', a.authorisations, 'status', a.status,
          'remaining', a.remaining) from payment_approvals a where a.client_id = $1 and a.payment_id = p.id) as approval
     from payments p where p.client_id = $1 and p.payment_id = $2`,
    [clientId, paymentId],
  );
  const payment = rows[0];
  if (!payment)
    throw new Problem('payment_not_found', { field: 'payment_id', message: 'does not exist for this client' });
  const { approval } = payment;
  const common = {
    payment_id: paymentId,
    status: payment.status,
    creator: {
      contact_id: payment.creator,
      contact_name: (await contactNames(tx, [payment.creator])).get(payment.creator) ?? '',
      creation_counts: approval?.requirement.creation_counts ?? false,
    },
    // The client is not told which token of the institution gave an approval.
    authorisations: (approval?.authorisations ?? []).map((each) => ({
      ...each,
      on_behalf_by: each.on_behalf_by && 'institution',
    })),
  };
  if (!approval) {
    const status = payment.status === 'Payment cancelled' ? 'Cancelled' : 'Approved';
    const nothing = { rule: null, levels: [], next: [], approvers_needed: null };
    return {
      ...common,
      ...nothing,
      governed_by: 'none',
      n_eyes_plus_status: status,
      minimum_remaining_authorisations: 0,
      can_be_completed: true,
    };
  }
  const rules = await rulesOf(tx, clientId, approval.requirement);
  const state = evaluate(rules, approval, await permittedContacts(tx, clientId));
  const pending = approval.status === 'Pending approval';
  return {
    ...common,
    governed_by: approval.requirement.ruleset ? 'ruleset' : 'eyes',
    n_eyes_plus_status: approval.status,
    minimum_remaining_authorisations: pending ? state.remaining : approval.remaining,
    can_be_completed: state.possible,
    approvers_needed: approval.requirement.eyes ?? null,
    rule: ruleOf(payment, approval),
    levels: await levelsOf(tx, rules, state),
    next: pending ? await nextOf(tx, state) : [],
  };
}

function ruleOf(payment: Row, { requirement: { ruleset } }: Approval): ExplainedRule | null {
  if (!ruleset) return null;
  return {
    version: ruleset.version,
    index: ruleset.rule,
    minimum_threshold: exact(ruleset.minimum_threshold),
    currency: ruleset.currency,
    payment_amount: exact(payment.amount),
    payment_currency: payment.payment_currency,
    rate: exact(ruleset.rate),
    converted_amount: exact(ruleset.amount),
  };
}

async function levelsOf(tx: Transaction, rules: ApprovalRules, state: ApprovalState): Promise<ExplainedLevel[]> {
  const ids = state.levels.flatMap((level) => level.places.flatMap(({ contact_id: id }) => id ?? []));
  const names = await contactNames(tx, ids);
  return state.levels.map(({ level, met, alternative, places }) => ({
    level,
    met,
    one_of: rules.kind === 'levels' ? (rules.levels[level - 1] ?? []).map((all) => ({ all_of: all })) : [],
    alternative,
    places: places.map((place) => ({ ...place, contact_name: names.get(place.contact_id ?? '') ?? null })),
  }));
}

async function nextOf(tx: Transaction, state: ApprovalState): Promise<Explanation['next']> {
  const approvers = approversOf(state);
  const { rows } = await tx.query<{ contact_id: string; contact_name: string }>(
    'select contact_id, name as contact_name from contacts where contact_id = any($1) order by contact_id',
    [approvers.map(({ contact }) => contact)],
  );
  const may = new Map(approvers.map((approver) => [approver.contact, approver]));
  return rows.map((contact) => ({
    ...contact,
    actions: [
      ...(may.get(contact.contact_id)?.mayAuthorise ? ['authorise' as const] : []),
      ...(may.get(contact.contact_id)?.mayReject ? ['reject' as const] : []),
    ],
  }));
}
