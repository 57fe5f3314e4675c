import Big from 'big.js';
import { londonTimestamp } from '../calendar.ts';
import type { Db, Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import { rateBetween } from '../quotes/exchange-rates.ts';
import { configurationInForce } from './configuration.ts';
import {
  type ApprovalState,
  approvalState,
  type Requirement as Rules,
  requirementFor as requirementByRules,
} from './rules.ts';
import { governingRule } from './ruleset.ts';

/**
 * The approvals of payments, kept beside them (docs/decisions.md, 4). Every function works in the caller's transaction; those
 * that act on a payment expect its row to be locked (payments/lifecycle.ts), so that two approvals at the same instant follow
 * each other and never both count as the last one.
 */

/** What a payment requires, frozen when it is created. */
export interface Requirement {
  rules: Rules;
  creatorId: string;
  creatorApprovalEnabled: boolean;
  /** Of a ruleset: its version, currency, the rate from the payment's currency, the converted amount, and the rule's threshold. */
  ruleset?: { version: number; currency: string; rate: string; amount: string; minimum_threshold: string };
}

/** An approval or rejection, as the search shows it (the service interface, approvals_workflow). */
export interface Authorisation {
  date: string;
  /** 1 authorised, 2 rejected. */
  status: 1 | 2;
  contact_id: string;
  level: number;
  contact_name: string;
}

const EYES: Record<string, number> = { simple: 0, '4-eyes': 1, '6-eyes': 2, '8-eyes': 3, '10-eyes': 4 };
/** Decimals of an amount that was converted. */
const CONVERTED_DECIMALS = 8;

/**
 * What a new payment requires: nothing while approvals are off; else what the client's ruleset says, and without one its eyes.
 * @param payment amount in its own currency, a decimal string
 * @returns null where no approval is needed
 * @throws Problem exchange_rate_missing
 */
export async function requirementFor(
  tx: Db,
  payment: { clientId: string; creatorId: string; amount: string; currency: string; now: Date },
): Promise<Requirement | null> {
  const { rows } = await tx.query<{ workflow: string; enabled: boolean; creator: boolean }>(
    `select authorisation_workflow as workflow, payment_approvals_enabled as enabled, payment_creator_approval_enabled as creator
     from clients where client_id = $1`,
    [payment.clientId],
  );
  const client = rows[0];
  if (!client?.enabled) return null;
  const frozen = { creatorId: payment.creatorId, creatorApprovalEnabled: client.creator };
  const configuration = await configurationInForce(tx, payment.clientId);
  if (!configuration) {
    const approvers = EYES[client.workflow] ?? 0;
    return approvers === 0 ? null : { rules: { kind: 'eyes', approvers }, ...frozen };
  }
  const { currency } = configuration.ruleset;
  const rate = await rateBetween(tx, payment.currency, currency);
  const amount = new Big(payment.amount).times(rate).round(CONVERTED_DECIMALS, Big.roundHalfEven).toFixed();
  const rules = requirementByRules(configuration, amount);
  if (rules.kind === 'none') return null;
  const rule = governingRule(configuration.ruleset, amount) ?? 0;
  const threshold = configuration.ruleset.rules[rule]?.minimum_threshold ?? '0';
  return {
    rules,
    ...frozen,
    ruleset: { version: configuration.version, currency, rate, amount, minimum_threshold: threshold },
  };
}

/** Opens the approval of a payment that was just created; complete where its creation is all that was needed. */
export async function openApproval(
  tx: Transaction,
  payment: { id: number; clientId: string; created: Date; paymentDate: string },
  requirement: Requirement,
): Promise<{ complete: boolean }> {
  const state = approvalState(requirement.rules, {
    approvals: [],
    creator: requirement.creatorId,
    creatorApprovalEnabled: requirement.creatorApprovalEnabled,
    permitted: await permittedContacts(tx, payment.clientId),
  });
  const creation = state.approvals.find((approval) => approval.creation && approval.counts);
  const authorisations = creation
    ? [await authorisation(tx, requirement.creatorId, payment.created, 1, creation.level)]
    : [];
  await tx.query(
    'insert into payment_approvals (payment_id, client_id, requirement, authorisations, remaining, status) values ($1, $2, $3, $4, $5, $6)',
    [
      payment.id,
      payment.clientId,
      JSON.stringify(requirement),
      JSON.stringify(authorisations),
      state.remaining,
      state.complete ? 'Approved' : 'Pending approval',
    ],
  );
  if (!state.complete) await writeApprovers(tx, payment.clientId, [{ ...payment, state }]);
  return { complete: state.complete };
}

interface Acting {
  clientId: string;
  /** payments.id */
  id: number;
  contactId: string;
  now: Date;
}

interface Open {
  requirement: Requirement;
  authorisations: Authorisation[];
  created: Date;
  payment_date: string;
}

/**
 * Counts a contact's approval.
 * @returns whether it was the last one needed
 * @throws Problem permission_denied, approval_not_allowed
 */
export async function authorise(tx: Transaction, act: Acting): Promise<{ complete: boolean }> {
  const { open, permitted } = await openFor(tx, act);
  const before = stateOf(open, permitted);
  if (!before.mayAuthorise.includes(act.contactId))
    throw new Problem('approval_not_allowed', `contact: ${whyNot(open, act.contactId, before)}`);
  const given = [...open.authorisations, await authorisation(tx, act.contactId, act.now, 1, 1)];
  const state = stateOf({ ...open, authorisations: given }, permitted);
  const levels = new Map(state.approvals.map((approval) => [approval.contact_id, approval.level]));
  const shown = given.map((each) => ({ ...each, level: levels.get(each.contact_id) ?? each.level }));
  await save(tx, act, shown, state.remaining, state.complete ? 'Approved' : 'Pending approval');
  await removeApprovers(tx, act);
  if (!state.complete)
    await writeApprovers(tx, act.clientId, [
      { id: act.id, created: open.created, paymentDate: open.payment_date, state },
    ]);
  return { complete: state.complete };
}

/** Records a rejection by an approver of the payment. @throws Problem permission_denied, approval_not_allowed */
export async function reject(tx: Transaction, act: Acting): Promise<void> {
  const { open, permitted } = await openFor(tx, act);
  const state = stateOf(open, permitted);
  if (!state.mayReject.includes(act.contactId))
    throw new Problem('approval_not_allowed', `contact: ${whyNot(open, act.contactId, state)}`);
  const level = state.levels.find((each) => !each.met)?.level ?? 1;
  const given = [...open.authorisations, await authorisation(tx, act.contactId, act.now, 2, level)];
  await save(tx, act, given, 0, 'Rejected');
  await removeApprovers(tx, act);
}

/** Closes the approval of a payment that was cancelled while it was pending. */
export async function closeApproval(
  tx: Transaction,
  payment: { clientId: string; id: number; status: 'Cancelled' },
): Promise<void> {
  await tx.query('update payment_approvals set status = $3, remaining = 0 where client_id = $1 and payment_id = $2', [
    payment.clientId,
    payment.id,
    payment.status,
  ]);
  await removeApprovers(tx, payment);
}

/** Payments whose approvers are computed at once, so that a client with very many pending ones needs no more memory. */
const REFRESH_BATCH = 1_000;

/**
 * Computes anew who may act on the client's pending payments: after a contact lost or got a permission, left the client, was
 * disabled, and after settings changed. The caller's transaction makes the change and this true at once.
 */
export async function refreshApprovers(tx: Transaction, clientId: string, _now: Date): Promise<void> {
  const permitted = await permittedContacts(tx, clientId);
  let last = 0;
  for (;;) {
    const { rows } = await tx.query<Open & { id: number }>(
      `select a.payment_id as id, a.requirement, a.authorisations, p.created, p.payment_date from payment_approvals a
       join payments p on p.id = a.payment_id and p.client_id = a.client_id
       where a.client_id = $1 and a.status = 'Pending approval' and a.payment_id > $2 order by a.payment_id limit $3 for update of p`,
      [clientId, last, REFRESH_BATCH],
    );
    if (rows.length === 0) return;
    const states = rows.map((row) => ({
      id: row.id,
      created: row.created,
      paymentDate: row.payment_date,
      state: stateOf(row, permitted),
    }));
    await tx.query('delete from payment_approvers where client_id = $1 and payment_id = any($2::bigint[])', [
      clientId,
      rows.map((row) => row.id),
    ]);
    await writeApprovers(tx, clientId, states);
    await tx.query(
      `update payment_approvals a set remaining = u.remaining from unnest($2::bigint[], $3::int[]) as u(id, remaining)
       where a.client_id = $1 and a.payment_id = u.id and a.remaining <> u.remaining`,
      [clientId, states.map((each) => each.id), states.map((each) => each.state.remaining)],
    );
    last = rows.at(-1)?.id ?? last;
  }
}

/** The contacts who may authorise payments of a client now: permitted and enabled. */
export async function permittedContacts(db: Db, clientId: string): Promise<Set<string>> {
  const { rows } = await db.query<{ contact_id: string }>(
    `select cc.contact_id from contact_clients cc join contacts c using (contact_id)
     where cc.client_id = $1 and cc.can_authorise_payments and c.status = 'enabled' order by cc.contact_id`,
    [clientId],
  );
  return new Set(rows.map((row) => row.contact_id));
}

function stateOf(open: Pick<Open, 'requirement' | 'authorisations'>, permitted: ReadonlySet<string>): ApprovalState {
  const { requirement, authorisations } = open;
  return approvalState(requirement.rules, {
    approvals: authorisations
      .filter((each) => each.status === 1 && each.contact_id !== requirement.creatorId)
      .map((each) => each.contact_id),
    creator: requirement.creatorId,
    creatorApprovalEnabled: requirement.creatorApprovalEnabled,
    permitted,
  });
}

async function openFor(tx: Transaction, act: Acting): Promise<{ open: Open; permitted: Set<string> }> {
  const permitted = await permittedContacts(tx, act.clientId);
  if (!permitted.has(act.contactId))
    throw new Problem('permission_denied', 'contact: needs can_authorise_payments for this client');
  const { rows } = await tx.query<Open>(
    `select a.requirement, a.authorisations, p.created, p.payment_date from payment_approvals a
     join payments p on p.id = a.payment_id and p.client_id = a.client_id
     where a.client_id = $1 and a.payment_id = $2 and a.status = 'Pending approval' for update of a`,
    [act.clientId, act.id],
  );
  if (!rows[0]) throw new Problem('approval_not_allowed', 'payment: no approval of it is open');
  return { open: rows[0], permitted };
}

function whyNot(open: Open, contactId: string, state: ApprovalState): string {
  if (open.requirement.creatorId === contactId) return 'the creator may not act on its own payment';
  if (open.authorisations.some((each) => each.contact_id === contactId)) return 'has acted on this payment already';
  if (state.mayReject.includes(contactId)) return 'its approval would not bring the payment any further';
  return 'is not an approver of this payment';
}

async function authorisation(
  tx: Transaction,
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
  authorisations: Authorisation[],
  remaining: number,
  status: string,
): Promise<void> {
  await tx.query(
    'update payment_approvals set authorisations = $3, remaining = $4, status = $5 where client_id = $1 and payment_id = $2',
    [act.clientId, act.id, JSON.stringify(authorisations), remaining, status],
  );
}

async function removeApprovers(tx: Transaction, payment: { clientId: string; id: number }): Promise<void> {
  await tx.query('delete from payment_approvers where client_id = $1 and payment_id = $2', [
    payment.clientId,
    payment.id,
  ]);
}

interface Approvable {
  id: number;
  created: Date;
  paymentDate: string;
  state: ApprovalState;
}

async function writeApprovers(tx: Transaction, clientId: string, payments: Approvable[]): Promise<void> {
  const rows = payments.flatMap((payment) => {
    const may = new Set(payment.state.mayAuthorise);
    return [...new Set([...payment.state.mayAuthorise, ...payment.state.mayReject])].map((contact) => ({
      payment,
      contact,
      may: may.has(contact),
    }));
  });
  if (rows.length === 0) return;
  const mayReject = new Map(payments.map((payment) => [payment.id, new Set(payment.state.mayReject)]));
  await tx.query(
    `insert into payment_approvers (client_id, contact_id, payment_id, created, payment_date, may_authorise, may_reject)
     select $1, * from unnest($2::text[], $3::bigint[], $4::timestamptz[], $5::date[], $6::boolean[], $7::boolean[])`,
    [
      clientId,
      rows.map((row) => row.contact),
      rows.map((row) => row.payment.id),
      rows.map((row) => row.payment.created),
      rows.map((row) => row.payment.paymentDate),
      rows.map((row) => row.may),
      rows.map((row) => mayReject.get(row.payment.id)?.has(row.contact) ?? false),
    ],
  );
}
