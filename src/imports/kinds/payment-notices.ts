import type { Transaction } from '../../database/database.ts';
import type { PaymentStatus, PaymentWebhookStatus } from '../../payments/moves.ts';
import { paymentBodies } from '../../payments/payment.ts';
import type { PaymentNumber } from '../../values/identifiers.ts';
import { notifyAll } from '../../webhooks/notification.ts';
import type { ImportScope } from '../kind.ts';
import { type PaymentImportRow, statusOf } from './payment-row.ts';

/** The webhook status that follows CREATED, for each status that a payment can be imported with. */
const WEBHOOK_STATUSES: Record<PaymentStatus, PaymentWebhookStatus> = {
  'Payment pending of authorization': 'PENDING_OF_AUTHORIZATION',
  'Validating beneficiary information': 'AUTHORIZED',
  'Need more beneficiary information': 'AUTHORIZED',
  'Waiting for payment date': 'AUTHORIZED',
  'Executing Payment': 'SENT',
  'Payment complete': 'SENT',
  'Payment rejected': 'REJECTED',
  'Payment cancelled': 'CANCELLED',
};

/** Writes the two notifications of each imported payment: CREATED, and the status that it has. @param ids the number of each payment_id */
export async function notifyImported(
  tx: Transaction,
  { act, presentation }: ImportScope,
  rows: PaymentImportRow[],
  ids: Map<string, PaymentNumber>,
): Promise<void> {
  const bodies = new Map<string, string>();
  for (const [clientId, own] of Map.groupBy(rows, ({ input }) => input.client_id)) {
    const texts = await paymentBodies(
      tx,
      { clientId, viewer: null, now: act.now, ...presentation },
      own.map(({ id }) => ids.get(id as string) as PaymentNumber),
    );
    own.forEach(({ id }, index) => {
      bodies.set(id as string, texts[index] as string);
    });
  }
  await notifyAll(
    tx,
    rows.flatMap((row) =>
      (['CREATED', WEBHOOK_STATUSES[statusOf(row)]] as const).map((status) => ({
        clientId: row.input.client_id,
        type: 'PAYMENT_STATUS_CHANGE' as const,
        paymentId: row.id as string,
        body: `{"data":[${bodies.get(row.id as string)}],"payment_webhook_status":["${status}"]}`,
        now: act.now,
      })),
    ),
  );
}
