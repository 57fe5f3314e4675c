import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { HOLD, HOLD_STATES, listHolds, releaseHold } from '../../accounts/hold.ts';
import type { Context } from '../../context.ts';
import { Text } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { orderBody } from '../schemas/order-body.ts';
import { sendList } from '../schemas/reply.ts';
import {
  ClientPageQuery,
  errors,
  idPath,
  jsonAnswer,
  listAnswer,
  listRequest,
  orderErrors,
} from '../schemas/schemas.ts';
import { change } from './change.ts';
import { FEED, READ } from './listener.ts';

const Hold = Type.Object(HOLD.shown, { title: 'Hold', examples: [HOLD.example] });
const ReleaseBody = orderBody(
  { reason: Text('Why; the audit trail keeps it') },
  { title: 'HoldRelease', examples: [{ reason: 'The payment was settled outside of the core' }] },
);
const HoldList = Type.Object({
  ...ClientPageQuery.properties,
  currency_account_id: Type.Optional(
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Only of this currency account' }),
  ),
  state: Type.Optional(Type.Enum([...HOLD_STATES], { description: 'Only holds with this state' })),
  overdue: Type.Optional(
    Type.Literal(true, {
      description: 'Only open holds whose payment was sent, or whose trade was closed, more than an hour ago',
    }),
  ),
});

const LIST = operation('GET /holds', {
  config: READ,
  schema: {
    operationId: 'listHolds',
    tags: ['accounts'],
    summary: 'List holds, in the order of their opening',
    querystring: HoldList,
    response: { 200: listAnswer('A page of holds', Hold), ...errors(400, 403, 502) },
  },
});

const RELEASE = operation('POST /holds/{hold_id}/release', {
  config: FEED,
  schema: {
    operationId: 'releaseHold',
    tags: ['accounts'],
    summary: 'Release a hold whose debit does not come',
    description:
      'Only where its payment was sent, or its trade is Closed: no order that may still leave loses its money.',
    params: idPath('hold_id'),
    body: ReleaseBody,
    response: {
      200: jsonAnswer('The hold', Hold),
      ...orderErrors(400, 403, 404, 409, 502, 'hold_not_found', 'transition_not_allowed'),
    },
  },
});

export type HoldOperations = typeof LIST | typeof RELEASE;

/** Money of currency accounts that orders hold (docs/operator-interface.md). */
export function operatorHoldRoutes(app: FastifyInstance, context: Context): void {
  serve(app, LIST, async ({ query, now }, reply) => {
    const { currency_account_id: accountId, state, overdue } = query;
    const overdueAt = overdue ? now : undefined;
    return sendList(reply, await listHolds(context.pool, { ...listRequest(query), accountId, state, overdueAt }));
  });
  serve(
    app,
    RELEASE,
    change(context, 200, (tx, act, { params }) => releaseHold(tx, act, params.hold_id)),
  );
}
