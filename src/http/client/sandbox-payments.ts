import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { noPayment, paymentBodies, paymentBody } from '../../payments/payment.ts';
import { type PaymentView, presentationOf } from '../../payments/presentation.ts';
import { advancePayment } from '../../sandbox/advance.ts';
import { asRuled, needed, notNeeded } from '../../sandbox/approval-choice.ts';
import { DESTINATIONS } from '../../sandbox/course.ts';
import { createSandboxPayment } from '../../sandbox/payment.ts';
import { Currency, closed, Day, decimalForms, formed, Text } from '../../values/schemas.ts';
import { Payment } from '../schemas/event-schemas.ts';
import { PaymentPath } from '../schemas/payment-schema.ts';
import { locationHeader, locationOf } from '../schemas/reply.ts';
import { ClientQuery, errors, jsonAnswer } from '../schemas/schemas.ts';
import { allowNoBody } from '../server/body.ts';
import { clientAddress } from './caller.ts';
import { answerChange } from './change.ts';

const NewPayment = Type.Object(
  {
    amount: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        description: 'Amount, read exactly; default: 100.00',
        ...formed(decimalForms({ positive: true }).number),
      }),
    ),
    payment_currency: Type.Optional(Currency()),
    payment_date: Type.Optional(Day('Target payment date; default: today')),
    beneficiary_id: Type.Optional(Type.String({ minLength: 1, description: 'Default: the newest beneficiary' })),
    trade_id: Type.Optional(Type.String({ minLength: 1, description: 'Default: the newest trade' })),
    reference: Type.Optional(Text('Reference; some steer the autopilot')),
    approval: Type.Optional(
      Type.Enum(['needed', 'none'], {
        description:
          'needed: another contact creates it, and the requesting contact can approve it; none: no approval is needed. Default: as ' +
          "the client's rules say",
      }),
    ),
  },
  {
    ...closed,
    title: 'SandboxPaymentInput',
    examples: [{ amount: 250.5, reference: 'Invoice 42', approval: 'needed' }],
  },
);

const Advance = Type.Object(
  {
    to: Type.Optional(
      Type.Enum([...DESTINATIONS], {
        description: 'next: the next step of the ordinary course; or a payment status; or returned. Default: next',
      }),
    ),
    reason: Type.Optional(Text('Kept in the audit trail')),
  },
  { ...closed, title: 'SandboxAdvance', examples: [{ to: 'Payment complete' }] },
);

const LOCATION = locationHeader(
  'Where the payment can be read',
  'https://api.example.com/payments/PAY000001?client_id=CLI000001',
);

const CREATE = {
  preValidation: allowNoBody,
  schema: {
    operationId: 'createSandboxPayment',
    tags: ['sandbox'],
    summary: 'Create a payment',
    description:
      'Creates a payment as the institution would, with its notifications. What is left out is chosen. Exists in the sandbox only.',
    querystring: ClientQuery,
    body: NewPayment,
    response: {
      201: jsonAnswer('The payment', Payment, LOCATION),
      ...errors(
        400,
        403,
        404,
        502,
        'beneficiary_not_found',
        'trade_not_found',
        'already_exists',
        'transition_not_allowed',
      ),
    },
  },
};

const ADVANCE = {
  preValidation: allowNoBody,
  schema: {
    operationId: 'advanceSandboxPayment',
    tags: ['sandbox'],
    summary: 'Advance a payment',
    description:
      'Moves a payment by legal moves, each with its notification, all or nothing. Approvals that are missing are given by ' +
      'contacts who may give them. Exists in the sandbox only.',
    params: PaymentPath,
    querystring: ClientQuery,
    body: Advance,
    response: {
      200: jsonAnswer('The payment', Payment),
      ...errors(400, 403, 502, 'payment_not_found', 'transition_not_allowed'),
    },
  },
};

/** POST /sandbox/payments and POST /sandbox/payments/{payment_id}/advance (docs/sandbox.md). */
export function sandboxPaymentRoutes(app: FastifyInstance, context: Context): void {
  app.post<{ Body: Static<typeof NewPayment> }>('/sandbox/payments', CREATE, async (request, reply) => {
    const { clientId, contactId } = request.caller;
    return answerChange(context, request, reply, async (tx, act) => {
      const { approval, ...input } = request.body;
      const choose = approval === 'needed' ? needed : approval === 'none' ? notNeeded : asRuled;
      const wanted = { ...input, clientId, contactId };
      const id = await createSandboxPayment(tx, act, presentationOf(context), wanted, choose);
      const [body = ''] = await paymentBodies(tx, viewOf(request, context), [id]);
      const location = clientAddress(context, request, locationOf('/payments/{payment_id}', body));
      return { status: 201, body, headers: { location } };
    });
  });

  app.post<{ Params: Static<typeof PaymentPath>; Body: Static<typeof Advance> }>(
    '/sandbox/payments/:payment_id/advance',
    ADVANCE,
    async (request, reply) => {
      const { clientId } = request.caller;
      const { to = 'next', reason } = request.body;
      const paymentId = request.params.payment_id;
      return answerChange(context, request, reply, async (tx, act) => {
        await advancePayment(tx, act, presentationOf(context), { clientId, paymentId, to, reason });
        return { status: 200, body: (await paymentBody(tx, viewOf(request, context), paymentId)) ?? noPayment() };
      });
    },
  );
}

/** The requesting contact's view of payments. */
function viewOf(request: FastifyRequest, context: Context): PaymentView {
  const { clientId, contactId } = request.caller;
  return { clientId, viewer: contactId, now: request.now, ...presentationOf(context) };
}
