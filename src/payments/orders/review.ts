import type { Act } from '../../audit/act.ts';
import type { Transaction } from '../../database/database.ts';
import { textArray } from '../../values/text-array.ts';
import { type OrderedAnswer, type OrderOptions, orderPayments } from './creation.ts';
import type { Order } from './order.ts';

/** How long ago an equal payment may have been made for the new one to count as a possible duplicate. */
const DUPLICATE_DAYS = 30;
/** The most duplicates that are named for one payment. */
const MAX_DUPLICATES = 3;

/** A payment that would be made, with what one should know before ordering it. */
export interface ReviewedPayment extends OrderedAnswer {
  /** The fewest approvals that it would need. */
  approvals_needed: number;
  /** Whether its creator alone approves it, with a second factor. */
  approved_by_creator: boolean;
  /** The names of those who could give the first approval. */
  approvers: string[];
  /** Payments with the same amount, payee and reference; null stands for another payment of this order. */
  duplicates: (string | null)[];
}

interface Found {
  payment_id: string;
  approvals_needed: number;
  approved_by_creator: boolean;
  approvers: string[];
  duplicates: (string | null)[];
}

/**
 * Orders payments as `orderPayments` does, and reports what they would need. Use it only in a transaction that leaves nothing behind.
 * @throws Problem those of `orderPayments`
 */
export async function reviewOrder(
  tx: Transaction,
  act: Act,
  order: Order,
  options: Omit<OrderOptions, 'tried'>,
): Promise<ReviewedPayment[]> {
  const made = await orderPayments(tx, act, order, { ...options, tried: false });
  const ids = made.map(({ payment_id: id }) => id ?? '');
  const { rows } = await tx.query<Found & Record<string, unknown>>({
    name: 'order-review',
    text: `select p.payment_id, coalesce(a.remaining, 0) as approvals_needed, a.requirement ->> 'own' is not null as approved_by_creator,
        coalesce((select json_agg(k.name order by k.name, k.contact_id) from payment_approvers r join contacts k on k.contact_id = r.contact_id
          where r.client_id = $1 and r.payment_id = p.id and r.may_authorise), '[]') as approvers,
        coalesce((select json_agg(s.payment_id order by s.created desc, s.payment_id) from (
          select case when d.payment_id = any($2::text[]) then null else d.payment_id end as payment_id, d.created from payments d
          where d.client_id = $1 and d.beneficiary_id = p.beneficiary_id and d.created > $3::timestamptz - interval '${DUPLICATE_DAYS} days'
            and d.amount = p.amount and d.reference = p.reference and d.id <> p.id
            and d.status not in ('Payment rejected', 'Payment cancelled')
          order by d.created desc, d.id desc limit ${MAX_DUPLICATES}) s), '[]') as duplicates
      from unnest($2::text[]) as wanted(payment_id)
      cross join lateral (select w.id, w.payment_id, w.beneficiary_id, w.amount, w.reference from payments w
        where w.client_id = $1 and w.payment_id = wanted.payment_id offset 0) p
      left join payment_approvals a on a.client_id = $1 and a.payment_id = p.id`,
    values: [order.clientId, textArray(ids), act.now],
  });
  const found = new Map(rows.map((row) => [row.payment_id, row]));
  return made.map((payment) => {
    const {
      approvals_needed = 0,
      approved_by_creator = false,
      approvers = [],
      duplicates = [],
    } = found.get(payment.payment_id ?? '') ?? {};
    const { payment_instruction: _location, ...shown } = payment;
    return {
      ...{ ...shown, payment_instruction: null, payment_id: null, trade_id: order.trade_id ?? null, uuid: null },
      ...{ approvals_needed, approved_by_creator, approvers, duplicates },
    };
  });
}
