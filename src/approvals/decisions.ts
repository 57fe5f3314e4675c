import { type Transaction, together } from '../database/database.ts';
import { RowList } from '../database/row-list.ts';
import { attempt, Problem } from '../values/errors.ts';
import type { PaymentNumber } from '../values/identifiers.ts';
import { keepActs } from './acts.ts';
import type { Approval } from './approval.ts';
import { permittedOf, writeApprovers } from './approvers.ts';
import { tellRejections, tellWaiting } from './notices.ts';
import { type Decision, noRight, type Outcome, outcomeOf } from './outcome.ts';
import { rulesOf } from './requirement.ts';

/** Decisions of contacts on payments, at most one on each, in statements for all of them. */

/** A decision that is allowed, and its result. */
export interface Decided {
  decision: Decision;
  outcome: Outcome;
  created: Date;
  paymentDate: string;
}

/** What is needed to judge decisions. */
export interface DecisionScene {
  /** The contacts who may authorise, by client. */
  permitted: Map<string, Set<string>>;
  /** The names of the contacts who decide. */
  names: Map<string, string>;
  waiting: Map<PaymentNumber, Waiting>;
}

/** A contact who wants to decide about a payment. */
export interface Deciding {
  clientId: string;
  paymentId: string;
  contactId: string;
}

/** Reads what decisions depend on. The caller holds, or has requested, the locks of the clients and the rows of the payments. */
export async function readScene(tx: Transaction, deciding: readonly Deciding[]): Promise<DecisionScene> {
  const [permitted, names, waiting] = await together([
    permittedOf(
      tx,
      deciding.map(({ clientId }) => clientId),
    ),
    namesOf(tx, deciding),
    findWaiting(tx, deciding),
  ]);
  return { permitted, names, waiting };
}

/**
 * Determines the results of decisions, and writes nothing.
 * @returns the result of each, or why it is not allowed, in order
 */
export async function judgeDecisions(
  tx: Transaction,
  decisions: Decision[],
  { permitted, names, waiting }: DecisionScene,
): Promise<(Decided | Problem)[]> {
  const judged: (Decided | Problem)[] = [];
  for (const decision of decisions) {
    const { clientId, contactId, id } = decision;
    const allowed = permitted.get(clientId) ?? new Set();
    const found = waiting.get(id);
    if (!found) {
      // A missing permission is reported first.
      const closed = new Problem('approval_not_allowed', 'payment: it has no open approval');
      judged.push(allowed.has(contactId) ? closed : noRight());
      continue;
    }
    const open = { ...found, permitted: allowed, rules: await rulesOf(tx, clientId, found.requirement) };
    const outcome = attempt(() => outcomeOf(open, decision, names.get(contactId) ?? contactId));
    const { created, payment_date: paymentDate } = found;
    judged.push(outcome instanceof Problem ? outcome : { decision, outcome, created, paymentDate });
  }
  return judged;
}

/**
 * Records the decision of one contact.
 * @param quiet nobody gets a mail about it
 * @returns the result for the approval
 * @throws Problem permission_denied, approval_not_allowed
 */
export async function decide(tx: Transaction, decision: Decision & Deciding, quiet: boolean): Promise<Outcome> {
  const [decided] = await judgeDecisions(tx, [decision], await readScene(tx, [decision]));
  if (decided instanceof Problem || decided === undefined) throw decided;
  await writeDecisions(tx, [decided], quiet);
  return decided.outcome;
}

async function namesOf(tx: Transaction, deciding: readonly Deciding[]): Promise<Map<string, string>> {
  if (deciding.length === 0) return new Map();
  const { rows } = await tx.query<{ contact_id: string; name: string }>({
    name: 'approval-names',
    text: 'select contact_id, name from contacts where contact_id = any($1)',
    values: [[...new Set(deciding.map(({ contactId }) => contactId))]],
  });
  return new Map(rows.map((row) => [row.contact_id, row.name]));
}

type Waiting = Approval & { id: PaymentNumber; created: Date; payment_date: string };

async function findWaiting(tx: Transaction, deciding: readonly Deciding[]): Promise<Map<PaymentNumber, Waiting>> {
  if (deciding.length === 0) return new Map();
  const list = new RowList(deciding, ({ clientId }) => clientId, {
    payment_id: { type: 'text', of: ({ paymentId }) => paymentId },
  });
  const { rows } = await tx.query<Waiting>({
    name: list.named('approvals-open'),
    text: `select p.id, a.requirement, a.authorisations, p.created, p.payment_date
      from payments p ${list.after('cross join')}
      join payment_approvals a on a.client_id = ${list.client} and a.payment_id = p.id
      where p.client_id = ${list.client} and p.payment_id = ${list.at('payment_id')} and a.status = 'Pending approval'`,
    values: list.values,
  });
  return new Map(rows.map((row) => [row.id, row]));
}

/** Writes decisions. @param quiet nobody gets a mail about them */
export async function writeDecisions(tx: Transaction, decided: Decided[], quiet: boolean): Promise<void> {
  if (decided.length === 0) return;
  const list = new RowList(decided, ({ decision }) => decision.clientId, {
    id: { type: 'bigint', of: ({ decision }) => decision.id },
    authorisations: { type: 'json', of: ({ outcome }) => JSON.stringify(outcome.authorisations) },
    remaining: { type: 'int', of: ({ outcome }) => outcome.remaining },
    status: { type: 'text', of: ({ outcome }) => outcome.status },
    state: { type: 'bytea', of: ({ outcome }) => outcome.state },
  });
  tx.later({
    name: list.named('approvals-save'),
    text: `update payment_approvals a set authorisations = ${list.at('authorisations')}, remaining = ${list.at('remaining')},
        status = ${list.at('status')}, state = ${list.at('state')} ${list.after('from')}
      where a.client_id = ${list.client} and a.payment_id = ${list.at('id')}`,
    values: list.values,
  });
  await keepActs(
    tx,
    decided.map(({ decision }) => decision),
  );
  await deleteOf(
    tx,
    'payment_approvers',
    decided.map(({ decision }) => decision),
  );
  const ended = decided.filter(({ outcome }) => outcome.status !== 'Pending approval');
  await deleteOf(
    tx,
    'payment_notices',
    ended.map(({ decision }) => decision),
  );
  // Only those who could not act before are notified.
  await writeApprovers(
    tx,
    decided.map(({ decision: { clientId, id }, outcome: { approvers }, ...payment }) => ({
      clientId,
      id,
      approvers,
      ...payment,
    })),
    true,
  );
  if (quiet) return;
  await tellWaiting(
    tx,
    decided.flatMap(({ decision: { clientId, id }, outcome }) =>
      outcome.newcomers.map((contactId) => ({ clientId, id, contactId })),
    ),
  );
  await tellRejections(
    tx,
    ended.filter(({ outcome }) => outcome.status === 'Rejected').map(({ decision }) => decision),
  );
}

/** Closes the approvals of cancelled payments. Payments without an approval are ignored. */
export async function closeApprovals(tx: Transaction, payments: Owned[]): Promise<void> {
  if (payments.length === 0) return;
  const list = paymentsOf(payments);
  tx.later({
    name: list.named('approvals-close'),
    text: `update payment_approvals a set status = 'Cancelled', remaining = 0 ${list.after('from')}
      where a.client_id = ${list.client} and a.payment_id = ${list.at('id')}`,
    values: list.values,
  });
  await deleteOf(tx, 'payment_approvers', payments);
  await deleteOf(tx, 'payment_notices', payments);
}

/** A payment, with its client. */
interface Owned {
  clientId: string;
  id: PaymentNumber;
}

function paymentsOf(payments: readonly Owned[]): RowList<Owned, 'id'> {
  return new RowList(payments, ({ clientId }) => clientId, { id: { type: 'bigint', of: ({ id }) => id } });
}

async function deleteOf(
  tx: Transaction,
  table: 'payment_approvers' | 'payment_notices',
  payments: Owned[],
): Promise<void> {
  if (payments.length === 0) return;
  const list = paymentsOf(payments);
  tx.later({
    name: list.named(`${table}-remove`),
    text: `delete from ${table} t ${list.after('using')} where t.client_id = ${list.client} and t.payment_id = ${list.at('id')}`,
    values: list.values,
  });
}
