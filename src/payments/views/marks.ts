import type { PAYEE_COLUMNS } from '../../beneficiaries/payee.ts';
import type { Db } from '../../database/database.ts';

/** Days before a payment's creation during which a change of its payee is worth a mark. */
const PAYEE_CHANGED_DAYS = 7;

/** What an approver should check carefully about a payment that waits for an approval. */
export interface Marks {
  payment_id: string;
  /** Whether no payment to this beneficiary has been sent before. */
  first_payment: boolean;
  /** The last change of the payee in the 7 days before the payment was made, and the fields that were changed in these days. */
  payee_changed: { at: string; fields: (typeof PAYEE_COLUMNS)[number][] } | null;
  /** Whether its payment date is the current London day, or has passed. */
  due: 'today' | 'past' | null;
}

/** The payments whose marks are wanted. */
interface Marked {
  clientId: string;
  paymentIds: readonly string[];
  /** The London day. */
  today: string;
}

/** The marks of those payments of the client that wait for an approval; other payments have none (docs/pages.md). */
export async function paymentMarks(db: Db, marked: Marked): Promise<Marks[]> {
  return (await db.query<Marks & Record<string, unknown>>(marksStatement(marked))).rows;
}

/** One look-up by key for each payment and mark, however many payments the client and the beneficiary have. */
export function marksStatement({ clientId, paymentIds, today }: Marked): {
  name: string;
  text: string;
  values: unknown[];
} {
  return {
    name: 'payment-marks',
    text: `select p.payment_id, not exists (select from payments s
          where s.client_id = $1 and s.beneficiary_id = p.beneficiary_id and s.sent_date is not null offset 0) as first_payment,
        (select case when count(*) > 0 then json_build_object('at', max(c.at), 'fields', json_agg(distinct f.name)) end
          from beneficiary_changes c cross join lateral unnest(c.fields) as f(name)
          where c.client_id = $1 and c.beneficiary_id = p.beneficiary_id
            and c.at > p.created - interval '${PAYEE_CHANGED_DAYS} days' and c.at <= p.created) as payee_changed,
        case when p.payment_date = $3::date then 'today' when p.payment_date < $3::date then 'past' end as due
      from unnest($2::text[]) as wanted(payment_id)
      cross join lateral (select w.payment_id, w.beneficiary_id, w.created, w.payment_date from payments w
        where w.client_id = $1 and w.payment_id = wanted.payment_id and w.status = 'Payment pending of authorization' offset 0) p`,
    values: [clientId, [...new Set(paymentIds)], today],
  };
}
