import type { Act } from '../audit/act.ts';
import type { Transaction } from '../database/database.ts';
import type { PaymentId, PaymentNumber } from '../values/identifiers.ts';
import { notifyAll, type WebhookEvent } from '../webhooks/notification.ts';
import type { PaymentWebhookStatus } from './moves.ts';
import { paymentBodies } from './payment.ts';
import type { Presentation } from './presentation.ts';

/** The facts in the notifications of a payment. */
export interface PaymentNews {
  clientId: string;
  id: PaymentNumber;
  paymentId: PaymentId;
  statuses: PaymentWebhookStatus[];
}

/** Writes a PAYMENT_STATUS_CHANGE for each status of each payment. It passes two parallel lists, of payments and of statuses. */
export async function notifyPayments(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  news: PaymentNews[],
): Promise<void> {
  if (news.length > 0) await notifyAll(tx, eventsOf(tx, act, presentation, news));
}

async function eventsOf(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  news: PaymentNews[],
): Promise<WebhookEvent[]> {
  const bodies = new Map<PaymentNumber, string>();
  for (const [clientId, own] of Map.groupBy(news, (each) => each.clientId)) {
    const ids = own.map(({ id }) => id);
    const texts = await paymentBodies(tx, { clientId, viewer: null, now: act.now, ...presentation }, ids);
    for (const [index, id] of ids.entries()) bodies.set(id, texts[index] ?? '');
  }
  return news.flatMap(({ clientId, id, paymentId, statuses }) =>
    statuses.map(
      (status): WebhookEvent => ({
        clientId,
        type: 'PAYMENT_STATUS_CHANGE',
        paymentId,
        body: `{"data":[${bodies.get(id)}],"payment_webhook_status":["${status}"]}`,
        now: act.now,
      }),
    ),
  );
}
