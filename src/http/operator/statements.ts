import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { findStatement, listStatements, STATEMENT_STATES } from '../../statements/history.ts';
import { sendStatementAgain } from '../../statements/sending-again.ts';
import { optionalInstant } from '../instant.ts';
import { sendList } from '../reply.ts';
import { errors, Instant, idPath, jsonAnswer, type Page, Paging, rowsOf } from '../schemas.ts';
import { change } from './change.ts';
import { READ, REDELIVER } from './listener.ts';

const StatementList = Type.Object({
  client_id: Type.Optional(Type.String({ description: 'Only of this client' })),
  status: Type.Optional(Type.Enum(STATEMENT_STATES, { description: 'Only requests with this status' })),
  from: Type.Optional(Instant('Requested from this instant on')),
  to: Type.Optional(Instant('Requested before this instant')),
  ...Paging,
});

const LIST = {
  config: READ,
  schema: {
    operationId: 'listStatements',
    tags: ['statements'],
    summary: 'List statement requests with their deliveries, the newest first',
    querystring: StatementList,
    response: errors(400, 502),
  },
};

const READ_ONE = {
  config: READ,
  schema: {
    tags: ['statements'],
    operationId: 'getStatement',
    summary: 'Read a statement request with its deliveries',
    params: idPath('id'),
    response: {
      200: jsonAnswer('The request', Type.Object({}, { additionalProperties: true })),
      ...errors(403, 404, 502, 'statement_not_found'),
    },
  },
};

const SEND_AGAIN = {
  config: REDELIVER,
  schema: {
    operationId: 'sendStatementAgain',
    tags: ['statements'],
    summary: 'Send a statement again',
    description:
      'The same statement, to the address that the contact has now. The mail has a Message-ID of its own. Deliveries that wait for ' +
      'another attempt are made at once.',
    params: idPath('id'),
    response: {
      202: Type.Object({ count: Type.Integer({ description: 'Deliveries that are made' }) }),
      ...errors(403, 404, 409, 502, 'statement_not_found', 'transition_not_allowed'),
    },
  },
};

/** Statement requests and the status of their deliveries (docs/operator-interface.md). */
export function operatorStatementRoutes(app: FastifyInstance, context: Context): void {
  app.get<{ Querystring: Static<typeof StatementList> & Page }>('/statements', LIST, async ({ query }, reply) => {
    const filter = {
      clientId: query.client_id,
      status: query.status,
      from: optionalInstant(query.from, 'from'),
      to: optionalInstant(query.to, 'to'),
    };
    return sendList(reply, await listStatements(context.pool, filter, rowsOf(query)));
  });
  app.get<{ Params: { id: string } }>('/statements/:id', READ_ONE, (request) =>
    findStatement(context.pool, request.params.id),
  );
  app.post<{ Params: { id: string } }>(
    '/statements/:id/send',
    SEND_AGAIN,
    change(context, 202, (tx, act, request) => sendStatementAgain(tx, act, request.params.id)),
  );
}
