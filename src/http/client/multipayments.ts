import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { rejectMultipayment } from '../../orders/multipayment-rejection.ts';
import { presentationOf } from '../../payments/presentation.ts';
import { closed } from '../../values/schemas.ts';
import { ClientQuery, errors, Reason } from '../schemas/schemas.ts';
import { allowNoBody } from '../server/body.ts';
import { contactChange } from './change.ts';

const Path = Type.Object({
  multipayment_id: Type.String({
    description: 'The number, the formatted identifier or the unique identifier',
    examples: ['MP000007', '7', '0f8fad5b-d9cb-469f-a165-70867728950e'],
  }),
});

const Body = Type.Object(
  { reason: Reason },
  { ...closed, title: 'MultipaymentRejection', examples: [{ reason: 'The rates have moved' }] },
);

const REJECT = {
  config: { permission: 'can_manage_multipayments' as const },
  preValidation: allowNoBody,
  schema: {
    operationId: 'rejectMultipayment',
    tags: ['multi payments'],
    summary: 'Reject a multi payment',
    description:
      'Rejects its trades and cancels its payments, all or nothing. 409 `already_rejected` the second time, ' +
      '`transition_not_allowed` once one of its payments has been sent. Needs can_manage_multipayments.',
    params: Path,
    querystring: ClientQuery,
    body: Body,
    response: {
      204: { description: 'Rejected', type: 'null' },
      ...errors(400, 403, 502, 'multipayment_not_found', 'already_rejected', 'transition_not_allowed'),
    },
  },
};

/** DELETE /multipayments/{multipayment_id} (the service interface; docs/decisions.md, 3). */
export function multipaymentRoutes(app: FastifyInstance, context: Context): void {
  app.delete<{ Params: Static<typeof Path>; Body: Static<typeof Body> }>(
    '/multipayments/:multipayment_id',
    REJECT,
    async (request, reply) => {
      const { clientId, contactId } = request.caller;
      await contactChange(context, request, (tx, act) =>
        rejectMultipayment(tx, act, presentationOf(context), {
          clientId,
          contactId,
          id: request.params.multipayment_id,
          reason: request.body.reason,
        }),
      );
      return reply.code(204).send();
    },
  );
}
