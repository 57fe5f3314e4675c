import { noteChange } from '../change.ts';
import type { Act } from '../context.ts';
import type { Transaction } from '../database.ts';
import type { PaymentNumber } from '../identifiers.ts';
import { type Approval, evaluate } from './approval.ts';
import { type Approver, approversOf, permittedContacts } from './approvers.ts';
import { takeLock } from './lock.ts';
import { telling } from './notices.ts';
import { type Requirement, rulesOf } from './requirement.ts';

/** Rows of approvers that one statement changes. They take some tenths of a second, far below the limit for a query. */
const MAX_ROWS_AT_ONCE = 20_000;

/** Locks that one transaction takes without asking who needs them: PostgreSQL holds some thousand locks in all. */
const MAX_LOCKS = 1_000;

interface State extends Approval {
  state: Buffer;
  payment_id: PaymentNumber;
  remaining: number;
}

/** How the approvers of every payment with one state change. */
interface Change {
  state: Buffer;
  gone: string[];
  added: Approver[];
  changed: Approver[];
  remaining: number;
}

/**
 * Updates who may act on the clients' pending payments, after contacts got or lost a permission, joined or left the client, or were
 * enabled or disabled. It runs in the transaction of that change; until the transaction ends, nobody creates or approves payments of
 * these clients.
 * Payments with the same state have the same approvers, so each state is computed once and compared with one of its payments.
 * Only rows that change are written, many at a time. For 200,000 pending payments see docs/performance-approvals.md.
 */
export async function refreshApprovers(tx: Transaction, act: Act, ...clientIds: string[]): Promise<void> {
  if (clientIds.length === 0) return;
  const clients = clientIds.length > MAX_LOCKS ? await withApprovals(tx, clientIds) : clientIds;
  await takeLock(tx, ...clients);
  for (const clientId of clients) await refreshClient(tx, act, clientId);
}

/** An import of contacts can name more clients than there are locks. Clients without approvals need none. */
async function withApprovals(tx: Transaction, clientIds: string[]): Promise<string[]> {
  const { rows } = await tx.query<{ client_id: string }>(
    `select client_id from clients c where client_id = any($1) and (payment_approvals_enabled or exists (
       select from payment_approvals a where a.client_id = c.client_id and a.status = 'Pending approval'))`,
    [clientIds],
  );
  return rows.map((row) => row.client_id);
}

async function refreshClient(tx: Transaction, act: Act, clientId: string): Promise<void> {
  const states = await pendingStates(tx, clientId);
  if (states.length === 0) return;
  const permitted = await permittedContacts(tx, clientId);
  const present = await presentApprovers(tx, clientId, states);
  const changes: Change[] = [];
  for (const each of states) {
    const rules = await rulesOf(tx, clientId, each.requirement);
    const now = evaluate(rules, each, permitted);
    const change = difference(each, present.get(each.payment_id) ?? [], approversOf(now), now.remaining);
    if (change) changes.push(change);
  }
  if (changes.length > 0) await apply(tx, act, clientId, changes);
}

/** Every state of the client's pending payments, with the first payment of each. The index is searched once for each state. */
async function pendingStates(tx: Transaction, clientId: string): Promise<State[]> {
  const next = `select state, payment_id from payment_approvals where client_id = $1 and status = 'Pending approval'`;
  const { rows } = await tx.query<State & { requirement: Requirement }>(
    `with recursive s as (
       (${next} order by state, payment_id limit 1)
       union all
       select n.* from s cross join lateral (${next} and state > s.state order by state, payment_id limit 1) n)
     select s.state, s.payment_id, a.requirement, a.authorisations, a.remaining
     from s join payment_approvals a on a.client_id = $1 and a.payment_id = s.payment_id`,
    [clientId],
  );
  return rows;
}

async function presentApprovers(
  tx: Transaction,
  clientId: string,
  states: State[],
): Promise<Map<PaymentNumber, Approver[]>> {
  const { rows } = await tx.query<{ payment_id: PaymentNumber } & Approver>(
    `select payment_id, contact_id as contact, may_authorise as "mayAuthorise", may_reject as "mayReject"
     from payment_approvers where client_id = $1 and payment_id = any($2::bigint[])`,
    [clientId, states.map((each) => each.payment_id)],
  );
  const present = new Map<PaymentNumber, Approver[]>();
  for (const { payment_id: id, ...approver } of rows) {
    const known = present.get(id);
    if (known) known.push(approver);
    else present.set(id, [approver]);
  }
  return present;
}

function difference(state: State, before: Approver[], after: Approver[], remaining: number): Change | null {
  const old = new Map(before.map((each) => [each.contact, each]));
  const kept = new Set(after.map((each) => each.contact));
  const gone = before.filter((each) => !kept.has(each.contact)).map((each) => each.contact);
  const added = after.filter((each) => !old.has(each.contact));
  const changed = after.filter((each) => {
    const known = old.get(each.contact);
    return known && (known.mayAuthorise !== each.mayAuthorise || known.mayReject !== each.mayReject);
  });
  if (gone.length + added.length + changed.length === 0 && remaining === state.remaining) return null;
  return { state: state.state, gone, added, changed, remaining };
}

/** Applies changes to all payments with their states, some thousand payments at a time. */
async function apply(tx: Transaction, act: Act, clientId: string, changes: Change[]): Promise<void> {
  const most = Math.max(...changes.map((each) => each.gone.length + each.added.length + each.changed.length), 1);
  const payments = Math.max(1, Math.floor(MAX_ROWS_AT_ONCE / most));
  const byState = new Map(changes.map((change) => [change.state.toString('hex'), change]));
  let last: [Buffer, number] = [Buffer.alloc(0), 0];
  for (;;) {
    const { rows } = await tx.query<{ state: Buffer; payment_id: PaymentNumber }>(
      `select state, payment_id from payment_approvals
       where client_id = $1 and status = 'Pending approval' and state = any($2::bytea[]) and (state, payment_id) > ($3, $4)
       order by state, payment_id limit ${payments}`,
      [clientId, changes.map(({ state }) => state), ...last],
    );
    const end = rows.at(-1);
    if (!end) return;
    await applyTo(
      tx,
      act,
      clientId,
      rows.map((row) => ({ id: row.payment_id, change: byState.get(row.state.toString('hex')) as Change })),
    );
    last = [end.state, end.payment_id];
  }
}

async function applyTo(
  tx: Transaction,
  act: Act,
  clientId: string,
  payments: { id: PaymentNumber; change: Change }[],
): Promise<void> {
  const gone = payments.flatMap(({ id, change }) => change.gone.map((contact) => ({ id, contact })));
  if (gone.length > 0) {
    await tx.query(
      `delete from payment_approvers a using unnest($2::bigint[], $3::text[]) as u(id, contact)
       where a.client_id = $1 and a.contact_id = u.contact and a.payment_id = u.id`,
      [clientId, gone.map(({ id }) => id), gone.map(({ contact }) => contact)],
    );
  }
  const columns = (which: 'added' | 'changed') => {
    const rows = payments.flatMap(({ id, change }) => change[which].map((approver) => ({ id, ...approver })));
    if (rows.length === 0) return null;
    return [
      clientId,
      rows.map(({ id }) => id),
      rows.map(({ contact }) => contact),
      rows.map(({ mayAuthorise }) => mayAuthorise),
      rows.map(({ mayReject }) => mayReject),
    ];
  };
  const rows = 'unnest($2::bigint[], $3::text[], $4::boolean[], $5::boolean[]) as u(id, contact, authorise, reject)';
  const added = columns('added');
  const told = act.quiet ? (write: string) => write : telling;
  if (added) {
    await tx.query(
      told(`insert into payment_approvers (client_id, contact_id, payment_id, created, payment_date, may_authorise, may_reject)
       select $1, u.contact, p.id, p.created, p.payment_date, u.authorise, u.reject
       from ${rows} join payments p on p.client_id = $1 and p.id = u.id`),
      added,
    );
  }
  const changed = columns('changed');
  if (changed) {
    await tx.query(
      told(`update payment_approvers a set may_authorise = u.authorise, may_reject = u.reject from ${rows}
       where a.client_id = $1 and a.contact_id = u.contact and a.payment_id = u.id`),
      changed,
    );
  }
  const refreshed = await tx.query<{ id: string }>(
    `update payment_approvals a set remaining = u.remaining from unnest($2::bigint[], $3::int[]) as u(id, remaining), payments p
     where a.client_id = $1 and a.payment_id = u.id and a.remaining <> u.remaining and p.client_id = $1 and p.id = u.id
     returning p.payment_id as id`,
    [clientId, payments.map(({ id }) => id), payments.map(({ change }) => change.remaining)],
  );
  for (const { id } of refreshed.rows) noteChange(tx, act, { entity: 'payment', id, clientId, action: 'update' });
}
