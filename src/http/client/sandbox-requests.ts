import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { listRequests } from '../../sandbox/requests/request-log.ts';
import { ClientId, Nullable, PATTERNS } from '../../values/schemas.ts';
import { sendList } from '../schemas/reply.ts';
import { errors, jsonAnswer, Paging, TOTAL_COUNT } from '../schemas/schemas.ts';

const Query = Type.Object({
  client_id: ClientId,
  ...Paging,
  status: Type.Optional(
    Type.String({
      pattern: PATTERNS.status,
      description: 'A status, as 404, or a class of them, as 4xx',
      examples: ['4xx'],
    }),
  ),
});
const text = (description: string) => Nullable(Type.String({ description }));
const LoggedRequest = Type.Object(
  {
    at: Type.String({ description: 'When it arrived' }),
    method: Type.String(),
    path: Type.String({ description: 'With its query' }),
    status: Type.Integer(),
    code: text('Of a refusal: the code of its error'),
    details: text('Of a refusal: what was wrong'),
    ms: Type.Number({ description: 'Milliseconds until the answer' }),
    request_id: Type.String({ description: 'The header x-request-id of the answer' }),
    application: Type.String({ description: 'The application that the token was issued to' }),
    request_body: text('The first 4 KiB, secrets masked'),
    response_body: text('The first 4 KiB, secrets masked'),
    ignored_parameters: Type.Array(Type.String(), {
      description: 'Query parameters that the operation does not know, as in the header x-ignored-parameters',
    }),
  },
  {
    title: 'LoggedRequest',
    examples: [
      {
        at: '2026-07-01T09:15:00.000Z',
        method: 'GET',
        path: '/payments?client_id=CLI000001&page_size=5000',
        status: 400,
        code: 'invalid_parameter',
        details: 'query.page_size: must be at most 1000',
        ms: 1.8,
        request_id: '6f1d0a52-5d1c-4b8e-9a3e-0f6f6d3b2c11',
        application: 'demo-app',
        request_body: null,
        response_body: null,
        ignored_parameters: [],
      },
    ],
  },
);

const LIST = {
  schema: {
    operationId: 'listSandboxRequests',
    tags: ['sandbox'],
    summary: 'Read your requests',
    description:
      "The client's last 1,000 requests to the client API, the newest first, without secrets. Exists in the sandbox only.",
    querystring: Query,
    response: {
      200: jsonAnswer('A page of requests', Type.Array(LoggedRequest), TOTAL_COUNT),
      ...errors(400, 403, 404, 502),
    },
  },
};

/** GET /sandbox/requests (docs/sandbox.md). */
export function sandboxRequestRoutes(app: FastifyInstance, context: Context): void {
  app.get<{ Querystring: Static<typeof Query> & { page: number; page_size: number } }>(
    '/sandbox/requests',
    LIST,
    async (request, reply) => {
      const { page, page_size: pageSize, status } = request.query;
      await app.requestLog?.write();
      return sendList(reply, await listRequests(context.pool, request.caller.clientId, { page, pageSize, status }));
    },
  );
}
