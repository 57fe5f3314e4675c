import { randomUUID } from 'node:crypto';
import { openHolds } from '../../accounts/held-money.ts';
import type { Act } from '../../audit/act.ts';
import { noteRecord } from '../../audit/change.ts';
import { newIds } from '../../database/cells/identifiers.ts';
import { type Db, type Transaction, together } from '../../database/database.ts';
import { type Market, readMarket } from '../../exchange/market.ts';
import type { Environment } from '../../exchange/pricing.ts';
import { type QuoteTerms, quoteTerms } from '../../exchange/quote-terms.ts';
import { type NewTrade, writeTrades } from '../../exchange/trade-booking.ts';
import { judgeValueDate } from '../../exchange/value-date.ts';
import type { Orderer } from '../../payments/orders/order.ts';
import { londonDay } from '../../values/calendar.ts';
import { attempt, type ErrorCode, Problem } from '../../values/errors.ts';
import { sum } from '../../values/money.ts';
import { present } from '../../values/unknown.ts';
import type { JudgedInstruction } from './judgement.ts';
import type { InstructionScene, Source } from './scene.ts';

/** The exchanges that instructions need. For each currency and day, one spot trade buys what its payments need. */

/** Instructions of one currency and day. */
export interface Group {
  currency: string;
  date: string;
  /** A decimal. */
  amount: string;
  members: JudgedInstruction[];
}

/** The groups of the instructions that buy their currency, in the order of each group's first instruction. */
export function groupsOf(judged: readonly JudgedInstruction[]): Group[] {
  const buying = judged.filter(({ exchanged }) => exchanged);
  const groups = Map.groupBy(buying, ({ row, date }) => `${row.currency} ${date}`);
  return [...groups.values()].map((members) => ({
    currency: present(members[0]?.row.currency),
    date: present(members[0]?.date),
    amount: members.map(({ row }) => row.amount).reduce(sum),
    members,
  }));
}

/** The refusals of a quote, in the order in which they are reported. */
const QUOTE_REFUSALS: readonly ErrorCode[] = [
  ...(['fx_not_enabled', 'fx_closed', 'currency_not_allowed', 'exchange_rate_missing'] as const),
  ...(['exchange_rate_stale', 'amount_out_of_range'] as const),
];

/** What the exchange of a group costs, or why it is refused. */
export type Priced = Group & { terms: QuoteTerms | Problem; quoteSeconds: number };

/** Prices the exchange of each group. @param firm whether it is booked at this price; otherwise the price is an estimate */
export async function priceGroups(
  db: Db,
  groups: readonly Group[],
  pricing: { environment: Environment; clientId: string; sellCurrency: string; now: Date; firm: boolean },
): Promise<Priced[]> {
  const { environment, clientId, sellCurrency: sold, now, firm } = pricing;
  const currencies = [...new Set(groups.map(({ currency }) => currency))];
  const read = await together(
    currencies.map((bought) => readMarket(db, environment, { clientId, sell_currency: sold, buy_currency: bought })),
  );
  const markets = new Map(currencies.map((currency, index) => [currency, read[index] as Market]));
  return groups.map((group) => {
    const market = present(markets.get(group.currency));
    const request = {
      ...{ operation: 'buy' as const, amount: group.amount, buy_currency: group.currency, sell_currency: sold },
      ...{ trade_type: 'spot' as const, value_date: spotDay(market, sold, group, now) },
    };
    const terms = attempt(() => quoteTerms(market, request, { now, firm }));
    return { ...group, terms, quoteSeconds: market.pricing.quote_seconds };
  });
}

/** The day on which the spot of a group settles: the day of its payments if a spot can be so late, and otherwise the first possible day. */
function spotDay(market: Market, sold: string, { currency, date }: Group, now: Date): string | undefined {
  const currencies = [market.currency(sold), market.currency(currency)] as const;
  return 'code' in judgeValueDate({ kind: 'spot', asked: date, currencies, now }) ? undefined : date;
}

/** The cost of each group, as a decimal. @throws Problem the refusal that comes first */
export function requirePrices(priced: readonly Priced[]): { group: Group; terms: QuoteTerms }[] {
  const refused = priced.flatMap(({ terms }) => (terms instanceof Problem ? [terms] : []));
  const rank = ({ code }: Problem) => QUOTE_REFUSALS.indexOf(code);
  const [first] = refused.toSorted((one, other) => rank(one) - rank(other));
  if (first) throw first;
  return priced.map(({ terms, ...group }) => ({ group, terms: terms as QuoteTerms }));
}

/** An exchange that was booked. */
export interface BookedExchange {
  group: Group;
  tradeId: string;
  trade: NewTrade;
}

/** Books the exchanges. If they are paid from an account, it holds what they sell. */
export async function bookExchanges(
  tx: Transaction,
  act: Act,
  apiUrl: string,
  {
    orderer: { clientId, contactId },
    priced,
    source,
    scene,
    ...of
  }: {
    orderer: Orderer;
    priced: readonly { group: Group; terms: QuoteTerms }[];
    source: Source;
    scene: Pick<InstructionScene, 'funds'>;
    multipaymentId?: number | undefined;
    massPaymentId?: string | undefined;
    /** Why a group is bought; by default the reason of the source. */
    reasonOf?: ((group: Group) => Source['reason']) | undefined;
  },
): Promise<BookedExchange[]> {
  if (priced.length === 0) return [];
  const { sellCurrency: sold = '', accountId, reason } = source;
  const trades = priced.map(({ group, terms }): NewTrade => {
    return {
      id: undefined,
      input: {
        ...{ client_id: clientId, contact_id: contactId, buy_currency: group.currency, sell_currency: sold },
        ...{ rate: terms.rate, buy_amount: terms.buyAmount, reference: null, fee_currency: sold },
      },
      values: {
        ...{ type: 'spot' as const, rate: terms.rate, buyAmount: terms.buyAmount, sellAmount: terms.sellAmount },
        ...{ orderDate: londonDay(act.now), maturity: terms.maturity, feeAmount: '0' },
        symbol: `${sold}${group.currency}`,
      },
      ordered: {
        ...{ reason: of.reasonOf?.(group) ?? reason, funding_account_id: accountId ?? null },
        value_date: terms.valueDate.date,
        mass_payment_id: of.massPaymentId ?? null,
      },
      ...(of.multipaymentId === undefined ? {} : { multipaymentId: of.multipaymentId }),
    };
  });
  await newIds(tx, 'trade_id', trades, false);
  const records = await writeTrades(tx, act, apiUrl, trades);
  // Nobody else knows these trades before the commit, so their text can be noted now.
  for (const record of records) noteRecord(tx, 'trade', record.trade_id, () => ({ text: JSON.stringify(record) }));
  const { funds } = scene;
  if (funds)
    openHolds(
      tx,
      act.now,
      trades.map(({ id, values }) => ({
        ...{ holdId: randomUUID(), clientId, accountId: funds.account_id, currency: sold },
        ...{ amount: values.sellAmount, tradeId: present(id) },
      })),
    );
  return trades.map((trade, index) => ({
    ...{ group: present(priced[index]?.group), tradeId: present(trade.id), trade },
  }));
}
