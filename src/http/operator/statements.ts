import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { parseInstant } from '../../calendar.ts';
import type { Context } from '../../context.ts';
import { Problem } from '../../errors.ts';
import { listStatements, STATEMENT_STATES } from '../../statements/history.ts';
import { errors, Instant, Paging } from '../schemas.ts';
import { READ } from './listener.ts';

const StatementList = Type.Object({
  client_id: Type.Optional(Type.String({ description: 'Only of this client' })),
  status: Type.Optional(Type.Enum(STATEMENT_STATES, { description: 'Only requests that stand there' })),
  from: Type.Optional(Instant('Asked for from this moment on')),
  to: Type.Optional(Instant('Asked for before this moment')),
  ...Paging,
});

/** GET /statements: requests and where they stand (docs/operator-interface.md). */
export function operatorStatementRoutes(app: FastifyInstance, context: Context): void {
  app.get<{ Querystring: Static<typeof StatementList> & { page: number; page_size: number } }>(
    '/statements',
    {
      config: READ,
      schema: {
        tags: ['statements'],
        summary: 'List statement requests with their deliveries, the newest first',
        querystring: StatementList,
        response: errors(400, 502),
      },
    },
    async ({ query }, reply) => {
      const filter = {
        clientId: query.client_id,
        status: query.status,
        from: instant(query.from, 'query.from'),
        to: instant(query.to, 'query.to'),
      };
      const page = { limit: query.page_size, offset: (query.page - 1) * query.page_size };
      const { total, statements } = await listStatements(context.pool, filter, page);
      return reply.header('x-total-count', total).send(statements);
    },
  );
}

function instant(text: string | undefined, field: string): Date | undefined {
  if (text === undefined) return undefined;
  const found = parseInstant(text);
  if (!found)
    throw new Problem(
      'invalid_parameter',
      `${field}: must be an ISO 8601 moment with an offset, as 2026-07-01T10:15:00Z`,
    );
  return found;
}
