import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import type { PaymentId } from '../../identifiers.ts';
import { cancelPayment, decidePayment } from '../../payments/contact-actions.ts';
import { presentationOf } from '../../payments/presentation.ts';
import { ClientId, ClientQuery, errors } from '../schemas.ts';
import { contactChange } from './change.ts';

const Path = Type.Object({ payment_id: Type.String({ description: 'Payment identifier', examples: ['PAY000421'] }) });
const ActionQuery = Type.Object({
  client_id: ClientId,
  action: Type.Enum(['authorise', 'reject'], {
    description: 'What the requesting contact does',
    examples: ['authorise'],
  }),
});
const done = { 204: { description: 'Done', type: 'null' } };

const ACT = {
  config: { permission: 'can_authorise_payments' as const },
  schema: {
    operationId: 'decidePayment',
    tags: ['payments'],
    summary: 'Authorise or reject a payment',
    description:
      'Counts as the approval or rejection of the requesting contact. Whether that contact may act is in the payment, in ' +
      '`contact_authorisation_actions.allowed`. Needs can_authorise_payments.',
    params: Path,
    querystring: ActionQuery,
    response: { ...done, ...errors(400, 403, 502, 'payment_not_found', 'approval_not_allowed') },
  },
};

const CANCEL = {
  schema: {
    operationId: 'cancelPayment',
    tags: ['payments'],
    summary: 'Cancel a payment',
    description:
      'Cancels a payment that has not been sent. Its creator may cancel it, and contacts with can_manage_payments.',
    params: Path,
    querystring: ClientQuery,
    response: { ...done, ...errors(400, 502, 'permission_denied', 'payment_not_found', 'transition_not_allowed') },
  },
};

/** PATCH and DELETE /payments/{payment_id}: approving, rejecting, cancelling (docs/decisions.md, 4). */
export function paymentActionRoutes(app: FastifyInstance, context: Context): void {
  app.patch<{ Params: Static<typeof Path>; Querystring: Static<typeof ActionQuery> }>(
    '/payments/:payment_id',
    ACT,
    async (request, reply) => {
      const { contactId, clientId } = request.caller;
      const { action } = request.query;
      const decision = { clientId, contactId, paymentId: request.params.payment_id as PaymentId, action };
      await contactChange(context, request, (tx, act) => decidePayment(tx, act, presentationOf(context), decision));
      return reply.code(204).send();
    },
  );

  app.delete<{ Params: Static<typeof Path> }>('/payments/:payment_id', CANCEL, async (request, reply) => {
    const { contactId, clientId } = request.caller;
    const payment = { clientId, contactId, paymentId: request.params.payment_id as PaymentId };
    await contactChange(context, request, (tx, act) => cancelPayment(tx, act, presentationOf(context), payment));
    return reply.code(204).send();
  });
}
