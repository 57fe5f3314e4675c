import { keepActs } from '../approvals/acts.ts';
import { noRight } from '../approvals/outcome.ts';
import type { Act } from '../audit/act.ts';
import { type Db, first, type Transaction } from '../database/database.ts';
import { Problem } from '../values/errors.ts';
import type { PaymentId } from '../values/identifiers.ts';
import { present } from '../values/unknown.ts';
import { movePayment, movePayments } from './lifecycle.ts';
import { mayMove, type PaymentStatus } from './moves.ts';
import { noPayment } from './payment.ts';
import type { Presentation } from './presentation.ts';
import { mayManage, withPermissions } from './viewer-permissions.ts';

/** What a contact does with a payment of its client (service interface; docs/decisions.md, 4). */
export interface ContactAction {
  clientId: string;
  contactId: string;
  paymentId: PaymentId;
  /** The reason, in the contact's words. */
  reason?: string | undefined;
}

type DecisionRequest = ContactAction & { action: 'authorise' | 'reject' };

/**
 * Counts a contact's approval or rejection. A refusal does not reveal the lifecycle to an approver. It only says that the contact may not
 * act on this payment now.
 * @throws Problem payment_not_found, permission_denied, approval_not_allowed
 */
export async function decidePayment(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  request: DecisionRequest,
): Promise<void> {
  try {
    await movePayment(tx, act, presentation, request);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'transition_not_allowed') throw error;
    throw await refusal(tx, request);
  }
}

/** A contact's decision that applies to many payments. */
export interface ManyDecisions extends Omit<DecisionRequest, 'paymentId'> {
  /** Without duplicates. */
  paymentIds: readonly PaymentId[];
  /** Payments that were refused before. */
  refused: ReadonlyMap<PaymentId, Problem>;
}

/**
 * Counts a contact's approvals or rejections of many payments. Each payment is judged separately, and those that can be decided are.
 * @returns why payments are refused, by their place in the list
 */
export async function decideMany(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  { paymentIds, refused: before, ...decision }: ManyDecisions,
): Promise<Map<number, Problem>> {
  const refused = new Map<number, Problem>();
  for (const [index, id] of paymentIds.entries()) {
    const problem = before.get(id);
    if (problem) refused.set(index, problem);
  }
  const open = [...paymentIds.entries()].filter(([index]) => !refused.has(index));
  const requests = open.map(([, paymentId]) => ({ ...decision, paymentId }));
  const judged = await movePayments(tx, act, requests, { presentation });
  for (const [place, problem] of judged.refused) {
    const [index, paymentId] = present(open[place]);
    const shown = problem.code === 'transition_not_allowed' ? await refusal(tx, { ...decision, paymentId }) : problem;
    refused.set(index, shown);
  }
  return refused;
}

/**
 * Which of the payments do not wait for this contact alone, including unknown payments. A contact who may not authorise payments may decide
 * only about payments that it ordered itself and that need nobody else.
 */
export async function findForeign(
  db: Db,
  { clientId, contactId, paymentIds }: Omit<ContactAction, 'paymentId'> & { paymentIds: readonly PaymentId[] },
): Promise<PaymentId[]> {
  const { rows } = await db.query<{ payment_id: PaymentId }>(
    `select p.payment_id from unnest($3::text[]) as w(payment_id) cross join lateral (
       select * from payments where client_id = $1 and payment_id = w.payment_id offset 0) p
     join payment_approvals a on a.client_id = $1 and a.payment_id = p.id
     where p.contact_id = $2 and (a.requirement ->> 'own')::boolean`,
    [clientId, contactId, paymentIds],
  );
  const own = new Set(rows.map(({ payment_id: id }) => id));
  return paymentIds.filter((id) => !own.has(id));
}

/** Refuses a contact who may not authorise payments, unless they wait for it alone. @throws Problem permission_denied */
export async function requireOwn(db: Db, request: Parameters<typeof findForeign>[1]): Promise<void> {
  if ((await findForeign(db, request)).length > 0) throw noRight();
}

/**
 * Gives the information that the institution asked for, in the contact's words.
 * @throws Problem payment_not_found, transition_not_allowed
 */
export async function provideInformation(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  { clientId, contactId, paymentId, information }: ContactAction & { information: string },
): Promise<void> {
  const action = 'provide_information' as const;
  await movePayment(tx, act, presentation, { clientId, contactId, paymentId, action, information });
}

/** Why no approval is open: the payment's status, and what this contact may still do. It does not list the institution's moves. */
async function refusal(tx: Transaction, { clientId, contactId, paymentId, action }: DecisionRequest): Promise<Problem> {
  const payment = first(
    await tx.query<{ status: PaymentStatus; return_started: boolean; may: boolean | null }>(
      await withPermissions(tx, {
        text: `select p.status, p.return_started, p.contact_id = $2 or ${mayManage('$1', '$2')} as may
          from payments p where p.client_id = $1 and p.payment_id = $3`,
        values: [clientId, contactId, paymentId],
      }),
    ),
  );
  if (!payment) noPayment();
  const mayCancel = payment.may && mayMove({ status: payment.status, returnStarted: payment.return_started }, 'cancel');
  return new Problem('approval_not_allowed', {
    field: 'payment_id',
    message: `${action} is not possible: the payment is "${payment.status}"; this contact may ${mayCancel ? 'cancel it' : 'not act on it now'}`,
  });
}

/**
 * Cancels a payment for its creator, or for a contact who may manage payments.
 * @throws Problem payment_not_found, permission_denied, transition_not_allowed
 */
export async function cancelPayment(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  request: ContactAction,
): Promise<void> {
  const { clientId, contactId, paymentId } = request;
  const payment = first(
    await tx.query<{ may: boolean | null }>(
      await withPermissions(tx, {
        text: `select contact_id = $2 or ${mayManage('$1', '$2')} as may from payments where client_id = $1 and payment_id = $3`,
        values: [clientId, contactId, paymentId],
      }),
    ),
  );
  if (!payment) noPayment();
  if (!payment.may)
    throw new Problem(
      'permission_denied',
      'the contact needs can_manage_payments to cancel a payment of another contact',
    );
  const { id } = await movePayment(tx, act, presentation, { ...request, action: 'cancel' });
  await keepActs(tx, [{ clientId, id, contactId, action: 'cancel', now: act.now }]);
}
