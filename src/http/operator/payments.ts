import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { pairKey } from '../../identity/people/tenant.ts';
import type { Scope } from '../../operator/scope.ts';
import { actSeparately, type PaymentActionRequest } from '../../payments/actions/payment-action.ts';
import { createSeparately } from '../../payments/creation.ts';
import { ORDERED_EXAMPLE, ORDERED_FIELDS, PAYMENT, PAYMENT_FIELDS } from '../../payments/declaration.ts';
import { PAYMENT_ACTIONS } from '../../payments/moves.ts';
import { findPaymentOwner, type PaymentRecord, paymentRecords } from '../../payments/payment.ts';
import { presentationOf } from '../../payments/presentation.ts';
import { searchForInstitution } from '../../payments/search/institution-search.ts';
import { readSearch } from '../../payments/search/search-parameters.ts';
import { paymentTimeline } from '../../payments/views/timeline.ts';
import type { PaymentCall } from '../../payments/writing.ts';
import { Problem } from '../../values/errors.ts';
import type { PaymentId } from '../../values/identifiers.ts';
import { ClientId, closed, Text, Uuid } from '../../values/schemas.ts';
import { Payment } from '../schemas/event-schemas.ts';
import { expectedIn } from '../schemas/misplaced.ts';
import { operation, serve } from '../schemas/operation.ts';
import { PaymentFilters } from '../schemas/payment-filters.ts';
import { sendJson, sendValue } from '../schemas/reply.ts';
import { errors, jsonAnswer, listAnswer } from '../schemas/schemas.ts';
import { shareChanges } from '../server/change-queue.ts';
import { answersOf, type SharedChange, sendChange, sharedChange } from './change.ts';
import { FEED, READ } from './listener.ts';

const PaymentBody = Type.Object(PAYMENT_FIELDS, {
  ...closed,
  title: 'PaymentInput',
  examples: [
    {
      client_id: 'CLI000001',
      contact_id: 'CON000001',
      trade_id: 'TRD000001',
      beneficiary_id: 'BEN000001',
      amount: 250.5,
      payment_currency: 'EUR',
      payment_date: '2026-07-01',
      reference: 'Invoice 42',
    },
  ],
});
/** A payment in the form that the institution reads. */
export const OperatorPayment = Type.Object(
  { client_id: ClientId, ...Payment.properties, ...ORDERED_FIELDS },
  { title: 'Payment', examples: [{ client_id: 'CLI000001', ...PAYMENT.example, ...ORDERED_EXAMPLE }] },
);
const PaymentPath = Type.Object({ payment_id: Type.Unsafe<PaymentId>(Type.String()) });
export const ActionFields = {
  action: Type.Enum(PAYMENT_ACTIONS),
  contact_id: Type.Optional(Type.String({ minLength: 1, description: 'Who acts; required by authorise and reject' })),
  reason: Type.Optional(Text('Kept in the audit trail')),
};
const ActionBody = Type.Object(ActionFields, {
  ...closed,
  title: 'PaymentAction',
  examples: [{ action: 'validate' }],
});

/** An action on a payment that may share a transaction with others. */
type ActionCall = SharedChange & PaymentActionRequest;

/** What a change answers: the text of a payment, or why it was refused. */
function textOf(outcome: PaymentRecord | Problem | undefined): string | Problem | undefined {
  return outcome === undefined || outcome instanceof Problem ? outcome : outcome.text;
}

const CREATE = operation('POST /payments', {
  config: { ...FEED, location: '/payments/{payment_id}' },
  schema: {
    operationId: 'createPayment',
    tags: ['payments'],
    summary: 'Create a payment',
    body: PaymentBody,
    response: {
      201: jsonAnswer('The payment', OperatorPayment),
      ...errors(
        400,
        404,
        409,
        502,
        'client_not_found',
        'contact_not_found',
        'trade_not_found',
        'beneficiary_not_found',
        'already_exists',
        'exchange_rate_missing',
        'transition_not_allowed',
      ),
    },
  },
});

const Search = Type.Object({
  client_id: Type.Optional(
    Type.String({ minLength: 1, description: 'Required unless payment_ids, uuid or reference is given' }),
  ),
  uuid: Type.Optional(Uuid('The SWIFT UETR')),
  source: Type.Optional(Type.Enum(['client', 'institution'], { description: 'Only payments that these have ordered' })),
  ...PaymentFilters,
});

const SEARCH = operation('GET /payments', {
  config: READ,
  schema: {
    tags: ['payments'],
    operationId: 'searchPayments',
    summary: 'Search payments',
    description: 'As clients search. Each payment has `client_id`.',
    querystring: Search,
    response: {
      200: listAnswer('A page of payments', OperatorPayment),
      ...errors(400, 403, 502, 'missing_parameter'),
    },
  },
});

const READ_ONE = operation('GET /payments/{payment_id}', {
  config: READ,
  schema: {
    operationId: 'getPayment',
    tags: ['payments'],
    summary: 'Read a payment',
    params: PaymentPath,
    response: { 200: jsonAnswer('The payment', OperatorPayment), ...errors(404, 502, 'payment_not_found') },
  },
});

/** The further fields depend on the kind. */
const TimelineEntry = Type.Object(
  {
    at: Type.String({ format: 'date-time' }),
    kind: Type.Enum(['action', 'approval', 'notification', 'attempt', 'audit']),
  },
  {
    title: 'TimelineEntry',
    additionalProperties: true,
    examples: [{ at: '2026-07-01T09:15:00.000Z', kind: 'approval', decision: 'authorise', contact_id: 'CON000002' }],
  },
);
const TIMELINE = operation('GET /payments/{payment_id}/timeline', {
  config: READ,
  schema: {
    tags: ['payments'],
    operationId: 'getPaymentTimeline',
    summary: 'Read everything that happened to a payment, in order',
    params: PaymentPath,
    response: {
      200: jsonAnswer('What happened, the oldest first', Type.Array(TimelineEntry)),
      ...errors(400, 403, 404, 502, 'payment_not_found'),
    },
  },
});

const ACT = operation('POST /payments/{payment_id}/actions', {
  preValidation: expectedIn('body', 'action'),
  config: {
    scopesOf: ({ body }: FastifyRequest): Scope[] =>
      ['authorise', 'reject'].includes((body as { action?: string } | null)?.action ?? '') ? ['approvals'] : ['feed'],
  },
  schema: {
    operationId: 'actOnPayment',
    tags: ['payments'],
    summary: 'Act on a payment',
    params: PaymentPath,
    body: ActionBody,
    response: {
      200: jsonAnswer('The payment', OperatorPayment),
      ...errors(
        400,
        403,
        404,
        409,
        502,
        'payment_not_found',
        'contact_not_found',
        'transition_not_allowed',
        'approval_not_allowed',
      ),
    },
  },
});

export type PaymentOperations = typeof CREATE | typeof SEARCH | typeof READ_ONE | typeof TIMELINE | typeof ACT;

/** Payments, and the actions on them (docs/operator-interface.md). */
export function operatorPaymentRoutes(app: FastifyInstance, context: Context): void {
  const { pool } = context;

  const create = shareChanges<SharedChange & PaymentCall>(context, async (tx, calls) =>
    answersOf(201, (await createSeparately(tx, presentationOf(context), calls)).map(textOf)),
  );
  serve(app, CREATE, async (request, reply) => {
    const { client_id: clientId, trade_id: tradeId } = request.body;
    return sendChange(
      reply,
      await create(pairKey(clientId, tradeId), { ...sharedChange(request), input: request.body }),
    );
  });
  serve(app, SEARCH, async ({ query, now }, reply) => {
    const wanted = {
      clientId: query.client_id,
      uuid: query.uuid,
      search: { ...readSearch(query), source: query.source },
      now,
    };
    const { total, body } = await searchForInstitution(pool, presentationOf(context), wanted);
    if (total !== undefined) reply.header('x-total-count', total);
    return sendJson(reply, body);
  });
  serve(app, READ_ONE, async (request, reply) => {
    const { id, client_id: clientId } = await findPaymentOwner(pool, request.params.payment_id);
    const view = { clientId, viewer: null, institution: true, now: request.now, ...presentationOf(context) };
    const [record] = await paymentRecords(pool, view, [id]);
    return sendJson(reply, record?.text ?? 'null');
  });
  serve(app, TIMELINE, async (request, reply) =>
    sendValue(reply, await paymentTimeline(pool, request.params.payment_id)),
  );
  const act = shareChanges<ActionCall>(context, async (tx, calls) =>
    answersOf(200, (await actSeparately(tx, presentationOf(context), calls)).map(textOf)),
  );
  serve(app, ACT, async (request, reply) => {
    const { params, body, operator } = request;
    const { action, contact_id: contactId, reason } = body;
    const wanted = { paymentId: params.payment_id, action, contactId, reason, onBehalfBy: operator.name };
    return sendChange(reply, await act(wanted.paymentId, { ...sharedChange(request), ...wanted }));
  });
}
