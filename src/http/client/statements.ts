import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import {
  DELIVERY_METHODS,
  type DeliveryMethod,
  requestStatement,
  STATEMENT_FORMATS,
} from '../../statements/request.ts';
import { ClientQuery, Day, errors, jsonAnswer } from '../schemas.ts';
import { contactChange } from './change.ts';

/** Characters of the list of currencies: several times the list of all currencies. */
const MAX_CURRENCIES_LENGTH = 2_000;

const StatementBody = Type.Object(
  {
    date_from: Day('First day, a London day'),
    date_to: Day('Last day, included'),
    format: Type.Optional(
      Type.Enum(STATEMENT_FORMATS, {
        default: 'pdf',
        description: 'pdf: one file with a section for each currency; csv and camt.053: a file for each currency',
      }),
    ),
    currencies: Type.Optional(
      Type.String({
        pattern: '^([A-Z]{3},?)+$',
        maxLength: MAX_CURRENCIES_LENGTH,
        description: 'ISO 4217 codes, comma-separated; default: every currency account',
      }),
    ),
    delivery: Type.Optional(
      Type.Enum(DELIVERY_METHODS, { description: 'How it is delivered; default: email', examples: ['email'] }),
    ),
    delivery_method: Type.Optional(Type.Enum(DELIVERY_METHODS, { description: 'Another name of delivery' })),
  },
  { examples: [{ date_from: '2026-07-01', date_to: '2026-07-31', format: 'pdf', currencies: 'EUR,GBP' }] },
);

const ACCEPTED: Record<DeliveryMethod, string> = {
  email: 'The request was accepted. An email with the statement will follow.',
  push: 'The request was accepted. The statement will be pushed to the configured address.',
  both: 'The request was accepted. An email with the statement will follow, and the statement will be pushed to the configured address.',
};

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
      202: jsonAnswer('Accepted', Type.String({ examples: [ACCEPTED.email] })),
      ...errors(400, 404, 502, 'statement_period_too_long', 'statement_push_not_configured'),
    },
  },
};

/** POST /statements/accounts (the service interface; docs/decisions.md, 5). */
export function statementRoutes(app: FastifyInstance, context: Context): void {
  app.post<{ Body: Static<typeof StatementBody> }>('/statements/accounts', REQUEST, async (request, reply) => {
    const { delivery } = await contactChange(context, request, (tx, act) =>
      requestStatement(tx, act, request.caller, request.body, {
        maxDays: context.config.statementMaxDays,
      }),
    );
    return reply.code(202).type('application/json; charset=utf-8').send(JSON.stringify(ACCEPTED[delivery]));
  });
}
