import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { cancelPayment, decidePayment, provideInformation, requireOwn } from '../../payments/contact-actions.ts';
import { presentationOf } from '../../payments/presentation.ts';
import { checkStepUp, redeem } from '../../payments/step-up/verification.ts';
import { type BodyFault, Problem } from '../../values/errors.ts';
import { ClientId, closed } from '../../values/schemas.ts';
import { fieldsOf } from '../../values/unknown.ts';
import { expectedIn } from '../schemas/misplaced.ts';
import { JUDGED, orderBody, refuseFaults } from '../schemas/order-body.ts';
import { ExamplePaymentPath } from '../schemas/payment-schema.ts';
import { ClientQuery, errors, orderErrors, Reason } from '../schemas/schemas.ts';
import { allowNoBody } from '../server/body.ts';
import { contactChange } from './change.ts';

const ActionQuery = Type.Object({
  client_id: ClientId,
  action: Type.Enum(['authorise', 'reject', 'provide_information'], {
    description: 'What the requesting contact does',
    examples: ['authorise'],
  }),
});
/** The information about a payee that the institution receives. */
const INFORMATION = { minLength: 1, maxLength: 2_000 };
const DecisionBody = orderBody(
  {
    reason: Reason,
    challenge_id: Type.Optional(
      Type.String({ maxLength: 128, description: 'To approve where the client asks for a code: the challenge' }),
    ),
    verification_code: Type.Optional(
      Type.String({ maxLength: 64, description: 'The code from the text message or the authenticator' }),
    ),
    information: Type.Optional(
      Type.String({ ...INFORMATION, description: 'Required by provide_information, and taken by nothing else' }),
    ),
  },
  {
    ...{ title: 'PaymentDecision', examples: [{ reason: 'Matches invoice 42' }] },
    // Decisions have refused null in these fields since before clients could order.
    noNull: ['reason', 'challenge_id', 'verification_code'],
  },
);
const CancelBody = Type.Object(
  { reason: Reason },
  { ...closed, title: 'PaymentCancellation', examples: [{ reason: 'Ordered twice' }] },
);
const done = { 204: { description: 'Done', type: 'null' } };

/** The refusals of an approval that needs a verification code. */
export const STEP_UP = ['second_factor_missing', 'step_up_required', 'step_up_failed', 'challenge_expired'] as const;

const ACT = {
  ...JUDGED,
  config: {
    permission: ({ query }: FastifyRequest) =>
      fieldsOf(query).action === 'provide_information'
        ? ('can_create_payments' as const)
        : { anyOf: ['can_authorise_payments', 'can_create_payments'] as const },
  },
  preValidation: [allowNoBody, expectedIn('query', 'action')],
  schema: {
    operationId: 'decidePayment',
    tags: ['payments'],
    summary: 'Authorise or reject a payment, or provide information about its payee',
    description:
      'Counts as the approval or rejection of the requesting contact. Whether that contact may act is in the payment, in ' +
      '`contact_authorisation_actions.allowed`. Where the client has `approval_step_up`, an approval needs `challenge_id` and ' +
      '`verification_code` of a challenge that was opened for this payment. Needs can_authorise_payments, but for a payment that waits ' +
      'for its creator alone. With `provide_information` the payment is validated again; it needs can_create_payments, and a payment ' +
      'that waits for information.',
    params: ExamplePaymentPath,
    querystring: ActionQuery,
    body: DecisionBody,
    response: {
      ...done,
      ...orderErrors(400, 502, ...STEP_UP, 'payment_not_found', 'approval_not_allowed', 'transition_not_allowed'),
    },
  },
};

const CANCEL = {
  preValidation: allowNoBody,
  schema: {
    operationId: 'cancelPayment',
    tags: ['payments'],
    summary: 'Cancel a payment',
    description:
      'Cancels a payment that has not been sent. Its creator may cancel it, and contacts with can_manage_payments.',
    params: ExamplePaymentPath,
    querystring: ClientQuery,
    body: CancelBody,
    response: { ...done, ...errors(400, 502, 'permission_denied', 'payment_not_found', 'transition_not_allowed') },
  },
};

/** The faults of a provide_information body that the schema cannot find. It may contain nothing else. */
function informationFaults({ information, ...others }: { information?: unknown }): BodyFault[] {
  const faults: BodyFault[] = Object.keys(others).map((field) => ({
    ...{ field, code: 'unknown_field', message: 'is not a field of provide_information' },
  }));
  if (information == null) faults.push({ field: 'information', code: 'required', message: 'is required' });
  return faults;
}

/** For a decision, only the first fault of the body is reported; for information, all faults. @throws Problem invalid_body */
function refuseBody(request: FastifyRequest, informs: boolean): void {
  const { validationError: error } = request;
  if (informs) refuseFaults(request, informationFaults(fieldsOf(request.body)));
  else if (error) throw error instanceof Problem ? new Problem(error.code, error.details) : error;
}

/** PATCH and DELETE /payments/{payment_id}: approving, rejecting, cancelling (docs/decisions.md, 4). */
export function paymentActionRoutes(app: FastifyInstance, context: Context): void {
  app.patch<{
    Params: Static<typeof ExamplePaymentPath>;
    Querystring: Static<typeof ActionQuery>;
    Body: Static<typeof DecisionBody>;
  }>('/payments/:payment_id', ACT, async (request, reply) => {
    const { contactId, clientId } = request.caller;
    const { action } = request.query;
    const paymentId = request.params.payment_id;
    const informs = action === 'provide_information';
    if (!informs && !request.caller.permissions.can_authorise_payments)
      await requireOwn(context.pool, { clientId, contactId, paymentIds: [paymentId] });
    refuseBody(request, informs);
    const { reason, challenge_id: challengeId, verification_code: code, information } = request.body;
    if (informs) {
      const told = { clientId, contactId, paymentId, information: information as string };
      await contactChange(context, request, (tx, act) => provideInformation(tx, act, presentationOf(context), told));
      return reply.code(204).send();
    }
    if (information !== undefined)
      throw new Problem('invalid_body', { field: 'information', message: `is not a field of ${action}` });
    const decision = { clientId, contactId, paymentId, action, reason };
    const approval = { clientId, contactId, paymentIds: [paymentId], whole: true };
    const approves = action === 'authorise';
    const proof = approves ? await checkStepUp(context, approval, { challengeId, code }) : undefined;
    await contactChange(context, request, async (tx, act) => {
      if (approves) await redeem(tx, approval, { proof, now: act.now });
      await decidePayment(tx, act, presentationOf(context), decision);
    });
    return reply.code(204).send();
  });

  app.delete<{ Params: Static<typeof ExamplePaymentPath>; Body: Static<typeof CancelBody> }>(
    '/payments/:payment_id',
    CANCEL,
    async (request, reply) => {
      const { contactId, clientId } = request.caller;
      const paymentId = request.params.payment_id;
      const payment = { clientId, contactId, paymentId, reason: request.body.reason };
      await contactChange(context, request, (tx, act) => cancelPayment(tx, act, presentationOf(context), payment));
      return reply.code(204).send();
    },
  );
}
