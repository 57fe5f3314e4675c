import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { recordOnboarding } from '../../identity/people/onboarding.ts';
import { ClientId, closed, Day, Nullable, Text } from '../../values/schemas.ts';
import { OnboardingEvent } from '../schemas/event-schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { errors, jsonAnswer } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { FEED } from './listener.ts';

const text = (description: string) => Type.Optional(Nullable(Text(description)));

const OnboardingBody = Type.Object(
  {
    client_id: ClientId,
    onboarding_status: Text('The new status', 128),
    id: Type.Optional(Text('Identifier of the onboarding; default: the client', 128)),
    type: Type.Optional(Text('Type of the entity', 128)),
    account_number: text('The institution’s number for the client'),
    service_id: text('Identifier with the service'),
    became_client: Type.Optional(Nullable(Day('When it became a client'))),
  },
  { ...closed, title: 'OnboardingInput', examples: [{ client_id: 'CLI000001', onboarding_status: 'Active' }] },
);
const record = (brand: string) =>
  operation('POST /onboarding-events', {
    config: FEED,
    schema: {
      operationId: 'recordOnboardingEvent',
      tags: ['clients'],
      summary: 'Record a change of an onboarding',
      body: OnboardingBody,
      response: {
        201: jsonAnswer('The event as it is notified', OnboardingEvent(brand)),
        ...errors(400, 404, 502, 'client_not_found'),
      },
    },
  });

export type OnboardingOperations = ReturnType<typeof record>;

/** Changes of a client's onboarding (docs/operator-interface.md). */
export function operatorOnboardingRoutes(app: FastifyInstance, context: Context): void {
  serve(
    app,
    record(context.config.brand),
    change(context, 201, (tx, act, request) =>
      recordOnboarding(tx, act, { brand: context.config.brand, apiUrl: context.addresses.api }, request.body),
    ),
  );
}
