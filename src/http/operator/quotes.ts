import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { findQuote, listQuotes } from '../../exchange/quote.ts';
import { QUOTE, QUOTE_STATUSES } from '../../exchange/quote-declaration.ts';
import { operation, serve } from '../schemas/operation.ts';
import { sendList, sendValue } from '../schemas/reply.ts';
import { ClientPageQuery, errors, idPath, jsonAnswer, listAnswer, listRequest } from '../schemas/schemas.ts';
import { READ } from './listener.ts';

const QuoteRecord = Type.Object(QUOTE.shown, { title: 'QuoteRecord', examples: [QUOTE.example] });

const LIST = operation('GET /quotes', {
  config: READ,
  schema: {
    operationId: 'listQuotes',
    tags: ['quotes'],
    summary: 'List quotes, the newest first',
    querystring: Type.Object({
      ...ClientPageQuery.properties,
      status: Type.Optional(Type.Enum([...QUOTE_STATUSES], { description: 'Only quotes that are so now' })),
    }),
    response: { 200: listAnswer('A page of quotes', QuoteRecord), ...errors(400, 502) },
  },
});

const READ_ONE = operation('GET /quotes/{quote_id}', {
  config: READ,
  schema: {
    operationId: 'getQuote',
    tags: ['quotes'],
    summary: 'Read a quote, and how its rate was made',
    params: idPath('quote_id'),
    response: { 200: jsonAnswer('The quote', QuoteRecord), ...errors(404, 502, 'quote_not_found') },
  },
});

export type QuoteOperations = typeof LIST | typeof READ_ONE;

/** The quotes of clients, with their prices before the spread (docs/operator-interface.md). */
export function operatorQuoteRoutes(app: FastifyInstance, { pool }: Context): void {
  serve(app, LIST, async ({ query, now }, reply) =>
    sendList(reply, await listQuotes(pool, { ...listRequest(query), status: query.status, now })),
  );
  serve(app, READ_ONE, async ({ params, now }, reply) => sendValue(reply, await findQuote(pool, params.quote_id, now)));
}
