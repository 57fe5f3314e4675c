import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { findOnboardingEvent } from '../../identity/people/onboarding.ts';
import { OnboardingEvent } from '../schemas/event-schemas.ts';
import { ClientQuery, errors, jsonAnswer } from '../schemas/schemas.ts';

/** GET /onboarding-events/{id}, to which `links.self` of an OnboardingStatusChange leads (docs/webhooks.md). */
export function onboardingRoutes(app: FastifyInstance, context: Context): void {
  const schema = {
    operationId: 'getOnboardingEvent',
    tags: ['webhooks'],
    summary: 'Read the last change of an onboarding',
    description: 'What OnboardingStatusChange notified last; its `links.self` has this address.',
    params: Type.Object({ id: Type.String({ description: 'The id of the notification', examples: ['CLI000001'] }) }),
    querystring: ClientQuery,
    response: {
      200: jsonAnswer('The last change', OnboardingEvent(context.config.brand)),
      ...errors(400, 403, 404, 502, 'onboarding_event_not_found'),
    },
  };
  app.get<{ Params: { id: string } }>('/onboarding-events/:id', { schema }, (request) =>
    findOnboardingEvent(context.pool, request.caller.clientId, request.params.id),
  );
}
