import type { Transaction } from '../database/database.ts';
import { Problem } from '../values/errors.ts';
import type { PaymentNumber } from '../values/identifiers.ts';
import { keepActs } from './acts.ts';
import type { Approval } from './approval.ts';
import { permittedContacts } from './approvers.ts';
import { tellWaiting } from './notices.ts';
import { rulesOf } from './requirement.ts';
import { authorised, type Decision, noRight, noticesOf, type Open, type Outcome, rejected } from './workflow.ts';

/** Decisions on many payments at once, one on each: what workflow.ts does for one of them, by statements for all. */

export interface BulkDecision extends Decision {
  action: 'authorise' | 'reject';
}

/** A decision that can be made, and its result. */
export interface Decided {
  decision: BulkDecision;
  outcome: Outcome;
  created: Date;
  paymentDate: string;
}

/**
 * Works out the results of decisions, and writes nothing. The caller holds the locks of the clients and the rows of the payments.
 * @returns the result of each, or why it cannot be made, in their order
 */
export async function workOut(tx: Transaction, decisions: BulkDecision[]): Promise<(Decided | Problem)[]> {
  const permitted = new Map<string, Set<string>>();
  for (const { clientId } of decisions)
    if (!permitted.has(clientId)) permitted.set(clientId, await permittedContacts(tx, clientId));
  const names = await namesOf(tx, decisions);
  const waiting = await findWaiting(tx, decisions);
  const decided: (Decided | Problem)[] = [];
  for (const decision of decisions) {
    const { clientId, contactId, id, action } = decision;
    const allowed = permitted.get(clientId) as Set<string>;
    const found = waiting.get(id);
    if (!allowed.has(contactId)) decided.push(noRight());
    else if (!found) decided.push(new Problem('approval_not_allowed', 'payment: it has no open approval'));
    else {
      const open: Open = { ...found, permitted: allowed, rules: await rulesOf(tx, clientId, found.requirement) };
      const judge = action === 'authorise' ? authorised : rejected;
      try {
        const outcome = judge(open, decision, names.get(contactId) ?? contactId);
        decided.push({ decision, outcome, created: found.created, paymentDate: found.payment_date });
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        decided.push(error);
      }
    }
  }
  return decided;
}

async function namesOf(tx: Transaction, decisions: BulkDecision[]): Promise<Map<string, string>> {
  const { rows } = await tx.query<{ contact_id: string; name: string }>(
    'select contact_id, name from contacts where contact_id = any($1)',
    [[...new Set(decisions.map(({ contactId }) => contactId))]],
  );
  return new Map(rows.map((row) => [row.contact_id, row.name]));
}

type Waiting = Approval & { id: PaymentNumber; created: Date; payment_date: string };

async function findWaiting(tx: Transaction, decisions: BulkDecision[]): Promise<Map<PaymentNumber, Waiting>> {
  const { rows } = await tx.query<Waiting>(
    `select p.id, a.requirement, a.authorisations, p.created, p.payment_date
     from unnest($1::text[], $2::bigint[]) as u(client_id, id)
     join payment_approvals a on a.client_id = u.client_id and a.payment_id = u.id and a.status = 'Pending approval'
     join payments p on p.client_id = u.client_id and p.id = u.id`,
    [decisions.map(({ clientId }) => clientId), decisions.map(({ id }) => id)],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Writes decisions. @param silent no mail is sent about them */
export async function saveDecisions(tx: Transaction, decided: Decided[], silent: boolean): Promise<void> {
  if (decided.length === 0) return;
  const column = <T>(value: (one: Decided) => T) => decided.map(value);
  await tx.query(
    `update payment_approvals a set authorisations = u.authorisations, remaining = u.remaining, status = u.status, state = u.state
     from unnest($1::text[], $2::bigint[], $3::json[], $4::int[], $5::text[], $6::bytea[])
       as u(client_id, id, authorisations, remaining, status, state)
     where a.client_id = u.client_id and a.payment_id = u.id`,
    [
      column(({ decision }) => decision.clientId),
      column(({ decision }) => decision.id),
      column(({ outcome }) => JSON.stringify(outcome.authorisations)),
      column(({ outcome }) => outcome.remaining),
      column(({ outcome }) => outcome.status),
      column(({ outcome }) => outcome.state),
    ],
  );
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
  await writeApprovers(tx, decided);
  if (!silent)
    await tellWaiting(
      tx,
      decided.flatMap(({ decision, outcome }) => noticesOf(decision, outcome)),
    );
  if (!silent)
    await tellRejections(
      tx,
      ended.filter(({ outcome }) => outcome.status === 'Rejected'),
    );
}

/** Closes the approvals of payments that were cancelled, as `closeApproval` does. */
export async function closeApprovals(
  tx: Transaction,
  payments: { clientId: string; id: PaymentNumber }[],
): Promise<void> {
  if (payments.length === 0) return;
  await tx.query(
    `update payment_approvals a set status = 'Cancelled', remaining = 0 from unnest($1::text[], $2::bigint[]) as u(client_id, id)
     where a.client_id = u.client_id and a.payment_id = u.id`,
    [payments.map(({ clientId }) => clientId), payments.map(({ id }) => id)],
  );
  await deleteOf(tx, 'payment_approvers', payments);
  await deleteOf(tx, 'payment_notices', payments);
}

async function deleteOf(
  tx: Transaction,
  table: 'payment_approvers' | 'payment_notices',
  payments: { clientId: string; id: PaymentNumber }[],
): Promise<void> {
  if (payments.length === 0) return;
  await tx.query(
    `delete from ${table} t using unnest($1::text[], $2::bigint[]) as u(client_id, id)
     where t.client_id = u.client_id and t.payment_id = u.id`,
    [payments.map(({ clientId }) => clientId), payments.map(({ id }) => id)],
  );
}

async function writeApprovers(tx: Transaction, decided: Decided[]): Promise<void> {
  const rows = decided.flatMap((one) => one.outcome.approvers.map((approver) => ({ ...one, approver })));
  if (rows.length === 0) return;
  await tx.query(
    `insert into payment_approvers (client_id, payment_id, created, payment_date, contact_id, may_authorise, may_reject)
     select * from unnest($1::text[], $2::bigint[], $3::timestamptz[], $4::date[], $5::text[], $6::boolean[], $7::boolean[])`,
    [
      rows.map(({ decision }) => decision.clientId),
      rows.map(({ decision }) => decision.id),
      rows.map(({ created }) => created),
      rows.map(({ paymentDate }) => paymentDate),
      rows.map(({ approver }) => approver.contact),
      rows.map(({ approver }) => approver.mayAuthorise),
      rows.map(({ approver }) => approver.mayReject),
    ],
  );
}

async function tellRejections(tx: Transaction, decided: Decided[]): Promise<void> {
  if (decided.length === 0) return;
  await tx.query(
    `insert into mails (kind, contact_id, client_id, payment_id, created_at, due_at)
     select 'rejection', p.contact_id, u.client_id, p.id, $4, $4
     from unnest($1::text[], $2::bigint[], $3::text[]) as u(client_id, id, contact_id)
     join payments p on p.client_id = u.client_id and p.id = u.id where p.contact_id <> u.contact_id`,
    [
      decided.map(({ decision }) => decision.clientId),
      decided.map(({ decision }) => decision.id),
      decided.map(({ decision }) => decision.contactId),
      decided[0]?.decision.now,
    ],
  );
}
