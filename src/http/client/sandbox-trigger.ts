import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { presentationOf } from '../../payments/presentation.ts';
import { EVENTS, trigger } from '../../sandbox/trigger.ts';
import { closed } from '../../values/schemas.ts';
import { locationHeader } from '../schemas/reply.ts';
import { ClientQuery, errors, jsonAnswer } from '../schemas/schemas.ts';
import { clientAddress } from './caller.ts';
import { answerChange } from './change.ts';

const Trigger = Type.Object(
  {
    event: Type.Enum([...EVENTS], {
      description: 'A WebhookType; PAYMENT_STATUS_CHANGE and TRADE_STATUS_CHANGE take a status after a colon',
    }),
  },
  { ...closed, title: 'SandboxTrigger', examples: [{ event: 'PAYMENT_STATUS_CHANGE:SENT' }] },
);
const Triggered = Type.Object(
  {
    event: Type.String(),
    entity: Type.Enum(['payment', 'trade', 'transaction', 'onboarding_event', 'beneficiary']),
    entity_id: Type.String({ description: 'The id in the body of the notification' }),
  },
  {
    title: 'TriggeredEvent',
    examples: [{ event: 'PAYMENT_STATUS_CHANGE:SENT', entity: 'payment', entity_id: 'PAY000001' }],
  },
);

/** Where the client API shows what was made. It shows no single trade and no single transaction. */
const SHOWN_AT: Partial<Record<Static<typeof Triggered>['entity'], string>> = {
  payment: '/payments',
  onboarding_event: '/onboarding-events',
  beneficiary: '/beneficiaries',
};
const LOCATION = locationHeader(
  'Where the payment, the onboarding event or the beneficiary can be read; not for a trade or a transaction',
  'https://api.example.com/payments/PAY000001?client_id=CLI000001',
);

const TRIGGER = {
  schema: {
    operationId: 'triggerSandboxEvent',
    tags: ['sandbox'],
    summary: 'Trigger a notification',
    description:
      'Makes real data that causes the notification, and everything on the legal way to it, with its notifications. Exists in ' +
      'the sandbox only.',
    querystring: ClientQuery,
    body: Trigger,
    response: {
      201: jsonAnswer('What was made', Triggered, LOCATION),
      ...errors(400, 403, 404, 502, 'transition_not_allowed'),
    },
  },
};

/** POST /sandbox/trigger (docs/sandbox.md). */
export function sandboxTriggerRoutes(app: FastifyInstance, context: Context): void {
  app.post<{ Body: Static<typeof Trigger> }>('/sandbox/trigger', TRIGGER, async (request, reply) => {
    const { clientId, contactId } = request.caller;
    const { event } = request.body;
    const naming = { ...presentationOf(context), brand: context.config.brand };
    return answerChange(context, request, reply, async (tx, act) => {
      const made = await trigger(tx, act, naming, { event, clientId, contactId });
      const place = SHOWN_AT[made.entity];
      const path = `${place}/${encodeURIComponent(made.entity_id)}`;
      const headers = { location: clientAddress(context, request, path) };
      return { status: 201, body: JSON.stringify(made), ...(place !== undefined && { headers }) };
    });
  });
}
