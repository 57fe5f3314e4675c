import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { together } from '../../database/database.ts';
import { type Market, readMarket } from '../../exchange/market.ts';
import { createQuote, findClientQuote, lockOpenQuotes } from '../../exchange/quote.ts';
import {
  CLIENT_QUOTE,
  CLIENT_QUOTE_NOW,
  clientQuote,
  ESTIMATE,
  estimateOf,
  QUOTE,
  quoteStatus,
  storedTerms,
} from '../../exchange/quote-declaration.ts';
import { type QuoteRequest, quoteFaults, quoteTerms } from '../../exchange/quote-terms.ts';
import { attempt, Problem } from '../../values/errors.ts';
import { decimal } from '../../values/money.ts';
import { ClientId, Currency, Day } from '../../values/schemas.ts';
import { fieldsOf } from '../../values/unknown.ts';
import { operation, type RequestOf, serve } from '../schemas/operation.ts';
import { JUDGED, OrderAmount, orderBody, refuseFaults } from '../schemas/order-body.ts';
import { locationHeader, sendValue } from '../schemas/reply.ts';
import { ClientQuery, errors, idPath, jsonAnswer, orderErrors } from '../schemas/schemas.ts';
import { soundFields } from '../schemas/sound-fields.ts';
import { clientAddress } from './caller.ts';
import { answerChange } from './change.ts';

const QuoteOrder = orderBody(
  {
    amount: OrderAmount('Amount of the fixed side'),
    operation: Type.Enum(['buy', 'sell'], { description: 'Which side is fixed' }),
    buy_currency: Currency('Currency that is bought'),
    sell_currency: Currency('Currency that is sold'),
    trade_type: Type.Enum(['spot', 'forward'], { description: 'A forward settles on a later day than a spot' }),
    value_date: Type.Optional(Day('Day on which it settles; default: as early as possible')),
  },
  {
    title: 'QuoteOrder',
    examples: [{ amount: 10_000, operation: 'sell', buy_currency: 'EUR', sell_currency: 'GBP', trade_type: 'spot' }],
  },
);

const {
  client_id: _client,
  status,
  trade_id,
  mid: _mid,
  spread_bps: _spread,
  rate_as_of: _at,
  ...shown
} = QUOTE.example;
const {
  quoted_rate: rate,
  quoted_rate_symbol: symbol,
  quote_id,
  trade_type,
  operation: side,
  contact_id,
  ...rest
} = shown;
const { created_at, expires_at, ...terms } = rest;
const QUOTE_EXAMPLE = {
  ...{ quoted_rate: rate, quoted_rate_symbol: symbol, estimated_rate: null, estimated_rate_symbol: null, ...terms },
  ...{ quote_id, trade_type, operation: side, contact_id, created_at, expires_at },
  book_trade: `https://api.example.com/trades?client_id=CLI000001&quote_id=${String(quote_id)}`,
};
const Estimate = Type.Object(ESTIMATE, {
  title: 'Estimate',
  examples: [
    { quoted_rate: null, quoted_rate_symbol: null, estimated_rate: rate, estimated_rate_symbol: symbol, ...terms },
  ],
});
const Quote = Type.Object(CLIENT_QUOTE, { title: 'Quote', examples: [QUOTE_EXAMPLE] });
const QuoteNow = Type.Object(CLIENT_QUOTE_NOW, {
  title: 'QuoteNow',
  examples: [{ ...QUOTE_EXAMPLE, status, trade_id }],
});

const LOCATION = locationHeader(
  'Where the quote can be read',
  `https://api.example.com/quotes/${String(quote_id)}?client_id=CLI000001`,
);

/** A quote is binding, so it is a change. An estimate is not. */
const isFirm = ({ query }: FastifyRequest) => fieldsOf(query).quote_type === 'quote';

const ASK = operation('POST /quotes', {
  ...JUDGED,
  config: {
    permission: (request) => (isFirm(request) ? 'can_trade' : undefined),
    unkeyed: (request) => !isFirm(request),
  },
  schema: {
    operationId: 'createQuote',
    tags: ['quotes'],
    summary: 'Ask what an exchange costs',
    description:
      'An estimate promises nothing. A quote can be booked at its rate until it expires, with POST /trades or POST /payments; a contact ' +
      'has at most 20 open ones. A quote needs can_trade and takes an Idempotency-Key, whose answer is kept until the quote expires.',
    querystring: Type.Object({
      client_id: ClientId,
      quote_type: Type.Enum(['estimate', 'quote'], { description: 'Whether the rate is promised' }),
    }),
    body: QuoteOrder,
    response: {
      200: jsonAnswer('The estimate', Estimate),
      201: jsonAnswer('The quote', Quote, LOCATION),
      ...orderErrors(400, 403, 404, 502, 'fx_not_enabled', 'fx_closed', 'currency_not_allowed'),
      ...orderErrors(
        ...(['fx_not_enabled', 'fx_closed', 'currency_not_allowed', 'exchange_rate_missing'] as const),
        ...(['exchange_rate_stale', 'amount_out_of_range'] as const),
      ),
    },
  },
});

const READ_ONE = operation('GET /quotes/{quote_id}', {
  schema: {
    operationId: 'getQuote',
    tags: ['quotes'],
    summary: 'Read a quote',
    description: 'For 90 days.',
    params: idPath('quote_id'),
    querystring: ClientQuery,
    response: { 200: jsonAnswer('The quote', QuoteNow), ...errors(400, 403, 502, 'quote_not_found') },
  },
});

/** The prices of exchanges (docs/exchange.md). */
export function quoteRoutes(app: FastifyInstance, context: Context): void {
  const { pool, config, addresses } = context;

  serve(app, ASK, async (request, reply) => {
    const { caller, now } = request;
    const given = soundFields(request);
    const pair = { sell_currency: given.sell_currency ?? '', buy_currency: given.buy_currency ?? '' };
    const market = { clientId: caller.clientId, ...pair };
    if (!isFirm(request)) {
      const found = await readMarket(pool, config.environment, market);
      const order = orderOf(request, given, found);
      const estimate = quoteTerms(found, order, { now, firm: false });
      return sendValue(reply, estimateOf(storedTerms(order, estimate)));
    }
    return answerChange(context, request, reply, async (tx, act) => {
      const asking = { clientId: caller.clientId, contactId: caller.contactId };
      const [open, found] = await together([
        lockOpenQuotes(tx, { contactId: caller.contactId, clientIds: caller.session.clients.keys() }, now),
        readMarket(tx, config.environment, market),
      ]);
      const order = orderOf(request, given, found);
      const firm = quoteTerms(found, order, { now, firm: true });
      const seconds = found.pricing.quote_seconds;
      const quote = await createQuote(tx, act, asking, { request: order, terms: firm, seconds, open });
      const body = JSON.stringify(clientQuote(quote, addresses.api));
      const headers = { location: clientAddress(context, request, `/quotes/${quote.quote_id}`) };
      return { status: 201, body, headers, expiresAt: quote.expires_at };
    });
  });

  serve(app, READ_ONE, async ({ caller, params, now }, reply) => {
    const quote = await findClientQuote(pool, caller.clientId, params.quote_id, now);
    const { trade_id: booked } = quote;
    return sendValue(reply, {
      ...clientQuote(quote, addresses.api),
      status: quoteStatus(quote, now),
      trade_id: booked,
    });
  });
}

/** The order of a request. @throws Problem invalid_body with all its faults */
function orderOf(
  request: RequestOf<typeof ASK>,
  given: Partial<Static<typeof QuoteOrder>>,
  market: Market,
): QuoteRequest {
  const { amount: digits, ...others } = given;
  const amount =
    digits === undefined ? undefined : attempt(() => decimal(digits, 'amount', { decimals: MAX_READ_DECIMALS }));
  const read = { ...others, ...(typeof amount === 'string' && { amount }) };
  const faults =
    amount instanceof Problem && amount.fault ? [{ ...amount.fault, code: 'invalid_format' as const }] : [];
  refuseFaults(request, [...faults, ...quoteFaults(market, read, request.now)]);
  return read as QuoteRequest;
}

/** No currency has this many decimals. */
const MAX_READ_DECIMALS = 12;
