import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { parseInstant } from '../../calendar.ts';
import type { Context } from '../../context.ts';
import { Problem } from '../../errors.ts';
import { createOperatorToken, listOperatorTokens, OPERATOR_ROLES, revokeOperatorToken } from '../../operator/token.ts';
import { closed, errors, Instant, idPath, Text } from '../schemas.ts';
import { change } from './listener.ts';

const TokenBody = Type.Object(
  {
    name: Text('Name', 64),
    role: Type.Enum([...OPERATOR_ROLES]),
    expires_at: Type.Optional(Instant('When it stops working')),
  },
  { ...closed, examples: [{ name: 'core feed', role: 'core' }] },
);

/** The operator's own tokens (docs/operator-interface.md, Tokens). */
export function operatorTokenRoutes(app: FastifyInstance, context: Context): void {
  const { pool } = context;
  app.post<{ Body: Static<typeof TokenBody> }>(
    '/operator-tokens',
    {
      schema: {
        tags: ['operator tokens'],
        summary: 'Make an operator token',
        body: TokenBody,
        response: errors(400, 502),
      },
    },
    (request, reply) => {
      const expiresAt = request.body.expires_at === undefined ? undefined : parseInstant(request.body.expires_at);
      if (request.body.expires_at !== undefined && !expiresAt)
        throw new Problem('invalid_body', 'body.expires_at: must be an ISO 8601 timestamp with an offset');
      return change(request, reply, context, 201, (tx, act) =>
        createOperatorToken(tx, act, { name: request.body.name, role: request.body.role, expiresAt }),
      );
    },
  );
  app.get(
    '/operator-tokens',
    { schema: { tags: ['operator tokens'], summary: 'List the tokens in force', response: errors(502) } },
    (request) => listOperatorTokens(pool, request.now),
  );
  app.delete<{ Params: { id: string } }>(
    '/operator-tokens/:id',
    {
      schema: {
        tags: ['operator tokens'],
        summary: 'Revoke a token',
        params: idPath('id'),
        response: errors(404, 502),
      },
    },
    (request, reply) =>
      change(request, reply, context, 204, async (tx, act) => revokeOperatorToken(tx, act, request.params.id)),
  );
}
