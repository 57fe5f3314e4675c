import type { FastifyInstance, FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { KIND_NAMES, type Kind } from '../../database/kinds.ts';
import { ChangeFeed } from '../../feed/feed.ts';
import { reconcile } from '../../feed/reconciliation.ts';
import { isCalendarDay } from '../../values/calendar.ts';
import { Problem } from '../../values/errors.ts';
import { closed, Day, Id, Nullable } from '../../values/schemas.ts';
import { operation, type RequestOf, serve } from '../schemas/operation.ts';
import { sendJson, sendShortList, sendValue } from '../schemas/reply.ts';
import { errors, jsonAnswer, listAnswer, ShortListQuery } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { CHANGES, READ } from './listener.ts';

const MAX_CHANGES = 1_000;
const DEFAULT_CHANGES = 100;
const MAX_WAIT_SECONDS = 30;
const MAX_CURSOR_CHARACTERS = 64;

const Cursor = Type.String({ maxLength: MAX_CURSOR_CHARACTERS, description: 'A place in the feed' });
const ChangesQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        maxLength: MAX_CURSOR_CHARACTERS,
        description: 'A cursor, or `now`; default: from the oldest change kept',
      }),
    ),
    consumer: Type.Optional(Id('Begins where this consumer has acknowledged')),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_CHANGES, default: DEFAULT_CHANGES })),
    wait: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_WAIT_SECONDS,
        default: 0,
        description: 'Seconds to wait for a change, if there is none',
      }),
    ),
    client_id: Type.Optional(Type.String({ description: 'Only of this client, its contacts included' })),
    entities: Type.Optional(Type.String({ description: `Comma list of ${KIND_NAMES.join(', ')}`, maxLength: 500 })),
  },
  closed,
);
const Change = Type.Object(
  {
    cursor: Cursor,
    at: Type.String({ description: 'When it was changed, on the service’s clock' }),
    entity: Type.Enum([...KIND_NAMES]),
    entity_id: Type.String(),
    client_id: Nullable(Type.String({ description: 'Null for contacts and applications' })),
    version: Type.Integer({ description: 'Counts the changes of one record from 1 on, without gaps' }),
    action: Type.String({ description: 'create, update, delete, import, reset, or the payment action' }),
    actor: Type.String({ description: 'contact:<contact_id>, token:<name>, staff:<name> or system' }),
    request_id: Type.String(),
    data: Type.Object({}, { additionalProperties: true, description: 'The record as it stood after this change' }),
  },
  { title: 'Change' },
);
const Changes = Type.Object(
  {
    changes: Type.Array(Change),
    cursor: Cursor,
    more: Type.Boolean({ description: 'Whether there are further changes already' }),
  },
  {
    title: 'Changes',
    examples: [
      {
        changes: [
          {
            cursor: '0000000000000042-5f0c8b1d2e3a',
            at: '2026-11-21T10:00:00.123Z',
            entity: 'payment',
            entity_id: 'PAY000001',
            client_id: 'CLI000001',
            version: 3,
            action: 'authorise',
            actor: 'contact:CON000002',
            request_id: '0f8fad5b-d9cb-469f-a165-70867728950e',
            data: { payment_id: 'PAY000001', status: 'Validating beneficiary information' },
          },
        ],
        cursor: '0000000000000042-5f0c8b1d2e3a',
        more: false,
      },
    ],
  },
);
const Consumer = Type.Object(
  {
    name: Type.String(),
    cursor: Cursor,
    acknowledged_at: Type.String(),
    lag_changes: Type.Integer({ description: 'Changes that it has not acknowledged' }),
    lag_seconds: Type.Integer({ description: 'Since when the oldest of them waits; 0 without one' }),
  },
  {
    title: 'Consumer',
    examples: [
      {
        name: 'core',
        cursor: '0000000000000042-5f0c8b1d2e3a',
        acknowledged_at: '2026-11-21T10:00:00.200Z',
        lag_changes: 0,
        lag_seconds: 0,
      },
    ],
  },
);
const Tally = Type.Object({ count: Type.Integer(), sum: Type.String({ description: 'Decimal' }) }, { title: 'Tally' });
const Reconciliation = Type.Array(
  Type.Object(
    {
      client_id: Type.String(),
      currency: Type.String(),
      created: Type.Optional(Tally),
      moved: Type.Record(Type.String(), Tally, { description: 'By the status that payments got' }),
      transactions: Type.Record(Type.String(), Tally, { description: 'By kind' }),
    },
    { title: 'ReconciledCurrency' },
  ),
  {
    examples: [
      [
        {
          client_id: 'CLI000001',
          currency: 'EUR',
          created: { count: 2, sum: '350.50' },
          moved: { 'Payment complete': { count: 1, sum: '250.50' } },
          transactions: {},
        },
      ],
    ],
  },
);
const tags = ['change feed'];
const ConsumerPath = Type.Object({ name: Id('Name of the consumer') });

const READ_CHANGES = operation('GET /changes', {
  config: CHANGES,
  schema: {
    tags,
    operationId: 'listChanges',
    summary: 'Read what has changed, in the order of the commits',
    querystring: ChangesQuery,
    response: {
      200: jsonAnswer('A page of changes', Changes),
      ...errors(400, 502, 'consumer_not_found', 'cursor_expired'),
    },
  },
});
const ACKNOWLEDGE = operation('PUT /change-consumers/{name}', {
  config: CHANGES,
  schema: {
    tags,
    operationId: 'acknowledgeChanges',
    summary: 'Acknowledge changes as a consumer; the first time creates it',
    params: ConsumerPath,
    querystring: Type.Object({
      rewind: Type.Optional(Type.Boolean({ default: false, description: 'Allow an earlier cursor' })),
    }),
    body: Type.Object(
      { cursor: Cursor },
      { ...closed, title: 'Acknowledgement', examples: [{ cursor: '0000000000000042-5f0c8b1d2e3a' }] },
    ),
    response: { 200: jsonAnswer('The consumer', Consumer), ...errors(400, 502, 'cursor_behind', 'cursor_expired') },
  },
});
const LIST_CONSUMERS = operation('GET /change-consumers', {
  config: CHANGES,
  schema: {
    tags,
    operationId: 'listChangeConsumers',
    summary: 'List the consumers of the change feed, with their lag',
    querystring: ShortListQuery,
    response: { 200: listAnswer('The consumers', Consumer), ...errors(400, 502) },
  },
});
const DELETE_CONSUMER = operation('DELETE /change-consumers/{name}', {
  config: CHANGES,
  schema: {
    tags,
    operationId: 'deleteChangeConsumer',
    summary: 'Forget a consumer',
    params: ConsumerPath,
    response: { 204: Type.Null({ description: 'It is forgotten' }), ...errors(502, 'consumer_not_found') },
  },
});
const RECONCILE = operation('GET /reconciliation', {
  config: READ,
  schema: {
    tags,
    operationId: 'reconcileDay',
    summary: 'Count and sum what payments and transactions did on a London day',
    querystring: Type.Object({ date: Day('London day') }),
    response: { 200: jsonAnswer('One entry a client and currency', Reconciliation), ...errors(400, 502) },
  },
});

export type ChangeOperations =
  | typeof READ_CHANGES
  | typeof ACKNOWLEDGE
  | typeof LIST_CONSUMERS
  | typeof DELETE_CONSUMER
  | typeof RECONCILE;

/** The change feed, its consumers, and the reconciliation (docs/change-feed.md). */
export function operatorChangeRoutes(app: FastifyInstance, context: Context): void {
  const feed = new ChangeFeed(context);
  app.addHook('preClose', async () => feed.stop());

  serve(app, READ_CHANGES, (request, reply) => readChanges(feed, request, reply));
  serve(
    app,
    ACKNOWLEDGE,
    change(context, 200, (tx, act, { params: { name }, query: { rewind = false }, body: { cursor } }) =>
      feed.acknowledge(tx, act, { name, cursor, rewind }),
    ),
  );
  serve(app, LIST_CONSUMERS, async ({ query }, reply) => sendShortList(reply, await feed.consumers(), query));
  serve(
    app,
    DELETE_CONSUMER,
    change(context, 204, (tx, act, { params }) => feed.deleteConsumer(tx, act, params.name)),
  );
  serve(app, RECONCILE, (request, reply) => readDay(context, request, reply));
}

async function readChanges(feed: ChangeFeed, { query }: RequestOf<typeof READ_CHANGES>, reply: FastifyReply) {
  if (query.after !== undefined && query.consumer !== undefined)
    throw new Problem('invalid_parameter', { field: 'after', message: 'must be left out where consumer is given' });
  const page = await feed.page({
    after: query.after,
    consumer: query.consumer,
    limit: query.limit ?? DEFAULT_CHANGES,
    waitMs: (query.wait ?? 0) * 1_000,
    clientId: query.client_id,
    entities: entitiesOf(query.entities),
  });
  return sendJson(reply, page);
}

async function readDay(
  { backgroundPool }: Context,
  { query: { date } }: RequestOf<typeof RECONCILE>,
  reply: FastifyReply,
) {
  if (!isCalendarDay(date))
    throw new Problem('invalid_parameter', { field: 'date', message: 'must be a calendar day as YYYY-MM-DD' });
  // A day may have millions of changes. The background pool sets no time limit.
  return sendValue(reply, await reconcile(backgroundPool, date));
}

/** @throws Problem invalid_parameter */
function entitiesOf(text: string | undefined): Kind[] | undefined {
  const names = text?.split(',').map((name) => name.trim());
  const unknown = names?.find((name) => !(KIND_NAMES as readonly string[]).includes(name));
  if (unknown === undefined) return names as Kind[] | undefined;
  throw new Problem('invalid_parameter', {
    field: 'entities',
    message: `must be a comma-separated list of ${KIND_NAMES.join(', ')}`,
  });
}
