import type { Act } from '../../audit/act.ts';
import { lockChanges, type Transaction } from '../../database/database.ts';
import { Problem } from '../../values/errors.ts';
import type { PaymentId } from '../../values/identifiers.ts';
import { present } from '../../values/unknown.ts';
import { type MoveOptions, type MoveRequest, type MoveResult, movePayments } from '../lifecycle.ts';
import type { PaymentAction } from '../moves.ts';
import type { PaymentRecord } from '../payment.ts';
import type { Presentation } from '../presentation.ts';
import { creditReturns } from './payment-return.ts';

export interface PaymentActionRequest extends Pick<MoveRequest, 'act' | 'traceparent'> {
  paymentId: PaymentId;
  action: PaymentAction;
  /** The contact who acts. Required for authorise and reject. */
  contactId?: string | undefined;
  reason?: string | undefined;
  /** The operator token that acts. */
  onBehalfBy?: string | undefined;
}

/**
 * Acts on payments for separate calls, in order. Each call is judged by itself, and is a step of its own in the change feed.
 * @returns for each call its payment in the form that the institution reads, or why it was refused; undefined if it was left out, because
 * an earlier call acts on the same payment, or because it also credits an account
 */
export async function actSeparately(
  tx: Transaction,
  presentation: Presentation,
  calls: readonly (PaymentActionRequest & { act: Act })[],
): Promise<(PaymentRecord | Problem | undefined)[]> {
  const [first] = calls;
  if (!first) return [];
  const seen = new Set<PaymentId>();
  const taken = calls.filter(({ paymentId, action }) => {
    const isFit = !seen.has(paymentId) && (action !== 'return' || calls.length === 1);
    seen.add(paymentId);
    return isFit;
  });
  const { refused, forms } = await actOnPayments(tx, first.act, taken, { presentation });
  lockChanges(tx);
  const read = await forms;
  const outcomes = new Map(
    taken.map((call, index) => [call, refused.get(index) ?? present(read.get(call.paymentId)).record]),
  );
  return calls.map((call) => outcomes.get(call));
}

/**
 * Acts on payments of any clients on behalf of the institution's core system, one action on each payment. A return also credits an account.
 * @returns what the payments look like afterwards, and why actions were refused, by their index
 */
export async function actOnPayments(
  tx: Transaction,
  act: Act,
  requests: PaymentActionRequest[],
  options: MoveOptions,
): Promise<Pick<MoveResult, 'refused' | 'forms'>> {
  const refused = new Map<number, Problem>();
  const known = await findMoves(tx, requests, refused);
  const firstRefused = () => (options.stop ? Math.min(...refused.keys()) : Number.POSITIVE_INFINITY);
  const last = firstRefused();
  const moves = new Map([...known].filter(([index]) => index < last));
  const indexes = [...moves.keys()];
  const found = await movePayments(tx, act, [...moves.values()], options);
  for (const [place, problem] of found.refused) refused.set(present(indexes[place]), problem);
  const end = firstRefused();
  const done = [...moves].filter(([index]) => !refused.has(index) && index < end);
  const returned = done.filter(([, { action }], place) => action === 'return' && !found.moved[place]?.uncredited);
  await creditReturns(
    tx,
    act,
    returned.map(([, move]) => move),
    options,
  );
  return { refused, forms: found.forms };
}

/**
 * Looks up the clients of the payments, and checks that the contacts are theirs.
 * @returns the moves whose payment and contact exist, by their index
 */
async function findMoves(
  tx: Transaction,
  requests: PaymentActionRequest[],
  refused: Map<number, Problem>,
): Promise<Map<number, MoveRequest>> {
  const owners = await findOwners(tx, requests);
  const moves = new Map<number, MoveRequest>();
  for (const [index, request] of requests.entries()) {
    const owner = owners.get(`${request.paymentId}\0${request.contactId ?? ''}`);
    if (!owner)
      refused.set(index, new Problem('payment_not_found', { field: 'payment_id', message: 'does not exist' }));
    else if (!owner.known)
      refused.set(
        index,
        new Problem('contact_not_found', { field: 'contact_id', message: 'does not exist for this client' }),
      );
    else moves.set(index, { ...request, clientId: owner.client_id });
  }
  return moves;
}

interface Owner {
  payment_id: PaymentId;
  contact_id: string;
  client_id: string;
  /** Whether no contact is named, or the named one is the client's. */
  known: boolean;
}

async function findOwners(tx: Transaction, requests: PaymentActionRequest[]): Promise<Map<string, Owner>> {
  const { rows } = await tx.query<Owner>({
    name: 'payment-owners',
    text: `select u.payment_id, u.contact_id, p.client_id, u.contact_id = '' as known
      from unnest($1::text[], $2::text[]) as u(payment_id, contact_id) join payments p on p.payment_id = u.payment_id`,
    values: [requests.map(({ paymentId }) => paymentId), requests.map(({ contactId }) => contactId ?? '')],
  });
  const acting = rows.filter(({ known }) => !known);
  if (acting.length === 0) return ownersByRequest(rows);
  const found = await tx.query<{ contact_id: string; client_id: string }>(
    `select distinct c.contact_id, c.client_id from unnest($1::text[], $2::text[]) as u(contact_id, client_id)
     join contact_clients c on c.client_id = u.client_id and c.contact_id = u.contact_id`,
    [acting.map((row) => row.contact_id), acting.map((row) => row.client_id)],
  );
  const members = new Set(found.rows.map((row) => `${row.contact_id}\0${row.client_id}`));
  for (const row of acting) row.known = members.has(`${row.contact_id}\0${row.client_id}`);
  return ownersByRequest(rows);
}

function ownersByRequest(rows: Owner[]): Map<string, Owner> {
  return new Map(rows.map((row) => [`${row.payment_id}\0${row.contact_id}`, row]));
}
