import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { createOperatorToken, listOperatorTokens, OPERATOR_TOKEN, revokeOperatorToken } from '../../operator/token.ts';
import { closed } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { optionalInstant } from '../schemas/period.ts';
import { sendShortList } from '../schemas/reply.ts';
import { errors, jsonAnswer, listAnswer, ShortListQuery, uuidPath } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { SYSTEM } from './listener.ts';

const TokenBody = Type.Object(OPERATOR_TOKEN.given(), {
  ...closed,
  title: 'OperatorTokenInput',
  examples: [{ name: 'core feed', role: 'core' }],
});
const TOKEN_EXAMPLE = {
  id: '0f8fad5b-d9cb-469f-a165-70867728950e',
  name: 'core feed',
  role: 'core',
  scopes: ['read', 'feed', 'changes'],
  created_at: '2026-07-01T09:15:00.000Z',
  expires_at: null,
};
const OperatorToken = Type.Object(OPERATOR_TOKEN.shown, { title: 'OperatorToken', examples: [TOKEN_EXAMPLE] });
const CreatedOperatorToken = Type.Object(
  { ...OPERATOR_TOKEN.shown, token: Type.String() },
  {
    title: 'CreatedOperatorToken',
    examples: [{ ...TOKEN_EXAMPLE, token: 'nPq3kV1x7o2h0T0mO6Rk1c2s3q4w5e6r7t8y9u0i1o2' }],
  },
);

const CREATE = operation('POST /operator-tokens', {
  config: SYSTEM,
  schema: {
    operationId: 'createOperatorToken',
    tags: ['operator tokens'],
    summary: 'Create an operator token',
    body: TokenBody,
    response: {
      201: jsonAnswer('The token with its text, which is shown once', CreatedOperatorToken),
      ...errors(400, 403, 409, 502, 'already_exists'),
    },
  },
});

const LIST = operation('GET /operator-tokens', {
  config: SYSTEM,
  schema: {
    operationId: 'listOperatorTokens',
    tags: ['operator tokens'],
    summary: 'List the tokens in force',
    querystring: ShortListQuery,
    response: { 200: listAnswer('The tokens', OperatorToken), ...errors(400, 502) },
  },
});

const DELETE = operation('DELETE /operator-tokens/{id}', {
  config: SYSTEM,
  schema: {
    operationId: 'revokeOperatorToken',
    tags: ['operator tokens'],
    summary: 'Revoke a token',
    params: uuidPath('id', 'Token'),
    response: { 204: Type.Null({ description: 'It is revoked' }), ...errors(404, 502, 'operator_token_not_found') },
  },
});

export type TokenOperations = typeof CREATE | typeof LIST | typeof DELETE;

/** The operator's own tokens (docs/operator-interface.md, Tokens). */
export function operatorTokenRoutes(app: FastifyInstance, context: Context): void {
  const { pool } = context;
  serve(
    app,
    CREATE,
    change(context, 201, async (tx, act, { body: { name, role, scopes, expires_at: expires }, operator }) => {
      const expiresAt = optionalInstant(expires, 'expires_at', 'invalid_body');
      return createOperatorToken(tx, act, { name, role, scopes, expiresAt }, operator);
    }),
  );
  serve(app, LIST, async ({ now, query }, reply) => sendShortList(reply, await listOperatorTokens(pool, now), query));
  serve(
    app,
    DELETE,
    change(context, 204, async (tx, act, request) => revokeOperatorToken(tx, act, request.params.id)),
  );
}
