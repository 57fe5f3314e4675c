import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { readProgress, STATEMENT_PROGRESS } from '../../statements/progress.ts';
import { type DeliveryMethod, requestStatement, STATEMENT_REQUEST } from '../../statements/request.ts';
import { UuidOfRecord } from '../../values/schemas.ts';
import { locationHeader } from '../schemas/reply.ts';
import { ClientQuery, errors, jsonAnswer } from '../schemas/schemas.ts';
import { clientAddress } from './caller.ts';
import { answerChange } from './change.ts';

const StatementBody = Type.Object(STATEMENT_REQUEST.properties, {
  title: 'StatementInput',
  examples: [{ date_from: '2026-07-01', date_to: '2026-07-31', format: 'pdf', currencies: 'EUR,GBP' }],
});

const ACCEPTED: Record<DeliveryMethod, string> = {
  email: 'The request was accepted. An email with the statement will follow.',
  push: 'The request was accepted. The statement will be pushed to the configured address.',
  both: 'The request was accepted. An email with the statement will follow, and the statement will be pushed to the configured address.',
};

const EXAMPLE_ID = '1f2e3d4c-5b6a-4789-8abc-def012345678';
const LOCATION = locationHeader(
  'Where the request can be followed',
  `https://api.example.com/statements/requests/${EXAMPLE_ID}?client_id=CLI000001`,
);

const REQUEST = {
  schema: {
    operationId: 'requestStatement',
    tags: ['statements'],
    summary: 'Request a statement of the currency accounts',
    description:
      'The service produces the statement in the background from what is booked now, and sends it to the requesting contact. ' +
      'It has the opening balance, every booked transaction with the balance after it, and the closing balance.',
    querystring: ClientQuery,
    body: StatementBody,
    response: {
      202: jsonAnswer('Accepted', Type.String({ examples: [ACCEPTED.email] }), LOCATION),
      ...errors(400, 404, 502, 'statement_period_too_long', 'statement_push_not_configured'),
    },
  },
};

const Progress = Type.Object(STATEMENT_PROGRESS.properties, { title: 'StatementRequest' });

const FOLLOW = {
  schema: {
    operationId: 'getStatementRequest',
    tags: ['statements'],
    summary: 'Follow a statement request',
    description: 'The state of a request for a statement. The header Location of its answer has this address.',
    params: Type.Object({ id: UuidOfRecord('Identifier of the request', { examples: [EXAMPLE_ID] }) }),
    querystring: ClientQuery,
    response: {
      200: jsonAnswer('The request and its state', Progress),
      ...errors(400, 403, 404, 502, 'statement_not_found'),
    },
  },
};

/** POST /statements/accounts, GET /statements/requests/{id} (service interface; docs/decisions.md, 5). */
export function statementRoutes(app: FastifyInstance, context: Context): void {
  app.post<{ Body: Static<typeof StatementBody> }>('/statements/accounts', REQUEST, async (request, reply) => {
    const maxDays = context.config.statementMaxDays;
    return answerChange(context, request, reply, async (tx, act) => {
      const { statementId, delivery } = await requestStatement(tx, act, request.caller, request.body, { maxDays });
      const location = clientAddress(context, request, `/statements/requests/${statementId}`);
      return { status: 202, body: JSON.stringify(ACCEPTED[delivery]), headers: { location } };
    });
  });
  app.get<{ Params: { id: string } }>('/statements/requests/:id', FOLLOW, (request) =>
    readProgress(context.pool, request.caller.clientId, request.params.id),
  );
}
