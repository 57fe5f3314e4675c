import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { accountsQuery } from '../../data/accounts.ts';
import { CallError } from '../../data/call-error.ts';
import {
  daysQuery,
  orderPayments,
  type PaymentOrder,
  type Reviewed,
  reviewOrder,
  sourcesKey,
} from '../../data/ordering.ts';
import { liveKey } from '../../data/payments.ts';
import { askPrice, type Offer } from '../../data/quotes.ts';
import { type SayRefusal, useRefusal } from '../../design/refusal.ts';
import { useLocale, useText } from '../../texts/text.tsx';
import { useAct } from '../act.ts';
import { useClient } from '../client.tsx';
import { closedDay, type SaidOfDay } from './days.ts';
import {
  type Draft,
  daysOf,
  exchangeOf,
  type Faults,
  faultsOfDraft,
  faultsOfRefusal,
  orderOf,
  type Source,
} from './draft.ts';

/** A rate that expires sooner is not worth a review: a new one is requested. */
const MIN_LEFT_MS = 10_000;

/** A price with a promise. */
export type Firm = Extract<Offer, { quote: unknown }>;

/** An order that was reviewed and can be sent. */
export interface Review {
  order: PaymentOrder;
  rows: Reviewed[];
  offer: Firm | undefined;
  /** The same for every retry. */
  key: string;
}

/** Thrown if the person asked for days on which nothing can leave. The names are those of the fields. */
class ClosedDays extends Error {
  readonly faults: ReadonlyMap<string, SaidOfDay>;
  constructor(faults: ReadonlyMap<string, SaidOfDay>) {
    super('closed days');
    this.faults = faults;
  }
}

/** Thrown if FX is closed: no price can be booked. */
export class Closed extends Error {}

interface Given {
  draft: Draft;
  source: Source | undefined;
  /** The price that the form shows. */
  offer: Offer | undefined;
}

interface Told {
  onReviewed: (review: Review) => void;
  /** Called if there is no review: the form says why. */
  onRefused: () => void;
  onOrdered: (made: OrderedIds) => void;
}

/** Leads from the form to the review, and from there to the order. */
export function useOrder({ onReviewed, onRefused, onOrdered }: Told) {
  const t = useText();
  const say = useRefusal();
  const locale = useLocale();
  const { client_id: clientId, permissions } = useClient();
  const [faults, setFaults] = useState<Faults>(new Map());
  const queries = useQueryClient();
  const reviewing = useAct(async (given: Given) => {
    const reviewed = await lookThrough(clientId, given, locale);
    const closed = await closedDays(queries, clientId, { ...given, reviewed, locale });
    if (closed.size > 0) throw new ClosedDays(closed);
    return reviewed;
  });
  const ordering = useAct(
    ({ order, key }: Review) => orderPayments(clientId, order, key),
    [liveKey(clientId), sourcesKey(clientId), accountsQuery(clientId).queryKey],
  );
  const told = (error: Error) => {
    if (!(error instanceof ClosedDays)) return placed(error, say);
    return new Map([...error.faults].map(([name, { key, values }]) => [name, t(key, values)]));
  };
  const review = (given: Given) => {
    if (reviewing.isPending || ordering.isPending) return;
    ordering.reset();
    reviewing.reset();
    const mayTrade = permissions.includes('can_trade');
    const missing = faultsOfDraft(given.draft, given.source, { locale, mayTrade });
    setFaults(new Map([...missing].map(([name, key]) => [name, t(key)])));
    if (missing.size > 0) return;
    reviewing.mutate(given, {
      onSuccess: onReviewed,
      onError: (error) => {
        setFaults(told(error));
        onRefused();
      },
    });
  };
  const order = (reviewed: Review) => {
    if (ordering.isPending) return;
    ordering.mutate(reviewed, {
      onSuccess: (made) =>
        onOrdered(made.flatMap(({ payment_id: id, warning }) => (id === null ? [] : [{ id, warning }]))),
    });
  };
  return {
    ...{ faults, setFaults, review, order },
    isPending: reviewing.isPending,
    isOrdering: ordering.isPending,
    /** Why there is no review, if no field of the form explains it. */
    unplaced: reviewing.error && told(reviewing.error).size === 0 ? reviewing.error : undefined,
    orderError: ordering.error,
    forget: () => ordering.reset(),
  };
}

/** The payments that were made, each with the reason if its day was moved. */
export type OrderedIds = { id: string; warning: string | null }[];

function placed(error: Error, say: SayRefusal): Map<string, string> {
  return error instanceof CallError ? faultsOfRefusal(error, say) : new Map();
}

/** Asks the service what the order would create, with a price that holds for a while. */
async function lookThrough(clientId: string, { draft, source, offer }: Given, locale: string): Promise<Review> {
  if (!source) throw new TypeError('nothing is paid from');
  const exchange = exchangeOf(draft, source, locale);
  const shown = offer && 'quote' in offer && offer.untilMs - Date.now() > MIN_LEFT_MS ? offer : undefined;
  const price = exchange && (shown ?? (await askPrice(clientId, exchange, crypto.randomUUID())));
  if (price && !('quote' in price)) throw new Closed('no price can be booked');
  const order = orderOf(draft, source, { locale, ...(price && { quoteId: price.quote.quote_id }) });
  return { order, rows: await reviewOrder(clientId, order), offer: price, key: crypto.randomUUID() };
}

/** Days that nobody can choose, among those that the service would move. */
async function closedDays(
  queries: QueryClient,
  clientId: string,
  { draft, source, reviewed, locale }: Given & { reviewed: Review; locale: string },
): Promise<Map<string, SaidOfDay>> {
  const closed = new Map<string, SaidOfDay>();
  const settles = reviewed.offer?.quote.value_date;
  for (const [index, line] of draft.lines.entries()) {
    const row = reviewed.rows[index];
    const of = daysOf(line, { currency: row?.payment_currency, source, locale, settles });
    if (!of || !row || row.warning === null) continue;
    const said = closedDay(await queries.fetchQuery(daysQuery(clientId, of)), line.date || line.first);
    if (said) closed.set(`${index}.date`, said);
  }
  return closed;
}
