import { type TSchema, Type } from 'typebox';
import { BOOKED_TRANSACTION } from '../../accounts/transaction.ts';
import { CLIENT_BENEFICIARY, CLIENT_BENEFICIARY_EXAMPLE } from '../../beneficiaries/client-view.ts';
import { CLIENT_MASS_PAYMENT, CLIENT_MASS_PAYMENT_EXAMPLE } from '../../orders/mass/declaration.ts';
import {
  CLIENT_MASS_BENEFICIARY,
  CLIENT_MASS_BENEFICIARY_EXAMPLE,
} from '../../orders/mass-beneficiaries/declaration.ts';
import { PAYMENT } from '../../payments/declaration.ts';
import { WEBHOOK_STATUSES } from '../../payments/moves.ts';
import { namesOf } from '../../values/unknown.ts';
import { type NotificationType, TYPE_NAMES } from '../../webhooks/notification.ts';
import {
  OnboardingEvent,
  onboardingExample,
  Payment,
  TRADE_EXAMPLE,
  TRANSACTION_EXAMPLE,
  Trade,
} from '../schemas/event-schemas.ts';

interface Notification {
  summary: string;
  schema: TSchema;
  example: unknown;
}

const dataOf = (schema: TSchema) => ({ data: Type.Array(schema) });
const BookedTransaction = Type.Object(BOOKED_TRANSACTION.properties, {
  title: 'Transaction',
  examples: [TRANSACTION_EXAMPLE],
});
const transaction = (summary: string, indicator = 'Credit'): Notification => ({
  summary,
  schema: Type.Object(dataOf(BookedTransaction), { title: 'TransactionNotification' }),
  example: { data: [{ ...TRANSACTION_EXAMPLE, credit_debit_indicator: indicator }] },
});

function notifications(brand: string): Record<NotificationType, Notification> {
  return {
    TRADE_STATUS_CHANGE: {
      summary: 'The status of a trade has changed',
      schema: Type.Object(dataOf(Trade), { title: 'TradeNotification' }),
      example: { data: [TRADE_EXAMPLE] },
    },
    PAYMENT_STATUS_CHANGE: {
      summary: 'The status of a payment has changed',
      schema: Type.Object(
        {
          ...dataOf(Payment),
          payment_webhook_status: Type.Array(Type.Enum([...WEBHOOK_STATUSES]), {
            description: 'What happened to each payment, in the order of `data`',
          }),
        },
        { title: 'PaymentNotification' },
      ),
      example: { data: [PAYMENT.example], payment_webhook_status: ['PENDING_OF_AUTHORIZATION'] },
    },
    CREDIT_INCOMING_TRANSACTION: transaction('Funds have come into an account'),
    CREDIT_MARGIN_TRANSACTION: transaction('Margin has been credited back'),
    CREDIT_PAYMENT_RETURNED_TRANSACTION: transaction('A payment has been returned'),
    CREDIT_TRANSACTION: transaction('An account has been credited'),
    DEBIT_TRANSACTION: transaction('An account has been debited', 'Debit'),
    ONBOARDING_STATUS_CHANGE: {
      summary: 'The onboarding status of the client has changed',
      schema: Type.Object(dataOf(OnboardingEvent(brand)), { title: 'OnboardingNotification' }),
      example: { data: [onboardingExample(brand)] },
    },
    BENEFICIARY_STATUS_CHANGE: {
      summary: 'A beneficiary was created by the client, or its status has changed',
      schema: Type.Object(dataOf(CLIENT_BENEFICIARY), { title: 'BeneficiaryNotification' }),
      example: { data: [CLIENT_BENEFICIARY_EXAMPLE] },
    },
    MASS_PAYMENT_STATUS_CHANGE: {
      summary: 'The status of a mass payment has changed',
      schema: Type.Object(dataOf(CLIENT_MASS_PAYMENT), { title: 'MassPaymentNotification' }),
      example: { data: [CLIENT_MASS_PAYMENT_EXAMPLE] },
    },
    MASS_BENEFICIARY_STATUS_CHANGE: {
      summary: 'The status of a mass-beneficiaries instruction has changed',
      schema: Type.Object(dataOf(CLIENT_MASS_BENEFICIARY), { title: 'MassBeneficiaryNotification' }),
      example: { data: [CLIENT_MASS_BENEFICIARY_EXAMPLE] },
    },
    PING: {
      summary: 'A connectivity check, sent by the ping operation only',
      schema: Type.Object({}, { title: 'Ping', additionalProperties: true, description: 'JSON without a fixed shape' }),
      example: {
        ping: {
          id: '6f1d0a52-5d1c-4b8e-9a3e-0f6f6d3b2c11',
          subscription_id: '0f8fad5b-d9cb-469f-a165-70867728950e',
          sent_at: '2026-07-01T09:15:00.000Z',
        },
      },
    },
  };
}

/** The headers of every notification (service interface, Events; Standard Webhooks 1.0). */
function headers(brand: string, type: string): object[] {
  const header = (name: string, description: string, example: string | number) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: typeof example === 'number' ? 'integer' : 'string' },
    example,
  });
  const id = '8a6e0804-2bd0-4672-b79d-d97027f9071a';
  return [
    header(`X-${brand}-Client-Id`, 'The client that it concerns', 'CLI000001'),
    header(`X-${brand}-Signature`, 'HMAC (SHA3-256) over the URL and the body', `sha3-256=${'0'.repeat(64)}`),
    header(`X-${brand}-Webhook`, 'Name of the notification type', type),
    header(`X-${brand}-Notification-Id`, 'The same in every attempt: an idempotency key', id),
    header(`X-${brand}-Delivery-Id`, 'New in every attempt', '0f8fad5b-d9cb-469f-a165-70867728950e'),
    header(`X-${brand}-Attempt-Number`, 'From 1', 1),
    header('webhook-id', 'The notification (Standard Webhooks)', id),
    header('webhook-timestamp', 'Seconds since 1970 (Standard Webhooks)', 1_782_897_300),
    header('webhook-signature', '`v1,` and the base64 HMAC-SHA256 (Standard Webhooks)', `v1,${'A'.repeat(43)}=`),
  ];
}

/** The notifications of the service in the form of the description's `webhooks`, by the name in their header. */
export function describeWebhooks(brand: string): Record<string, object> {
  const described = notifications(brand);
  return Object.fromEntries(
    namesOf(described).map((type) => {
      const { summary, schema, example } = described[type];
      const name = TYPE_NAMES[type];
      const operation = {
        operationId: `receive${name}`,
        tags: ['webhooks'],
        summary,
        description: `${summary}. The service posts it to the subscription's url, and repeats it until the answer is 2xx.`,
        security: [],
        parameters: headers(brand, name),
        requestBody: { required: true, content: { 'application/json': { schema, example } } },
        responses: {
          '2XX': { description: 'Received' },
          '4XX': { description: 'Not received; 410 disables the subscription' },
        },
      };
      return [name, { post: operation }];
    }),
  );
}
