import type { Act } from '../audit/act.ts';
import { noteChange } from '../audit/change.ts';
import type { Transaction } from '../database/database.ts';
import type { PaymentNumber } from '../values/identifiers.ts';
import { type Approval, evaluate } from './approval.ts';
import { type Approver, approversOf } from './approvers.ts';
import { telling } from './notices.ts';
import { rulesOf } from './requirement.ts';

/** A pending payment, and its place in the order of states. Payments with the same state have the same approvers. */
export interface Place {
  state: Buffer;
  payment_id: PaymentNumber;
}

/** Before the first place. */
export const BEGINNING: Place = { state: Buffer.alloc(0), payment_id: 0 as PaymentNumber };

/** The next pending payments of a client after a place. */
export async function nextPlaces(
  tx: Transaction,
  clientId: string,
  { after, limit }: { after: Place; limit: number },
): Promise<Place[]> {
  const { rows } = await tx.query<Place>(
    `select state, payment_id from payment_approvals
     where client_id = $1 and status = 'Pending approval' and (state, payment_id) > ($2, $3)
     order by state, payment_id limit $4`,
    [clientId, after.state, after.payment_id, limit],
  );
  return rows;
}

/** The approvers of one state, and the state's index in the batch. */
interface State {
  index: number;
  approvers: Approver[];
  remaining: number;
}

interface Payment {
  id: PaymentNumber;
  state: State;
  /** In its stored form. */
  remaining: number;
}

interface Pending extends Approval, Place {
  remaining: number;
}

/**
 * Updates the approvers of some pending payments by their rules and the current permissions. It writes only rows that change. The caller
 * holds the client's lock (lock.ts), shared or exclusive.
 * @param permitted who may authorise payments of the client now
 * @returns payments that somebody acts on at this moment: they were not changed
 */
export async function refreshPayments(
  tx: Transaction,
  act: Act,
  { clientId, permitted, ids }: { clientId: string; permitted: ReadonlySet<string>; ids: PaymentNumber[] },
): Promise<PaymentNumber[]> {
  const pending = await lockPending(tx, clientId, ids);
  const states = new Map<string, State>();
  for (const payment of pending) {
    const key = payment.state.toString('hex');
    if (states.has(key)) continue;
    const now = evaluate(await rulesOf(tx, clientId, payment.requirement), payment, permitted);
    states.set(key, { index: states.size, approvers: approversOf(now), remaining: now.remaining });
  }
  const stateOf = ({ state }: Pending) => states.get(state.toString('hex')) as State;
  const payments = pending.map((payment) => ({
    id: payment.payment_id,
    state: stateOf(payment),
    remaining: payment.remaining,
  }));
  await writeDifferences(tx, act, { clientId, payments, states: [...states.values()] });
  await writeRemaining(tx, act, { clientId, payments });
  const done = new Set(pending.map((place) => place.payment_id));
  return await stillPending(
    tx,
    clientId,
    ids.filter((id) => !done.has(id)),
  );
}

/** Locks the payments that are free. An approval or a cancellation holds its payment's row for some milliseconds; this does not wait for it. */
async function lockPending(tx: Transaction, clientId: string, ids: PaymentNumber[]): Promise<Pending[]> {
  const { rows } = await tx.query<Pending>(
    `select a.* from unnest($2::bigint[]) as w (id) cross join lateral (
       select state, payment_id, requirement, authorisations, remaining from payment_approvals
       where client_id = $1 and payment_id = w.id and status = 'Pending approval' offset 0 for no key update skip locked) a`,
    [clientId, ids],
  );
  return rows;
}

async function stillPending(tx: Transaction, clientId: string, ids: PaymentNumber[]): Promise<PaymentNumber[]> {
  if (ids.length === 0) return [];
  const { rows } = await tx.query<{ payment_id: PaymentNumber }>(
    `select a.payment_id from unnest($2::bigint[]) as w (id) cross join lateral (
       select payment_id from payment_approvals where client_id = $1 and payment_id = w.id and status = 'Pending approval' offset 0) a`,
    [clientId, ids],
  );
  return rows.map((row) => row.payment_id);
}

const PAYMENTS = 'unnest($2::bigint[], $3::int[]) as p(id, state)';
const WANTED = 'unnest($4::int[], $5::text[], $6::boolean[], $7::boolean[]) as w(state, contact, authorise, reject)';
/** `offset 0` makes it a look-up by key for each payment. Otherwise the planner may read all rows of the client. */
const PRESENT = `${PAYMENTS} cross join lateral (select a.ctid, a.contact_id, a.may_authorise, a.may_reject
  from payment_approvers a where a.client_id = $1 and a.payment_id = p.id offset 0) a`;

/** Corrects payment_approvers: removes superfluous rows, and fixes wrong and missing ones. */
async function writeDifferences(
  tx: Transaction,
  act: Act,
  { clientId, payments, states }: { clientId: string; payments: Payment[]; states: State[] },
): Promise<void> {
  if (payments.length === 0) return;
  const wanted = states.flatMap(({ index, approvers }) => approvers.map((approver) => ({ index, ...approver })));
  const values = [
    clientId,
    payments.map(({ id }) => id),
    payments.map(({ state }) => state.index),
    wanted.map(({ index }) => index),
    wanted.map(({ contact }) => contact),
    wanted.map(({ mayAuthorise }) => mayAuthorise),
    wanted.map(({ mayReject }) => mayReject),
  ];
  await tx.query(
    `delete from payment_approvers where client_id = $1 and ctid = any (array(select a.ctid from ${PRESENT}
       where not exists (select from unnest($4::int[], $5::text[]) as w(state, contact) where w.state = p.state and w.contact = a.contact_id)))`,
    values.slice(0, 5),
  );
  const told = act.quiet ? (write: string) => write : telling;
  await tx.query(
    told(`update payment_approvers a set may_authorise = d.authorise, may_reject = d.reject
     from (select p.id, w.contact, w.authorise, w.reject from ${PRESENT} join ${WANTED} on w.state = p.state and w.contact = a.contact_id
       where (a.may_authorise, a.may_reject) is distinct from (w.authorise, w.reject)) d
     where a.client_id = $1 and a.payment_id = d.id and a.contact_id = d.contact`),
    values,
  );
  await tx.query(
    told(`insert into payment_approvers (client_id, contact_id, payment_id, created, payment_date, may_authorise, may_reject)
     select $1, w.contact, p.id, m.created, m.payment_date, w.authorise, w.reject from ${PAYMENTS} join ${WANTED} on w.state = p.state
       cross join lateral (select m.created, m.payment_date from payments m where m.client_id = $1 and m.id = p.id offset 0) m
     where not exists (select from payment_approvers a
       where a.client_id = $1 and a.payment_id = p.id and a.contact_id = w.contact offset 0)`),
    values,
  );
}

async function writeRemaining(
  tx: Transaction,
  act: Act,
  { clientId, payments }: { clientId: string; payments: Payment[] },
): Promise<void> {
  const changed = payments.filter(({ remaining, state }) => remaining !== state.remaining);
  if (changed.length === 0) return;
  const { rows } = await tx.query<{ id: string }>(
    `update payment_approvals a set remaining = u.remaining from unnest($2::bigint[], $3::int[]) as u(id, remaining)
     where a.client_id = $1 and a.payment_id = u.id
     returning (select p.payment_id from payments p where p.client_id = $1 and p.id = a.payment_id) as id`,
    [clientId, changed.map(({ id }) => id), changed.map(({ state }) => state.remaining)],
  );
  for (const { id } of rows) noteChange(tx, act, { entity: 'payment', id, clientId, action: 'update' });
}
