import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { transaction } from '../../database.ts';
import { Problem } from '../../errors.ts';
import { cancelPayment } from '../../payments/cancellation.ts';
import { movePayment } from '../../payments/lifecycle.ts';
import { presentationOf } from '../../payments/presentation.ts';
import { ClientId, errors } from '../schemas.ts';
import { contactAct } from './act.ts';

const Path = Type.Object({ payment_id: Type.String({ description: 'Payment identifier' }) });
const Client = Type.Object({ client_id: ClientId });
const ActionQuery = Type.Object({
  client_id: ClientId,
  action: Type.Enum(['authorise', 'reject'], { description: 'What the asking contact does', examples: ['authorise'] }),
});
const done = { 204: { description: 'Done', type: 'null' } };

/** PATCH and DELETE /payments/{payment_id}: approving, rejecting, cancelling (docs/decisions.md, 4). */
export function paymentActionRoutes(app: FastifyInstance, context: Context): void {
  const { pool } = context;

  app.patch<{ Params: Static<typeof Path>; Querystring: Static<typeof ActionQuery> }>(
    '/payments/:payment_id',
    {
      config: { permission: 'can_authorise_payments' },
      schema: {
        tags: ['payments'],
        summary: 'Authorise or reject a payment',
        description:
          'Counts as the asking contact’s approval or rejection. A payment’s `contact_authorisation_actions.allowed` says ' +
          'beforehand whether it may. Needs can_authorise_payments.',
        params: Path,
        querystring: ActionQuery,
        response: { ...done, ...errors(400, 403, 404, 409, 502) },
      },
    },
    async (request, reply) => {
      const { contactId, clientId } = request.caller;
      const move = { clientId, contactId, paymentId: known(request.params.payment_id), action: request.query.action };
      await transaction(pool, (tx) => movePayment(tx, contactAct(request), presentationOf(context), move)).catch(
        asApproval,
      );
      return reply.code(204).send();
    },
  );

  app.delete<{ Params: Static<typeof Path> }>(
    '/payments/:payment_id',
    {
      schema: {
        tags: ['payments'],
        summary: 'Cancel a payment',
        description: 'Before it is sent; its creator may, and who has can_manage_payments.',
        params: Path,
        querystring: Client,
        response: { ...done, ...errors(400, 403, 404, 409, 502) },
      },
    },
    async (request, reply) => {
      const { contactId, clientId } = request.caller;
      const cancelled = { clientId, contactId, paymentId: known(request.params.payment_id) };
      await transaction(pool, (tx) => cancelPayment(tx, contactAct(request), presentationOf(context), cancelled));
      return reply.code(204).send();
    },
  );
}

/** A path can hold what no identifier can, and what PostgreSQL cannot store. */
function known(paymentId: string): string {
  if (paymentId.includes('\0')) throw new Problem('payment_not_found', 'path.payment_id: is no payment of the client');
  return paymentId;
}

/** An approver does not need to know the lifecycle: whatever the reason, this contact may not act on this payment now. */
function asApproval(error: unknown): never {
  if (error instanceof Problem && error.code === 'transition_not_allowed')
    throw new Problem('approval_not_allowed', error.fault ?? error.details);
  throw error;
}
