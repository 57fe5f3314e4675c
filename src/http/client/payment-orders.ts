import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { bankTable } from '../../beneficiaries/bank-table.ts';
import type { Context } from '../../context.ts';
import { SCHEMES } from '../../payments/declaration.ts';
import { PAYMENT_STATUSES } from '../../payments/moves.ts';
import { orderPayments } from '../../payments/orders/creation.ts';
import { ORDER_CODES } from '../../payments/orders/judgement.ts';
import { faultsOfOrder, MAX_ORDERED_PAYMENTS, type Order, type OrderInput } from '../../payments/orders/order.ts';
import { presentationOf } from '../../payments/presentation.ts';
import type { BodyFault } from '../../values/errors.ts';
import { REASONS } from '../../values/reasons.ts';
import { ClientId, closed, Day, Nullable, PATTERNS, Text } from '../../values/schemas.ts';
import { fieldsOf } from '../../values/unknown.ts';
import { JUDGED, OrderAmount, orderBody, refuseFaults } from '../schemas/order-body.ts';
import { jsonAnswer, orderErrors, ValidateOnly } from '../schemas/schemas.ts';
import { checkPermission } from './caller.ts';
import { answerChange } from './change.ts';

/** The length of a reference in characters. */
const REFERENCE = { minLength: 3, maxLength: 140 };
const ACCOUNT = { minimum: 1, maximum: Number.MAX_SAFE_INTEGER };

const Ordered = Type.Object(
  {
    beneficiary_id: Type.String({ minLength: 1, description: 'Who is paid' }),
    account_id: Type.Optional(Type.Integer({ ...ACCOUNT, description: 'Its bank account; it has one' })),
    amount: OrderAmount('In the buy currency of the trade, else in the currency of the account'),
    payment_date: Day('The day on which it is to be paid; an earlier or closed one moves to the next possible one'),
    reference: Type.String({
      ...REFERENCE,
      pattern: PATTERNS.noControls,
      description: 'What the payee reads; no control characters',
    }),
    charges: Type.Optional(Type.Enum(['SHA', 'OUR'], { description: 'Who pays the charges; default: SHA' })),
    purpose_of_payment: Type.Optional(Text('For the bank of the payee; default: that of the beneficiary', 35)),
    email_beneficiary: Type.Optional(Type.Boolean({ description: 'Passed on to the institution' })),
  },
  { ...closed, title: 'OrderedPaymentInput' },
);

export const OrderBody = orderBody(
  {
    trade_id: Type.Optional(Type.String({ minLength: 1, description: 'The trade that is paid from' })),
    funding_account_id: Type.Optional(
      Type.Integer({ ...ACCOUNT, description: 'The number of the currency account that is paid from' }),
    ),
    quote_id: Type.Optional(
      Type.String({ minLength: 1, description: 'An open quote that is booked with it; needs can_trade' }),
    ),
    reason: Type.Optional(Type.Enum([...REASONS], { description: 'Why it is paid; required with funding_account_id' })),
    payments: Type.Array(Ordered, { minItems: 1, maxItems: MAX_ORDERED_PAYMENTS }),
  },
  {
    list: 'payments',
    title: 'PaymentOrder',
    examples: [
      {
        funding_account_id: 1,
        reason: 'payment_for_goods',
        payments: [
          {
            beneficiary_id: 'BEN000001',
            amount: 250.5,
            payment_date: '2026-07-03',
            reference: 'Invoice 42',
          },
        ],
      },
    ],
  },
);

const text = (description: string) => Nullable(Type.String({ description }));
const PaymentAnswer = Type.Object(
  {
    payment_id: text('Null where the order was only tried'),
    trade_id: text('The trade that it is paid from: its own where it is paid from an account'),
    beneficiary_id: Type.String(),
    status: Type.Enum([...PAYMENT_STATUSES]),
    amount: Type.Number(),
    payment_currency: Type.String(),
    payment_date: Type.String({ format: 'date', description: 'The day on which it is to be paid' }),
    reference: Type.String(),
    scheme: Type.Enum([...SCHEMES]),
    charges: Type.String(),
    uuid: text('The UETR of SWIFT payments'),
    fee_amount: Nullable(Type.Number({ description: 'Null until the institution sets it' })),
    fee_currency: text('Null until the institution sets it'),
    payment_instruction: text('Location of the payment instruction'),
    payment_receipt: text('Null until it has been sent'),
    warning: text('Why the day is not the one that was asked for'),
  },
  {
    title: 'OrderedPayment',
    examples: [
      {
        payment_id: 'PAY000001',
        trade_id: 'TRD000001',
        beneficiary_id: 'BEN000001',
        status: 'Payment pending of authorization',
        amount: 250.5,
        payment_currency: 'EUR',
        payment_date: '2026-07-03',
        reference: 'Invoice 42',
        scheme: 'SEPA',
        charges: 'SHA',
        uuid: '7d8b0d7e-3b2a-4f3c-9a44-0d2c5a7f1e11',
        fee_amount: null,
        fee_currency: null,
        payment_instruction: 'https://api.example.com/documents?type=pi&id=PAY000001&client_id=CLI000001',
        payment_receipt: null,
        warning: null,
      },
    ],
  },
);
const Answer = Type.Array(PaymentAnswer);
const OrderQuery = Type.Object({ client_id: ClientId, ...ValidateOnly });

/** The permissions that an order needs. Without its body, the ones that each order needs. */
function neededFor({ body }: FastifyRequest) {
  const books = fieldsOf(body).quote_id != null;
  return books ? (['can_create_payments', 'can_trade'] as const) : ('can_create_payments' as const);
}

/** The requirements for ordering payments. */
export const ORDERING = {
  ...JUDGED,
  config: { permission: neededFor, secondFactor: true },
  // The key is checked before this, and the body after it. The change checks the same once more.
  preValidation: async (request: FastifyRequest) => checkPermission(request.caller.permissions, neededFor(request)),
};

/** The order of a request, and its faults. @throws Problem invalid_body if it cannot be read */
export function readOrder(request: FastifyRequest): { order: Order; faults: BodyFault[] } {
  const { clientId, contactId } = request.caller;
  const faults = faultsOfOrder(fieldsOf(request.body));
  // The client's data is read only after the body could be read.
  if (request.validationError) refuseFaults(request, faults);
  return { order: { clientId, contactId, ...(request.body as OrderInput) }, faults };
}

const CREATE = {
  ...ORDERING,
  schema: {
    operationId: 'createPayments',
    tags: ['payments'],
    summary: 'Create payments',
    description:
      'Creates payments from one trade, or from one currency account, all or nothing. What is paid from an account is held there until ' +
      'the institution books it, and each payment has a trade of its own. Approvals decide as for every payment. Where the client has ' +
      '`approval_step_up`, the contact needs a second factor. With `validate_only=true` everything is checked, and nothing is kept. ' +
      'Needs can_create_payments.',
    querystring: OrderQuery,
    body: OrderBody,
    response: {
      200: jsonAnswer('What would be created (`validate_only`)', Answer),
      201: jsonAnswer('The payments, in the order sent', Answer),
      ...orderErrors(400, 413, 415, 502, 'permission_denied', 'second_factor_missing', ...ORDER_CODES),
    },
  },
};

/** POST /payments: payments that a client orders (docs/payments.md). */
export function paymentOrderRoutes(app: FastifyInstance, context: Context): void {
  const sepa = new Set(bankTable(context.config.bankDetails).sepa);
  app.post<{ Body: Static<typeof OrderBody>; Querystring: Static<typeof OrderQuery> }>(
    '/payments',
    CREATE,
    async (request, reply) => {
      const { order, faults } = readOrder(request);
      const options = { presentation: presentationOf(context), sepa, tried: request.validateOnly, faults };
      return answerChange(context, request, reply, async (tx, act) => {
        const made = await orderPayments(tx, act, order, options);
        return { status: options.tried ? 200 : 201, body: JSON.stringify(made) };
      });
    },
  );
}
