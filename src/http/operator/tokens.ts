import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { createOperatorToken, listOperatorTokens, OPERATOR_ROLES, revokeOperatorToken } from '../../operator/token.ts';
import { optionalInstant } from '../instant.ts';
import { closed, errors, Instant, idPath, Text } from '../schemas.ts';
import { change } from './change.ts';

const TokenBody = Type.Object(
  {
    name: Text('Name', 64),
    role: Type.Enum([...OPERATOR_ROLES]),
    expires_at: Type.Optional(Instant('When it stops working')),
  },
  { ...closed, examples: [{ name: 'core feed', role: 'core' }] },
);

const CREATE = {
  schema: {
    tags: ['operator tokens'],
    summary: 'Create an operator token',
    body: TokenBody,
    response: errors(400, 502),
  },
};

const LIST = { schema: { tags: ['operator tokens'], summary: 'List the tokens in force', response: errors(502) } };

const DELETE = {
  schema: {
    tags: ['operator tokens'],
    summary: 'Revoke a token',
    params: idPath('id'),
    response: errors(404, 502),
  },
};

/** The operator's own tokens (docs/operator-interface.md, Tokens). */
export function operatorTokenRoutes(app: FastifyInstance, context: Context): void {
  const { pool } = context;
  app.post<{ Body: Static<typeof TokenBody> }>(
    '/operator-tokens',
    CREATE,
    change(context, 201, async (tx, act, { body: { name, role, expires_at: expires } }) =>
      createOperatorToken(tx, act, { name, role, expiresAt: optionalInstant(expires, 'expires_at', 'invalid_body') }),
    ),
  );
  app.get('/operator-tokens', LIST, (request) => listOperatorTokens(pool, request.now));
  app.delete<{ Params: { id: string } }>(
    '/operator-tokens/:id',
    DELETE,
    change(context, 204, async (tx, act, request) => revokeOperatorToken(tx, act, request.params.id)),
  );
}
