import type { FastifyInstance } from 'fastify';
import type { Context } from '../../context.ts';
import { presentationOf } from '../../payments/presentation.ts';
import { resetClient } from '../../sandbox/reset.ts';
import { ClientQuery, errors } from '../schemas/schemas.ts';
import { answerChange } from './change.ts';
import type { ClientRoutes } from './listener.ts';
import { sandboxExchangeRateRoutes } from './sandbox-exchange-rate.ts';
import { sandboxPaymentRoutes } from './sandbox-payments.ts';
import { sandboxRequestRoutes } from './sandbox-requests.ts';
import { sandboxTradeRoutes } from './sandbox-trades.ts';
import { sandboxTriggerRoutes } from './sandbox-trigger.ts';

/**
 * What an integrator can control with a contact's own token (docs/sandbox.md). No permission is needed. Production does not have these
 * addresses: it answers 404 without checking the token, and does not describe them.
 */
export const sandboxRoutes: ClientRoutes = (app, context) => {
  if (context.config.environment !== 'sandbox') return;
  sandboxPaymentRoutes(app, context);
  sandboxExchangeRateRoutes(app, context);
  sandboxTradeRoutes(app, context);
  sandboxTriggerRoutes(app, context);
  sandboxResetRoutes(app, context);
  sandboxRequestRoutes(app, context);
};

const RESET = {
  schema: {
    operationId: 'resetSandbox',
    tags: ['sandbox'],
    summary: 'Start again',
    description:
      "Makes the client's data as the demonstration made it; a client that it did not make is empty then. Contacts, tokens, " +
      'applications and subscriptions stay. Exists in the sandbox only.',
    querystring: ClientQuery,
    response: { 204: { description: 'Done', type: 'null' }, ...errors(400, 403, 404, 502) },
  },
};

/** POST /sandbox/reset (docs/sandbox.md). */
function sandboxResetRoutes(app: FastifyInstance, context: Context): void {
  // For a large client the statements may take longer than those of other requests.
  const patient = { ...context, pool: context.backgroundPool };
  app.post('/sandbox/reset', RESET, async (request, reply) => {
    const scope = { vault: context.vault, presentation: presentationOf(context) };
    return answerChange(patient, request, reply, async (tx, act) => {
      await resetClient(tx, act, { clientId: request.caller.clientId, scope });
      return { status: 204, body: '' };
    });
  });
}
