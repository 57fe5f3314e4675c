import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { noRight } from '../../approvals/outcome.ts';
import type { Context } from '../../context.ts';
import { decideMany, findForeign } from '../../payments/contact-actions.ts';
import { presentationOf } from '../../payments/presentation.ts';
import { challengeExpired, checkStepUp, redeem } from '../../payments/step-up/verification.ts';
import { type ErrorCode, MESSAGES, Problem, refusedBody, refusedElements } from '../../values/errors.ts';
import type { PaymentId } from '../../values/identifiers.ts';
import { ClientId, Nullable, Text } from '../../values/schemas.ts';
import { expectedIn } from '../schemas/misplaced.ts';
import { orderBody } from '../schemas/order-body.ts';
import { paymentId } from '../schemas/payment-schema.ts';
import { sendValue } from '../schemas/reply.ts';
import { ClientQuery, jsonAnswer, orderErrors } from '../schemas/schemas.ts';
import { answerPaymentChallenge, Challenge } from './challenges.ts';
import { contactChange } from './change.ts';
import { STEP_UP } from './payment-actions.ts';

/** The most payments that are decided at once. */
const MAX_DECIDED_PAYMENTS = 200;

const PAYMENT_IDS = Type.Array(paymentId({ minLength: 1 }), {
  minItems: 1,
  maxItems: MAX_DECIDED_PAYMENTS,
  description: 'Each once',
});
const optionalText = (description: string, maxLength: number) => Type.Optional(Type.String({ maxLength, description }));
const DecisionsQuery = Type.Object({
  client_id: ClientId,
  action: Type.Enum(['authorise', 'reject'], { description: 'What the contact does', examples: ['authorise'] }),
});
const DecisionsBody = orderBody(
  {
    payment_ids: PAYMENT_IDS,
    reason: Type.Optional(Text('Why; each payment, its timeline and the audit trail show it')),
    challenge_id: optionalText('Where the client asks for a code: the challenge of these payments', 128),
    verification_code: optionalText('The code from the text message or the authenticator', 64),
  },
  {
    list: 'payment_ids',
    title: 'PaymentDecisions',
    examples: [{ payment_ids: ['PAY000421', 'PAY000422'], reason: 'Matches the invoices' }],
  },
);
const ChallengeBody = orderBody(
  { payment_ids: PAYMENT_IDS },
  { list: 'payment_ids', title: 'ChallengeForMany', examples: [{ payment_ids: ['PAY000421', 'PAY000422'] }] },
);
const text = (description: string) => Nullable(Type.String({ description }));
const Decided = Type.Object(
  {
    payment_id: Type.String(),
    done: Type.Boolean({ description: 'The approval or rejection counts' }),
    code: text('Why not; null where it is done'),
    message: text('Short description of the cause'),
    details: text('What must be otherwise'),
  },
  {
    title: 'DecidedPayment',
    examples: [{ payment_id: 'PAY000421', done: true, code: null, message: null, details: null }],
  },
);

const DECIDE = {
  preValidation: [expectedIn('query', 'action')],
  schema: {
    operationId: 'decidePayments',
    tags: ['payments'],
    summary: 'Authorise or reject many payments',
    description:
      'Each is judged alone, its permission too: the answer says of each what became of it, in the order sent. Where the client has ' +
      '`approval_step_up`, authorising needs `challenge_id` and `verification_code` of a challenge that was opened for these payments.',
    querystring: DecisionsQuery,
    body: DecisionsBody,
    response: {
      200: jsonAnswer('What became of each', Type.Array(Decided)),
      ...orderErrors(400, 413, 415, 502, ...STEP_UP),
    },
  },
};

const OPEN = {
  config: { permission: { anyOf: ['can_authorise_payments', 'can_create_payments'] as const } },
  schema: {
    operationId: 'openChallengeForMany',
    tags: ['payments'],
    summary: 'Open one challenge for many approvals',
    description:
      'As the challenge of one payment. A text message has their number, the sum for each currency, and up to three accounts. The ' +
      'approval must name the same payments; one that has changed since is not approved. Needs can_authorise_payments.',
    querystring: ClientQuery,
    body: ChallengeBody,
    response: {
      201: jsonAnswer('The challenge', Challenge),
      ...orderErrors(
        400,
        413,
        415,
        502,
        'second_factor_missing',
        'payment_not_found',
        'approval_not_allowed',
        'rate_limited',
      ),
    },
  },
};

/** @throws Problem invalid_body if a payment is named twice */
function requireOnce(paymentIds: readonly PaymentId[]): void {
  const twice = paymentIds.flatMap((id, index) => (paymentIds.indexOf(id) < index ? [index] : []));
  if (twice.length === 0) return;
  const fault = { code: 'invalid_format' as const, message: 'is named twice' };
  throw refusedBody(twice.map((index) => ({ ...fault, field: `payment_ids[${index}]`, index })));
}

/** The result for a payment in the form of an answer. */
function shown(paymentId: PaymentId, index: number, problem: Problem | undefined): Static<typeof Decided> {
  if (!problem) return { payment_id: paymentId, done: true, code: null, message: null, details: null };
  const { code, details } = placed(problem, index);
  return { payment_id: paymentId, done: false, code, message: MESSAGES[code], details };
}

/** Adds the payment's place in the body to a refusal. */
function placed(problem: Problem, index: number): Problem {
  const { code, fault } = problem;
  return fault ? new Problem(code, `body.payment_ids[${index}]: ${fault.message}`) : problem;
}

/** The codes of refusals of a challenge. The first one that applies is reported. */
const CHALLENGE_CODES: readonly ErrorCode[] = ['payment_not_found', 'approval_not_allowed'];

/** The refusal of a single challenge for many payments, all or nothing. */
function refusal(refused: ReadonlyMap<number, Problem>): Problem {
  const all = [...refused].map(([index, problem]) => [index, placed(problem, index)] as const);
  return refusedElements('payment_ids', new Map(all), CHALLENGE_CODES);
}

/**
 * Decides about payments as the caller, each judged separately. The pages use it too.
 * @throws Problem if nothing is decided: a payment is named twice, or a code is missing or wrong
 */
export async function decideAll(
  context: Context,
  request: FastifyRequest,
  action: 'authorise' | 'reject',
  body: Static<typeof DecisionsBody>,
): Promise<Static<typeof Decided>[]> {
  const { contactId, clientId } = request.caller;
  const { payment_ids: paymentIds, reason, challenge_id: challengeId, verification_code: code } = body;
  requireOnce(paymentIds);
  const approval = { clientId, contactId, paymentIds, whole: false };
  const approves = action === 'authorise';
  const denied = request.caller.permissions.can_authorise_payments ? [] : await findForeign(context.pool, approval);
  const proof = approves ? await checkStepUp(context, approval, { challengeId, code }) : undefined;
  const refused = await contactChange(context, request, async (tx, act) => {
    const changed = approves ? await redeem(tx, approval, { proof, now: act.now }) : [];
    const before = new Map(changed.map((id) => [id, challengeExpired()]));
    for (const id of denied) before.set(id, noRight());
    const decisions = { clientId, contactId, paymentIds, action, reason, refused: before };
    return decideMany(tx, act, presentationOf(context), decisions);
  });
  return paymentIds.map((id, index) => shown(id, index, refused.get(index)));
}

/** PATCH /payments, and POST /payments/challenges: many decisions at once (docs/approvals.md). */
export function manyDecisionRoutes(app: FastifyInstance, context: Context): void {
  app.patch<{ Querystring: Static<typeof DecisionsQuery>; Body: Static<typeof DecisionsBody> }>(
    '/payments',
    DECIDE,
    async (request, reply) => sendValue(reply, await decideAll(context, request, request.query.action, request.body)),
  );

  app.post<{ Body: Static<typeof ChallengeBody> }>('/payments/challenges', OPEN, (request, reply) => {
    const { payment_ids: paymentIds } = request.body;
    requireOnce(paymentIds);
    return answerPaymentChallenge(context, request, reply, { paymentIds, refusal });
  });
}
