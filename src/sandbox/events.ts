import { TRANSACTION_KINDS, type TransactionKind } from '../accounts/transaction.ts';
import { TRADE_STATUSES, type TradeStatus } from '../exchange/trade.ts';
import { type PaymentWebhookStatus, WEBHOOK_STATUSES } from '../payments/moves.ts';

/** What an integrator can cause, with a WebhookType alone or one and a status (docs/sandbox.md, Trigger a notification). */
export const EVENTS: readonly string[] = [
  'PAYMENT_STATUS_CHANGE',
  ...WEBHOOK_STATUSES.map((status) => `PAYMENT_STATUS_CHANGE:${status}`),
  'TRADE_STATUS_CHANGE',
  ...TRADE_STATUSES.map((status) => `TRADE_STATUS_CHANGE:${status}`),
  ...TRANSACTION_KINDS,
  'ONBOARDING_STATUS_CHANGE',
];

/** An event of EVENTS, taken apart. */
export type SandboxEvent =
  | { type: 'PAYMENT_STATUS_CHANGE'; status: PaymentWebhookStatus }
  | { type: 'TRADE_STATUS_CHANGE'; status: TradeStatus }
  | { type: 'ONBOARDING_STATUS_CHANGE' }
  | { type: TransactionKind };

/** @param text one of EVENTS */
export function readEvent(text: string): SandboxEvent {
  const [type, status] = text.split(':', 2);
  if (type === 'PAYMENT_STATUS_CHANGE') return { type, status: (status ?? 'CREATED') as PaymentWebhookStatus };
  if (type === 'TRADE_STATUS_CHANGE') return { type, status: (status ?? 'Created') as TradeStatus };
  return { type: type as TransactionKind | 'ONBOARDING_STATUS_CHANGE' };
}
