import type { Db } from '../../database/database.ts';
import type { PaymentId } from '../../values/identifiers.ts';
import type { PaymentWebhookStatus } from '../moves.ts';

/** The most events that are shown for a payment. Most payments have fewer than ten. */
const MAX_EVENTS = 50;

/** What the client's programs were told about a payment, and how many of its subscriptions have received it. */
export interface PaymentNews {
  what: PaymentWebhookStatus;
  at: Date;
  delivered: number;
  pending: number;
  failed: number;
}

/** The notifications of a payment, the newest first. Those that an erasure has emptied are left out. */
export async function paymentNews(db: Db, clientId: string, paymentId: PaymentId): Promise<PaymentNews[]> {
  const { rows } = await db.query<PaymentNews & Record<string, unknown>>({
    name: 'payment-news',
    text: `select e.body::json -> 'payment_webhook_status' ->> 0 as what, e.created_at as at,
        n.delivered, n.pending, n.failed
      from (select body, created_at, id from webhook_events where client_id = $1 and payment_id = $2
        and type = 'PAYMENT_STATUS_CHANGE' and body <> '' order by created_at desc, id desc limit ${MAX_EVENTS}) e
      cross join lateral (select count(*) filter (where t.status = 'delivered') as delivered,
          count(*) filter (where t.status = 'pending') as pending, count(*) filter (where t.status = 'failed') as failed
        from subscriptions s join notifications t on t.client_id = $1
          and t.id = notification_id(e.id, s.id, e.created_at) and t.created_at = e.created_at
        where s.client_id = $1) n
      order by e.created_at desc, e.id desc`,
    values: [clientId, paymentId],
  });
  return rows;
}
