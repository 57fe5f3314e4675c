import { queryOptions } from '@tanstack/react-query';
import type { Estimate, Quote, QuoteOrder } from '../../sdk/src/generated/api.ts';
import type { Markets } from '../../src/exchange/fx-availability.ts';
import { amountField } from './amount.ts';
import { call } from './call.ts';
import { CallError } from './call-error.ts';
import { callClient } from './client-api.ts';

export type { Estimate, Quote };

/** How often a page looks whether the markets are open. */
const MARKETS_MS = 60_000;

/** Whether the markets are open, and if not, when they open. */
export const marketsQuery = (clientId: string) =>
  queryOptions({
    queryKey: ['markets', clientId],
    refetchInterval: MARKETS_MS,
    queryFn: async ({ signal }) =>
      (await call<Markets>('GET', '/app/data/markets', { query: { client_id: clientId }, signal })).body,
  });

/** What a person wants to exchange. */
export interface WantedExchange {
  sell_currency: string;
  buy_currency: string;
  /** The side whose amount is fixed. */
  operation: 'sell' | 'buy';
  /** The amount of the fixed side, in plain notation. */
  amount: string;
  trade_type: 'spot' | 'forward';
  /** Empty means as early as possible. */
  value_date: string;
}

/** The price of an exchange: a promise until a time on this device's clock, or an estimate while FX is closed. */
export type Offer = { quote: Quote; untilMs: number } | { estimate: Estimate };

/** The terms of an offer, promised or not. */
export function termsOf(offer: Offer): Quote | Estimate {
  return 'quote' in offer ? offer.quote : offer.estimate;
}

/**
 * Asks for the price of an exchange.
 * @param key the same for every retry
 * @throws CallError
 */
export async function askPrice(clientId: string, wanted: WantedExchange, key: string): Promise<Offer> {
  const { amount, value_date: day, ...others } = wanted;
  const body: QuoteOrder = { ...others, ...amountField('amount', amount), ...(day === '' ? {} : { value_date: day }) };
  const ask = (type: 'quote' | 'estimate', headers: Record<string, string> = {}) =>
    callClient('POST /quotes', clientId, { query: { quote_type: type }, body, headers });
  // The device's clock may be wrong, and the service's clock may be moved. So only the quote's validity period counts, from before it was
  // made.
  const askedMs = Date.now();
  try {
    const quote = (await ask('quote', { 'idempotency-key': key })).body as Quote;
    return { quote, untilMs: askedMs + Date.parse(quote.expires_at) - Date.parse(quote.created_at) };
  } catch (error) {
    if (!(error instanceof CallError && error.code === 'fx_closed')) throw error;
    return { estimate: (await ask('estimate')).body as Estimate };
  }
}
