import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLFormattedError } from 'graphql';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import type { Sessions } from '../../identity/tokens/sessions.ts';
import { Problem } from '../../values/errors.ts';
import { ClientId, Nullable } from '../../values/schemas.ts';
import { findUnstorable, NOT_STORABLE } from '../../values/text.ts';
import { fieldsOf } from '../../values/unknown.ts';
import type { GraphqlQuery } from '../graphql/endpoint.ts';
import { EventStreams } from '../graphql/event-stream.ts';
import type { LateEndpoint } from '../graphql/late-endpoint.ts';
import { LIMITS } from '../graphql/limits.ts';
import { LiveUpdates } from '../graphql/live-updates.ts';
import { readAs } from '../graphql/read-only.ts';
import type { GraphqlCaller } from '../graphql/request.ts';
import { withoutSentValues } from '../graphql/sent-values.ts';
import { errorMessage, toProblem } from '../schemas/problem.ts';
import { sendJson } from '../schemas/reply.ts';
import { ErrorMessage, errors } from '../schemas/schemas.ts';
import { contactAct } from './caller.ts';
import { contactChange } from './change.ts';
import { explorerRoutes } from './explorer.ts';
import type { ClientRoutes } from './listener.ts';
import { streamUrl } from './stream.ts';

const PATH = '/webhooks/graphql';
const STREAM_PATH = `${PATH}/stream`;
const SCHEMA_PATH = `${PATH}/schema.graphql`;

const GraphqlError = Type.Object({
  message: Type.String({ description: 'For developers' }),
  locations: Type.Optional(Type.Array(Type.Object({ line: Type.Integer(), column: Type.Integer() }))),
  path: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Integer()]))),
});
const Errors = Type.Object({ errors: Type.Array(GraphqlError) }, { title: 'GraphqlErrors' });
/** The parameter or the header names the client. The listener has checked that one of them is present. */
const Client = Type.Object({ client_id: Type.Optional(ClientId) });
const ClientHeader = Type.Object({
  'x-client-id': Type.Optional(Type.String({ description: 'Instead of the parameter client_id' })),
});

const DESCRIPTION = {
  operationId: 'queryWebhooks',
  tags: ['webhooks'],
  summary: 'Manages webhook subscriptions over GraphQL',
  description:
    'Queries `subscriptions` and `webhookTypes`; mutations `createSubscription`, `updateSubscription`, `deleteSubscription`. ' +
    'Introspection describes the schema; the page at / is an explorer.',
  querystring: Client,
  headers: ClientHeader,
  body: Type.Object(
    {
      query: Type.String({ minLength: 1, description: 'A GraphQL document' }),
      variables: Type.Optional(
        Type.Union([Type.Object({}, { additionalProperties: true }), Type.String(), Type.Null()], {
          description: 'An object, or a text that holds one',
        }),
      ),
      operationName: Type.Optional(
        Nullable(
          Type.String({ minLength: 1, description: 'The operation to execute, where the document has several' }),
        ),
      ),
    },
    {
      title: 'GraphqlRequest',
      examples: [
        {
          query: '{ subscriptions(first: 10, orderBy: CREATED_AT_DESC) { totalCount nodes { id url active types } } }',
        },
      ],
    },
  ),
  response: {
    200: {
      description: 'The operation was executed; `errors` is present only if a part of it failed',
      headers: {
        'x-graphql-event-stream': { type: 'string', description: 'Path of the stream of the client’s changes' },
      },
      content: {
        'application/json': {
          schema: Type.Object(
            { data: Type.Unsafe({}), errors: Type.Optional(Errors.properties.errors) },
            { title: 'GraphqlAnswer', examples: [{ data: { subscriptions: { totalCount: 1 } } }] },
          ),
        },
      },
    },
    ...errors(400, 404, 415, 502, 'permission_denied'),
    400: {
      description: 'The document does not parse or validate, or is over a limit; or the client is not named',
      content: { 'application/json': { schema: Type.Union([Errors, ErrorMessage]) } },
    },
  },
};

const STREAM_DESCRIPTION = {
  operationId: 'followWebhookChanges',
  tags: ['webhooks'],
  summary: 'Follows the changes of subscriptions and notifications',
  description:
    'Server-sent events `ready`, `subscription`, `notification`, `resync` (some were missed: read again) and `end`.',
  querystring: Client,
  headers: ClientHeader,
  response: {
    200: { description: 'A stream of events', content: { 'text/event-stream': { schema: Type.String() } } },
    ...errors(400, 403, 404, 502),
  },
};

/**
 * Subscriptions of the client over GraphQL, the event stream that its answers name, and the explorer at the root (service interface, POST
 * /webhooks/graphql).
 * @param endpoint shared by the client listener and the trusted one
 */
export function graphqlRoutes(sessions: Sessions, endpoint: LateEndpoint): ClientRoutes {
  return (app, context) => {
    const streams = new EventStreams(new LiveUpdates(context.backgroundPool, context.hearing, context.log));
    app.addHook('preClose', () => streams.stop());
    readSmallJson(app);

    app.post(
      PATH,
      { config: { clientHeader: true, unkeyed: true }, schema: DESCRIPTION, validatorCompiler: unchecked },
      async (request, reply) => {
        reply.header(
          'x-graphql-event-stream',
          `${STREAM_PATH}?client_id=${encodeURIComponent(request.caller.clientId)}`,
        );
        const query = readQuery(request.body);
        if (query instanceof Refused) return refuse(reply, [{ message: query.message }]);
        const loaded = await endpoint.get();
        const { errors, ...result } = await loaded.answer(query, requestOf(request, context), toProblem);
        if (!('data' in result)) return refuse(reply, errors ?? [], query);
        const denied = errors?.find((error) => error.extensions?.code === 'permission_denied');
        // The only texts at the root are names of its type (`__typename`).
        const empty = (value: unknown) => value === null || typeof value === 'string';
        if (denied && Object.values(result.data ?? {}).every(empty)) {
          // Nothing was changed. The answer is both the API's 403 and GraphQL's list of errors (docs/decisions.md, 1).
          const problem = new Problem('permission_denied', denied.message);
          request.refusal = { code: problem.code, details: problem.details };
          return sendJson(
            (reply as FastifyReply).code(403),
            JSON.stringify({ errors, data: result.data, ...errorMessage(problem) }),
          );
        }
        return reply
          .type('application/json; charset=utf-8')
          .send(JSON.stringify(errors ? { errors, data: result.data } : { data: result.data }));
      },
    );

    app.get(SCHEMA_PATH, { config: { open: true }, schema: { hide: true } }, async (_request, reply) =>
      reply.type('text/plain; charset=utf-8').send((await endpoint.get()).text),
    );

    app.get(
      STREAM_PATH,
      { config: { clientHeader: true }, schema: STREAM_DESCRIPTION, exposeHeadRoute: false },
      async (request, reply) => {
        const { clientId, contactId } = request.caller;
        const token = (request.headers.authorization ?? '').slice('Bearer '.length).trim();
        const check = async () => {
          const session = await sessions.find(token);
          if (!session.clients.get(clientId)?.enabled)
            throw new Problem('client_disabled', 'the client is disabled, or no longer a client of the contact');
        };
        const headers = Object.fromEntries(
          Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]),
        );
        await streams.serve({ clientId, contactId }, reply.raw, { headers, check });
        reply.hijack();
      },
    );

    explorerRoutes(app);
  };
}

/** The schema only describes the body. The handler checks it, and answers in GraphQL's form. */
const unchecked = () => () => true;

/** Bodies of this endpoint are small, and their numbers are JavaScript numbers. Elsewhere in the API numbers keep their digits. */
function readSmallJson(app: FastifyInstance): void {
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer', bodyLimit: LIMITS.BODY_BYTES },
    (_request, body, done) => {
      try {
        done(null, JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)));
      } catch {
        // `undefined` is not a JSON value. The handler recognises it, and answers in GraphQL's form.
        done(null, undefined);
      }
    },
  );
  app.setErrorHandler((error: FastifyError) => {
    if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
      throw new Problem('payload_too_large', `body: must be at most ${LIMITS.BODY_BYTES} bytes (BODY_BYTES)`, {
        cause: error,
      });
    }
    throw error;
  });
}

/** A body that is not a query. GraphQL itself reports refusals in the same form, but a process without queries does not load it. */
class Refused extends Error {}

function readQuery(body: unknown): GraphqlQuery | Refused {
  if (body === undefined) return new Refused('body: must be JSON in UTF-8');
  if (Array.isArray(body))
    return new Refused('body: must be one operation; a list of operations (batching) is not supported');
  if (typeof body !== 'object' || body === null)
    return new Refused('body: must be a JSON object with the member query');
  const { query, operationName = null, ...rest } = fieldsOf(body);
  const variables = readVariables(rest.variables);
  if (typeof query !== 'string') return new Refused('query: is required, and must be a string');
  if (!variables) return new Refused('variables: must be a JSON object, or a text that holds one');
  if (operationName !== null && typeof operationName !== 'string')
    return new Refused('operationName: must be a string');
  const unstorable = findUnstorable({ query, variables, operationName }, '')?.slice(1);
  if (unstorable !== undefined) return new Refused(`${unstorable || 'body'}: ${NOT_STORABLE}`);
  return { query, variables, operationName: operationName ?? undefined };
}

/** Reads the variables, which generated clients send as a text. @returns undefined unless they are an object */
function readVariables(given: unknown): GraphqlQuery['variables'] | undefined {
  let variables = given ?? {};
  try {
    if (typeof variables === 'string') variables = JSON.parse(variables);
  } catch {
    return undefined;
  }
  const isObject = typeof variables === 'object' && variables !== null && !Array.isArray(variables);
  return isObject ? fieldsOf(variables) : undefined;
}

function requestOf(request: FastifyRequest, context: Context): GraphqlCaller {
  const { clientId, contactId, permissions } = request.caller;
  return {
    clientId,
    contactId,
    mayManage: permissions.can_manage_webhooks,
    act: contactAct(request),
    withPgClient: readAs(context.pool, clientId),
    pool: context.pool,
    change: (work) => contactChange(context, request, work, 'can_manage_webhooks'),
    settings: {
      sandbox: context.config.environment === 'sandbox',
      brand: context.config.brand,
      vault: context.vault,
      streamUrl: streamUrl(context.addresses),
    },
  };
}

function refuse(
  reply: FastifyReply,
  errors: readonly GraphQLFormattedError[],
  query: GraphqlQuery = { query: '', variables: {}, operationName: undefined },
): FastifyReply {
  const details = errors.map(({ message }) => withoutSentValues(message, query)).join('; ');
  reply.request.refusal = { code: 'invalid_body', details };
  return reply.code(400).type('application/json; charset=utf-8').send(JSON.stringify({ errors }));
}
