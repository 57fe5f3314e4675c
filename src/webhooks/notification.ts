import { hasSeveralCells, isDistributed } from '../database/cells/pool.ts';
import { leaveWork, type Transaction, together } from '../database/database.ts';
import { tracing } from '../process/tracing.ts';

/** The types that a subscription can name (service interface, Webhook subscription). */
export const WEBHOOK_TYPES = [
  'TRADE_STATUS_CHANGE',
  'PAYMENT_STATUS_CHANGE',
  'CREDIT_INCOMING_TRANSACTION',
  'CREDIT_MARGIN_TRANSACTION',
  'CREDIT_PAYMENT_RETURNED_TRANSACTION',
  'CREDIT_TRANSACTION',
  'DEBIT_TRANSACTION',
  'ONBOARDING_STATUS_CHANGE',
  'BENEFICIARY_STATUS_CHANGE',
  'MASS_PAYMENT_STATUS_CHANGE',
  'MASS_BENEFICIARY_STATUS_CHANGE',
] as const;
export type WebhookType = (typeof WEBHOOK_TYPES)[number];

/** The type of the connectivity check. It cannot be subscribed to. */
export const PING = 'PING';
/** The type of an event or notification. */
export type NotificationType = WebhookType | typeof PING;

/** The possible states of a notification. */
export const NOTIFICATION_STATUSES = ['pending', 'delivered', 'failed', 'cancelled'] as const;

/** The names in the header X-<Brand>-Webhook (service interface, Notification types). */
export const TYPE_NAMES: Readonly<Record<NotificationType, string>> = {
  TRADE_STATUS_CHANGE: 'TradeStatusChange',
  PAYMENT_STATUS_CHANGE: 'PaymentStatusChange',
  CREDIT_INCOMING_TRANSACTION: 'CreditIncomingTransaction',
  CREDIT_MARGIN_TRANSACTION: 'CreditMarginTransaction',
  CREDIT_PAYMENT_RETURNED_TRANSACTION: 'CreditPaymentReturnedTransaction',
  CREDIT_TRANSACTION: 'CreditTransaction',
  DEBIT_TRANSACTION: 'DebitTransaction',
  ONBOARDING_STATUS_CHANGE: 'OnboardingStatusChange',
  BENEFICIARY_STATUS_CHANGE: 'BeneficiaryStatusChange',
  MASS_PAYMENT_STATUS_CHANGE: 'MassPaymentStatusChange',
  MASS_BENEFICIARY_STATUS_CHANGE: 'MassBeneficiaryStatusChange',
  PING: 'Ping',
};

/** Something that happened to a client, and of which its subscriptions are notified. */
export interface WebhookEvent {
  clientId: string;
  type: WebhookType;
  /** JSON. Every attempt sends exactly this text, in UTF-8. */
  body: string;
  /** Service time of the event. */
  now: Date;
  /** The payment that it is about, for searching a payment's notifications. */
  paymentId?: string;
  /** The trace span that causes it; by default, the current one. */
  traceparent?: string | null | undefined;
}

const OF_ALL = `insert into webhook_events (client_id, type, body, created_at, payment_id, traceparent)
  select client_id, type, body, created_at, payment_id, traceparent
  from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::text[])
    with ordinality as e(client_id, type, body, created_at, payment_id, traceparent, n)
  order by n
  returning id, client_id, type, created_at`;
const intoOutbox = (events: string) => `insert into webhook_outbox (event_id, client_id, type, created_at)
  select id, client_id, type::webhook_type, created_at from ${events}`;
const NOTIFY = {
  name: 'webhooks-notify',
  insert: OF_ALL,
  text: `with event as (${OF_ALL}) ${intoOutbox('event')}`,
};
const GIVEN = 'unnest($1::bigint[], $2::text[], $3::text[], $4::timestamptz[]) as e(id, client_id, type, created_at)';

/**
 * Writes an event and its outbox row in the transaction of the change that causes it. So the event exists if, and only if, the change is
 * committed (docs/decisions.md, 6). The delivery engine then finds its subscriptions.
 */
export function notify(tx: Transaction, event: WebhookEvent): Promise<void> {
  return notifyAll(tx, [event]);
}

/** Events of a transaction that are still being read. Later ones wait for them, so that all are written in order. */
const READING = new WeakMap<Transaction, Promise<void>>();

/**
 * Like `notify`, for any number of events in one statement. They are sent in this order unless something delays them.
 * @param events may still be read by the same transaction, which goes on meanwhile
 */
export async function notifyAll(
  tx: Transaction,
  events: readonly WebhookEvent[] | Promise<readonly WebhookEvent[]>,
): Promise<void> {
  // With several cells, the transaction may be in another cell by then.
  if (hasSeveralCells(tx)) return writeEvents(tx, await events);
  const before = READING.get(tx);
  if (!before && !(events instanceof Promise)) return writeEvents(tx, events);
  const written = (async () => {
    const [, read] = await together([before, events]);
    await writeEvents(tx, read);
  })();
  const ended = () => void (READING.get(tx) === written && READING.delete(tx));
  written.then(ended, ended);
  READING.set(tx, written);
  tx.meanwhile(written);
}

async function writeEvents(tx: Transaction, events: readonly WebhookEvent[]): Promise<void> {
  if (events.length === 0) return;
  leaveWork(tx, 'events');
  const current = tracing()?.current() ?? null;
  await write(tx, [
    events.map((event) => event.clientId),
    events.map((event) => event.type),
    events.map((event) => event.body),
    events.map((event) => event.now),
    events.map((event) => event.paymentId ?? null),
    events.map(({ traceparent = current }) => traceparent),
  ]);
}

/** Inserts events and their outbox rows with one statement, or with two that Citus does not plan in parts. */
async function write(tx: Transaction, values: unknown[]): Promise<void> {
  const { name, insert, text } = NOTIFY;
  if (!isDistributed(tx)) return tx.later({ name, text, values });
  const { rows } = await tx.query<{ id: number; client_id: string; type: string; created_at: Date }>({
    name: `${name}-apart`,
    text: insert,
    values,
  });
  tx.later({
    name: 'webhooks-outbox',
    text: intoOutbox(GIVEN),
    values: [
      rows.map(({ id }) => id),
      rows.map(({ client_id: clientId }) => clientId),
      rows.map(({ type }) => type),
      rows.map(({ created_at: createdAt }) => createdAt),
    ],
  });
}

/** The instant in a notification's id (UUID version 7). It is the moment of its event, which determines its partition. */
export function instantOf(notificationId: string): Date {
  return new Date(Number.parseInt(notificationId.replaceAll('-', '').slice(0, 12), 16));
}
