import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { findStatement, listStatements, STATEMENT, STATEMENT_STATES } from '../../statements/history.ts';
import { sendStatementAgain } from '../../statements/sending-again.ts';
import { operation, serve } from '../schemas/operation.ts';
import { periodOf, periodQuery } from '../schemas/period.ts';
import { sendList } from '../schemas/reply.ts';
import { errors, jsonAnswer, listAnswer, Paging, rowsOf, uuidPath } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { READ, REDELIVER } from './listener.ts';

const StatementList = Type.Object({
  client_id: Type.Optional(Type.String({ description: 'Only of this client' })),
  status: Type.Optional(Type.Enum(STATEMENT_STATES, { description: 'Only requests with this status' })),
  ...periodQuery('Requested'),
  ...Paging,
});
const Statement = Type.Object(STATEMENT.properties, {
  title: 'Statement',
  examples: [
    {
      id: '0f8fad5b-d9cb-469f-a165-70867728950e',
      state: 'sent',
      requested_at: '2026-07-01T09:15:00.000Z',
      ended_at: '2026-07-01T09:15:03.000Z',
      statement_id: '0f8fad5b-d9cb-469f-a165-70867728950e',
      client_id: 'CLI000001',
      contact_id: 'CON000001',
      date_from: '2026-06-01',
      date_to: '2026-06-30',
      format: 'pdf',
      delivery: 'email',
      currencies: ['EUR', 'GBP'],
      status: 'sent',
      created_at: '2026-07-01T09:15:00.000Z',
      request_id: '6f1d0a52-5d1c-4b8e-9a3e-0f6f6d3b2c11',
      deliveries: [
        {
          channel: 'email',
          currency: null,
          status: 'sent',
          attempts: 1,
          last_error: null,
          next_attempt_at: null,
          finished_at: '2026-07-01T09:15:03.000Z',
        },
      ],
    },
  ],
});

const LIST = operation('GET /statements', {
  config: READ,
  schema: {
    operationId: 'listStatements',
    tags: ['statements'],
    summary: 'List statement requests with their deliveries, the newest first',
    querystring: StatementList,
    response: { 200: listAnswer('A page of requests, the newest first', Statement), ...errors(400, 502) },
  },
});

const READ_ONE = operation('GET /statements/{id}', {
  config: READ,
  schema: {
    tags: ['statements'],
    operationId: 'getStatement',
    summary: 'Read a statement request with its deliveries',
    params: uuidPath('id', 'Request for a statement'),
    response: {
      200: jsonAnswer('The request', Statement),
      ...errors(403, 404, 502, 'statement_not_found'),
    },
  },
});

const SEND_AGAIN = operation('POST /statements/{id}/send', {
  config: REDELIVER,
  schema: {
    operationId: 'sendStatementAgain',
    tags: ['statements'],
    summary: 'Send a statement again',
    description:
      'The same statement, to the address that the contact has now. The mail has a Message-ID of its own. Deliveries that wait for ' +
      'another attempt are made at once.',
    params: uuidPath('id', 'Request for a statement'),
    response: {
      202: jsonAnswer(
        'How many deliveries are made',
        Type.Object({ count: Type.Integer() }, { title: 'DeliveryCount', examples: [{ count: 1 }] }),
      ),
      ...errors(403, 404, 409, 502, 'statement_not_found', 'transition_not_allowed'),
    },
  },
});

export type StatementOperations = typeof LIST | typeof READ_ONE | typeof SEND_AGAIN;

/** Statement requests and the status of their deliveries (docs/operator-interface.md). */
export function operatorStatementRoutes(app: FastifyInstance, context: Context): void {
  serve(app, LIST, async ({ query }, reply) => {
    const filter = {
      clientId: query.client_id,
      status: query.status,
      ...periodOf(query),
    };
    return sendList(reply, await listStatements(context.pool, filter, rowsOf(query)));
  });
  serve(app, READ_ONE, (request) => findStatement(context.pool, request.params.id));
  serve(
    app,
    SEND_AGAIN,
    change(context, 202, (tx, act, request) => sendStatementAgain(tx, act, request.params.id)),
  );
}
