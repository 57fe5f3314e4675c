import type { FastifyInstance, FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { listRefusedRequests, type RefusedRequest } from '../../monitoring/refused-requests.ts';
import { Nullable, PATTERNS } from '../../values/schemas.ts';
import { operation, type RequestOf, serve } from '../schemas/operation.ts';
import { periodOf, periodQuery } from '../schemas/period.ts';
import { sendList } from '../schemas/reply.ts';
import { errors, jsonAnswer, listRequest, Paging, TOTAL_COUNT } from '../schemas/schemas.ts';
import { READ } from './listener.ts';

const Query = Type.Object({
  request_id: Type.Optional(Type.String({ minLength: 1, description: 'The header x-request-id of the answer' })),
  client_id: Type.Optional(Type.String({ minLength: 1, description: 'Only of this client' })),
  contact_id: Type.Optional(Type.String({ minLength: 1, description: 'Only of this contact' })),
  status: Type.Optional(
    Type.String({
      pattern: PATTERNS.refusedStatus,
      description: 'A status, as 404, or a class of them, as 4xx',
      examples: ['4xx'],
    }),
  ),
  ...periodQuery('Answered'),
  ...Paging,
});
const text = (description: string) => Nullable(Type.String({ description }));
const Refused = Type.Object(
  {
    at: Type.String({ description: 'When it was answered' }),
    listener: Type.String({ description: 'api, auth, trusted or operator' }),
    method: text('Null where the request could not be read'),
    route: text('The address with its parameters by name; null where nothing is served'),
    status: Type.Integer(),
    code: text('The code of the error'),
    details: text('What was wrong'),
    client: text('The client_id that the request was for'),
    client_id: text('The same'),
    contact: text('The contact_id of its token'),
    contact_id: text('The same'),
    application: text('The application of its token; on the operator interface the name of the token'),
    request_id: Type.String({ description: 'The header x-request-id of the answer' }),
    ms: Nullable(Type.Number({ description: 'Milliseconds until the answer' })),
  },
  { title: 'RefusedRequest' },
);

const LIST = operation('GET /requests', {
  config: READ,
  schema: {
    operationId: 'listRefusedRequests',
    tags: ['support'],
    summary: 'List refused requests, the newest first',
    description:
      'Requests of the last 7 days on all listeners that were answered with 4xx or 5xx; no bodies, tokens or secrets. A process keeps at ' +
      'most 1,000 a minute, and counts the rest in lombard_journal_entries_dropped_total.',
    querystring: Query,
    response: { 200: jsonAnswer('A page of requests', Type.Array(Refused), TOTAL_COUNT), ...errors(400, 403, 502) },
  },
});

export type RequestOperations = typeof LIST;

/** GET /requests (docs/operator-interface.md, Find out what happened). */
export function operatorRequestRoutes(app: FastifyInstance, context: Context): void {
  serve(app, LIST, (request, reply) => list(context, request, reply));
}

async function list({ pool, journals }: Context, { query }: RequestOf<typeof LIST>, reply: FastifyReply) {
  await journals.refusedRequests.write();
  const { rows, total } = await listRefusedRequests(pool, {
    ...listRequest(query),
    requestId: query.request_id,
    contactId: query.contact_id,
    status: query.status,
    ...periodOf(query),
  });
  return sendList(reply, { rows: rows.map(shown), total });
}

/** Adds the client and the contact under the names of the filters too. */
function shown(row: RefusedRequest & { at: Date }) {
  return { ...row, client: row.client_id, contact: row.contact_id };
}
