import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { type Transaction, transaction } from '../../database/database.ts';
import { freeKeys } from '../../operator/idempotency.ts';
import { requireOwn } from '../../payments/contact-actions.ts';
import { type OpenedStepUp, openStepUp, sendOpened } from '../../payments/step-up/challenge.ts';
import type { Problem } from '../../values/errors.ts';
import type { PaymentId } from '../../values/identifiers.ts';
import { type Language, languageOf } from '../../values/language.ts';
import { present } from '../../values/unknown.ts';
import { ExamplePaymentPath } from '../schemas/payment-schema.ts';
import { ClientQuery, errors, jsonAnswer } from '../schemas/schemas.ts';
import { sendAnswer } from '../server/change.ts';
import { keyedChange } from './change.ts';

export const Challenge = Type.Object(
  {
    challenge_id: Type.String({ description: 'To be sent with the approval' }),
    second_factor: Type.Enum(['totp', 'sms'], { description: 'Where the code comes from' }),
    expires_at: Type.String({ format: 'date-time', description: 'Until when the challenge is good' }),
  },
  {
    title: 'Challenge',
    examples: [
      {
        challenge_id: 'kZ3yFqv0Yc5mW1l2uT8dQe7xJr4bNs6aPo9iHgLtVwE',
        second_factor: 'sms',
        expires_at: '2026-07-01T09:20:00.000Z',
      },
    ],
  },
);

const OPEN = {
  config: { permission: { anyOf: ['can_authorise_payments', 'can_create_payments'] as const }, unkeyed: true },
  schema: {
    operationId: 'openChallenge',
    tags: ['payments'],
    summary: 'Open a challenge for an approval',
    description:
      'For clients with `approval_step_up`. Where the second factor of the contact is SMS, sends a text message with a code, the ' +
      'amount and the payee’s account, at most one each 30 seconds. The challenge is good for this contact and this payment, once, ' +
      'for 5 minutes and 5 wrong codes, while amount, currency, payee’s account and status stay. Needs can_authorise_payments.',
    params: ExamplePaymentPath,
    querystring: ClientQuery,
    response: {
      201: jsonAnswer('The challenge', Challenge),
      ...errors(400, 502, 'second_factor_missing', 'payment_not_found', 'approval_not_allowed', 'rate_limited'),
    },
  },
};

/**
 * Opens a challenge, under the request's Idempotency-Key if it takes one. Sends the text message after the challenge is stored.
 * @throws Problem integration_error if the gateway fails: nobody has got the code, and the key is free for another attempt
 */
export async function answerChallenge(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  open: (tx: Transaction, how: { now: Date; language: Language }) => Promise<OpenedStepUp>,
): Promise<FastifyReply> {
  const language = languageOf(undefined, request.headers['accept-language']);
  const opened: { last?: OpenedStepUp } = {};
  const { answer, isNew } = await keyedChange(context, request, async (tx, { now }) => {
    opened.last = await open(tx, { now, language });
    const { challenge, expiresAt } = opened.last;
    return { status: 201, body: JSON.stringify(challenge), expiresAt };
  });
  if (isNew && opened.last)
    await sendOpened(context, request.caller.contactId, opened.last).catch(async (error: unknown) => {
      const { keyed } = request;
      if (keyed) await transaction(context.pool, async (tx) => freeKeys(tx, [keyed.key]));
      throw error;
    });
  return sendAnswer(reply, answer);
}

/** Opens a challenge for payments. @param refusal makes the refusal if payments are refused, by their place */
export function answerPaymentChallenge(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  {
    paymentIds,
    refusal,
  }: { paymentIds: readonly PaymentId[]; refusal: (refused: ReadonlyMap<number, Problem>) => Problem },
): Promise<FastifyReply> {
  return answerChallenge(context, request, reply, async (tx, how) => {
    const { clientId, contactId, permissions } = request.caller;
    const approver = { clientId, contactId, paymentIds };
    if (!permissions.can_authorise_payments) await requireOwn(tx, approver);
    return openStepUp(tx, context, approver, { ...how, refusal });
  });
}

/** POST /payments/{payment_id}/challenges (docs/approvals.md, Step-up). */
export function challengeRoutes(app: FastifyInstance, context: Context): void {
  app.post<{ Params: Static<typeof ExamplePaymentPath> }>('/payments/:payment_id/challenges', OPEN, (request, reply) =>
    answerPaymentChallenge(context, request, reply, {
      paymentIds: [request.params.payment_id],
      refusal: (refused) => present(refused.get(0)),
    }),
  );
}
