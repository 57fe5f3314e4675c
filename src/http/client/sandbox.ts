import type { ClientRoutes } from './listener.ts';
import { sandboxPaymentRoutes } from './sandbox-payments.ts';
import { sandboxRequestRoutes } from './sandbox-requests.ts';
import { sandboxResetRoutes } from './sandbox-reset.ts';
import { sandboxTriggerRoutes } from './sandbox-trigger.ts';

/**
 * What an integrator moves with a contact's own token (docs/sandbox.md): no permission is needed. Production does not have these
 * addresses: it answers 404 without looking at the token, and does not describe them.
 */
export const sandboxRoutes: ClientRoutes = (app, context) => {
  if (context.config.environment !== 'sandbox') return;
  sandboxPaymentRoutes(app, context);
  sandboxTriggerRoutes(app, context);
  sandboxResetRoutes(app, context);
  sandboxRequestRoutes(app, context);
};
