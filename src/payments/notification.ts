import { noteRecord } from '../audit/change.ts';
import type { Transaction } from '../database/database.ts';
import type { PaymentId } from '../values/identifiers.ts';
import { present } from '../values/unknown.ts';
import { notifyAll, type WebhookEvent } from '../webhooks/notification.ts';
import type { PaymentWebhookStatus } from './moves.ts';
import { type PaymentForms, type PlacedPayment, paymentBodies, paymentForms } from './payment.ts';
import type { Presentation } from './presentation.ts';

/** The facts in the notifications of a payment. */
export interface PaymentNews extends PlacedPayment {
  statuses: PaymentWebhookStatus[];
  /** When it happened. */
  now: Date;
  /** The trace span that it belongs to; by default, the current one. */
  traceparent?: string | null | undefined;
}

/** Writes a PAYMENT_STATUS_CHANGE for each status of each payment. */
export async function notifyPayments(
  tx: Transaction,
  presentation: Presentation,
  news: readonly PaymentNews[],
): Promise<void> {
  if (news.length > 0) await notifyAll(tx, readEvents(tx, presentation, news));
}

async function readEvents(
  tx: Transaction,
  presentation: Presentation,
  news: readonly PaymentNews[],
): Promise<WebhookEvent[]> {
  const bodies = new Map<PaymentId, string>();
  for (const [clientId, own] of Map.groupBy(news, (each) => each.clientId)) {
    const { now } = present(own[0]);
    const texts = await paymentBodies(
      tx,
      { clientId, viewer: null, now, ...presentation },
      own.map(({ id }) => id),
    );
    for (const [index, { paymentId }] of own.entries()) bodies.set(paymentId, texts[index] ?? '');
  }
  return paymentEvents(news, (id) => bodies.get(id) ?? '');
}

/**
 * Payments that a transaction has made or moved. They are read once for their notifications, their answers and the change feed. Nobody else
 * can change them before the commit, because the transaction has their rows.
 */
export class WrittenPayments {
  /** What clients and the institution see of them, by `payment_id`. */
  readonly forms: Promise<ReadonlyMap<string, PaymentForms>>;
  readonly #tx: Transaction;
  readonly #read = new Map<string, PaymentForms>();

  constructor(tx: Transaction, view: Presentation & { now: Date }, payments: readonly PlacedPayment[]) {
    this.#tx = tx;
    this.forms = this.#readAll(view, payments);
    // The feed waits for it even if nobody is notified.
    tx.meanwhile(this.forms);
  }

  async #readAll(
    view: Presentation & { now: Date },
    payments: readonly PlacedPayment[],
  ): Promise<ReadonlyMap<string, PaymentForms>> {
    if (payments.length > 0)
      for (const [id, forms] of await paymentForms(this.#tx, view, payments)) this.#read.set(id, forms);
    return this.#read;
  }

  /** Writes a PAYMENT_STATUS_CHANGE for each status of each payment. */
  async notify(news: readonly PaymentNews[]): Promise<void> {
    if (news.length === 0) return;
    await notifyAll(
      this.#tx,
      this.forms.then(() => paymentEvents(news, (id) => this.#formsOf(id).body)),
    );
  }

  /** Tells the change feed what a payment looks like. */
  note(id: PaymentId): void {
    noteRecord(this.#tx, 'payment', id, () => this.#formsOf(id).record);
  }

  #formsOf(id: PaymentId): PaymentForms {
    return present(this.#read.get(id));
  }
}

/** The events of payments. Each passes two parallel lists, of payments and of statuses. @param bodyOf the JSON of a payment */
function paymentEvents(news: readonly PaymentNews[], bodyOf: (id: PaymentId) => string): WebhookEvent[] {
  return news.flatMap(({ clientId, paymentId, statuses, now, traceparent }) =>
    statuses.map(
      (status): WebhookEvent => ({
        clientId,
        type: 'PAYMENT_STATUS_CHANGE',
        paymentId,
        body: `{"data":[${bodyOf(paymentId)}],"payment_webhook_status":["${status}"]}`,
        now,
        traceparent,
      }),
    ),
  );
}
