import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { requireOwn } from '../../payments/contact-actions.ts';
import { openStepUp, sendOpened } from '../../payments/step-up/challenge.ts';
import { languageOf } from '../../values/language.ts';
import { ExamplePaymentPath } from '../schemas/payment-schema.ts';
import { ClientQuery, errors, jsonAnswer } from '../schemas/schemas.ts';
import { contactChange } from './change.ts';

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

/** POST /payments/{payment_id}/challenges (docs/approvals.md, Step-up). */
export function challengeRoutes(app: FastifyInstance, context: Context): void {
  app.post<{ Params: Static<typeof ExamplePaymentPath> }>(
    '/payments/:payment_id/challenges',
    OPEN,
    async (request, reply) => {
      const { contactId, clientId } = request.caller;
      const paymentId = request.params.payment_id;
      if (!request.caller.permissions.can_authorise_payments)
        await requireOwn(context.pool, { clientId, contactId, paymentIds: [paymentId] });
      const language = languageOf(undefined, request.headers['accept-language']);
      const opened = await contactChange(context, request, (tx, { now }) =>
        openStepUp(tx, context, { clientId, contactId, paymentId }, { now, language }),
      );
      await sendOpened(context, contactId, opened);
      return reply.code(201).send(opened.challenge);
    },
  );
}
