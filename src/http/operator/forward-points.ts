import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { FORWARD_POINTS, readForwardPoints, setForwardPoints } from '../../exchange/forward-points.ts';
import { operation, serve } from '../schemas/operation.ts';
import { orderBody } from '../schemas/order-body.ts';
import { sendShortList } from '../schemas/reply.ts';
import { errors, jsonAnswer, listAnswer, orderErrors, ShortListQuery } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { FEED, READ } from './listener.ts';

const PointsBody = orderBody(FORWARD_POINTS.given(), {
  title: 'ForwardPointsInput',
  examples: [FORWARD_POINTS.example],
});
const ForwardPoints = Type.Object(FORWARD_POINTS.shown, { title: 'ForwardPoints', examples: [FORWARD_POINTS.example] });

const SET = operation('PUT /forward-points', {
  config: FEED,
  schema: {
    operationId: 'setForwardPoints',
    tags: ['quotes'],
    summary: 'Replace the forward points of a pair',
    body: PointsBody,
    response: { 200: jsonAnswer('The points', ForwardPoints), ...orderErrors(400, 502) },
  },
});

const LIST = operation('GET /forward-points', {
  config: READ,
  schema: {
    operationId: 'listForwardPoints',
    tags: ['quotes'],
    summary: 'List the forward points of all pairs',
    querystring: ShortListQuery,
    response: { 200: listAnswer('The points', ForwardPoints), ...errors(400, 502) },
  },
});

export type ForwardPointsOperations = typeof SET | typeof LIST;

/** The points that forwards add to the rates of their pairs (docs/operator-interface.md). */
export function operatorForwardPointRoutes(app: FastifyInstance, context: Context): void {
  serve(
    app,
    SET,
    change(context, 200, (tx, act, { body }) => setForwardPoints(tx, act, body)),
  );
  serve(app, LIST, async ({ query }, reply) => sendShortList(reply, await readForwardPoints(context.pool), query));
}
