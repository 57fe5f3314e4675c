import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { noteRecord } from '../../audit/change.ts';
import type { Context } from '../../context.ts';
import { type Db, lockChanges, type Transaction } from '../../database/database.ts';
import type { Scope } from '../../operator/scope.ts';
import { actOnPayment } from '../../payments/actions/payment-action.ts';
import { createPayment } from '../../payments/creation.ts';
import { ORDERED_EXAMPLE, ORDERED_FIELDS, PAYMENT, PAYMENT_FIELDS } from '../../payments/declaration.ts';
import { PAYMENT_ACTIONS } from '../../payments/moves.ts';
import { findPaymentOwner, type PaymentRecord, paymentRecords } from '../../payments/payment.ts';
import { presentationOf } from '../../payments/presentation.ts';
import { searchForInstitution } from '../../payments/search/institution-search.ts';
import { readSearch } from '../../payments/search/search-parameters.ts';
import { paymentTimeline } from '../../payments/views/timeline.ts';
import type { PaymentId, PaymentNumber } from '../../values/identifiers.ts';
import { ClientId, closed, Text, Uuid } from '../../values/schemas.ts';
import { Payment } from '../schemas/event-schemas.ts';
import { expectedIn } from '../schemas/misplaced.ts';
import { operation, serve } from '../schemas/operation.ts';
import { PaymentFilters } from '../schemas/payment-filters.ts';
import { sendJson, sendValue } from '../schemas/reply.ts';
import { errors, jsonAnswer, listAnswer } from '../schemas/schemas.ts';
import { change } from './change.ts';
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

/** A payment as JSON text, seen by no particular contact. */
interface Wanted {
  client_id: string;
  id: PaymentNumber;
  now: Date;
}

async function read(
  db: Db,
  context: Context,
  { client_id: clientId, id, now }: Wanted,
): Promise<PaymentRecord | undefined> {
  const view = { clientId, viewer: null, institution: true, now, ...presentationOf(context) };
  const [record] = await paymentRecords(db, view, [id]);
  return record;
}

/** The payment at the end of a transaction. The change feed shows the same text, so it need not read it again. */
async function changed(tx: Transaction, context: Context, payment: Wanted): Promise<string | undefined> {
  lockChanges(tx);
  const record = await read(tx, context, payment);
  if (record) noteRecord(tx, 'payment', record.payment_id, () => record);
  return record?.text;
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
      ...errors(403, 404, 502, 'payment_not_found'),
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

  serve(
    app,
    CREATE,
    change(context, 201, async (tx, act, request) => {
      const id = await createPayment(tx, act, presentationOf(context), request.body);
      return changed(tx, context, { client_id: request.body.client_id, id, now: act.now });
    }),
  );
  serve(app, SEARCH, async ({ query, now }, reply) => {
    const wanted = {
      clientId: query.client_id,
      uuid: query.uuid,
      search: { ...readSearch(query), source: query.source },
      now,
    };
    const { total, body } = await searchForInstitution(pool, presentationOf(context), wanted);
    return sendJson(reply.header('x-total-count', total), body);
  });
  serve(app, READ_ONE, async (request, reply) => {
    const owner = await findPaymentOwner(pool, request.params.payment_id);
    const record = await read(pool, context, { ...owner, now: request.now });
    return sendJson(reply, record?.text ?? 'null');
  });
  serve(app, TIMELINE, async (request, reply) =>
    sendValue(reply, await paymentTimeline(pool, request.params.payment_id)),
  );
  serve(
    app,
    ACT,
    change(context, 200, async (tx, act, { params: { payment_id: paymentId }, body, operator }) => {
      const { action, contact_id: contactId, reason } = body;
      const wanted = { paymentId, action, contactId, reason, onBehalfBy: operator.name };
      const owner = await actOnPayment(tx, act, presentationOf(context), wanted);
      return changed(tx, context, { ...owner, now: act.now });
    }),
  );
}
