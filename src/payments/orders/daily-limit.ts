import Big from 'big.js';
import { Type } from 'typebox';
import { isDistributed } from '../../database/cells/pool.ts';
import { type Db, first, one, type Transaction } from '../../database/database.ts';
import { readCurrency } from '../../exchange/currency.ts';
import { type Quote, quoteBetween } from '../../exchange/exchange-rates.ts';
import { addDays, londonDay, startOfLondonDay } from '../../values/calendar.ts';
import { Problem, refusalOf } from '../../values/errors.ts';
import { Exact, exact } from '../../values/json.ts';
import { ExactNumber, Nullable } from '../../values/schemas.ts';

/** The limit of what the contacts of a client order in a London day. */
export interface DayOfOrders {
  /** Decimal. */
  amount: string;
  currency: string;
  /** What the live orders of the day take of it, a decimal. */
  used: string;
  /** Live orders of the day that were made under another limit, or under none: sums by currency. */
  others: { currency: string; amount: string }[];
}

/**
 * Reads the limit of a client that has one, and locks it until the transaction ends: orders that it bounds follow each other.
 * @returns undefined where there is none
 */
export async function lockDay(tx: Transaction, clientId: string, now: Date): Promise<DayOfOrders | undefined> {
  tx.later({
    name: 'order-limit-lock',
    text: 'select from clients where client_id = $1 and daily_payment_limit is not null for no key update',
    values: [clientId],
  });
  const days = boundsOf(londonDay(now));
  if (!isDistributed(tx)) {
    // A statement of its own: it sees what those did for whom the lock waited.
    const { rows } = await tx.query<DayOfOrders & Record<string, unknown>>({
      name: 'order-limit',
      text: `select c.amount, c.currency, o.used::text as used, o.others from (${LIMIT}) c cross join lateral (${usedOf('c.currency')}) o`,
      values: [clientId, ...days],
    });
    return rows[0];
  }
  // A worker of Citus has the payments, and not the client.
  const limit = first(await tx.query<{ amount: string; currency: string }>(LIMIT, [clientId]));
  if (!limit) return undefined;
  const used = await tx.query<Pick<DayOfOrders, 'used' | 'others'>>(
    `select o.used::text as used, o.others from (${usedOf('$4::text')}) o`,
    [clientId, ...days, limit.currency],
  );
  return { ...limit, ...one(used) };
}

/** The limit of the client `$1`, if it has one. */
const LIMIT = `select daily_payment_limit ->> 'amount' as amount, daily_payment_limit ->> 'currency' as currency from clients
  where client_id = $1 and daily_payment_limit is not null`;

/** What the live orders of the client `$1` from `$2` to `$3` take. @param currency SQL of that of the limit */
function usedOf(currency: string): string {
  return `select coalesce(sum(p.amount) filter (where p.currency is null), 0) as used,
      coalesce(json_agg(json_build_object('currency', p.currency, 'amount', p.amount::text)) filter (where p.currency is not null), '[]')
        as others
    from (
      select case when limit_currency is distinct from ${currency} then payment_currency end as currency,
        sum(case when limit_currency is distinct from ${currency} then amount else limit_amount end) as amount
      from (
        select limit_currency, payment_currency, limit_amount, amount from payments
        where client_id = $1 and source = 'client' and created >= $2 and created < $3 and (phase not in (4, 5) or returned)
        union all
        -- Payments of files that are about to be made.
        select limit_currency, currency, limit_amount, amount from mass_payment_rows
        where client_id = $1 and status = 'valid' and limit_amount is not null) o
      group by 1) p`;
}

/** What a client's contacts have ordered in a London day, as the institution reads it. */
export const DAY_USE = {
  day: Type.String({ format: 'date' }),
  limit: Nullable(Type.Object({ amount: ExactNumber('The limit'), currency: Type.String() }, { title: 'LimitOfDay' })),
  used: Nullable(ExactNumber('What of the limit is used; null without one, or where a rate is missing')),
  orders: Type.Array(
    Type.Object({ currency: Type.String(), amount: ExactNumber('Sum of the live orders') }, { title: 'OrderedSum' }),
  ),
};

/** Reads what the contacts of a client have ordered in the day of `now`, and how much of its limit that is. */
export async function readDayUse(db: Db, clientId: string, now: Date) {
  const day = londonDay(now);
  const { rows: orders } = await db.query<{ currency: string; amount: string }>(
    `select payment_currency as currency, sum(amount)::text as amount from payments
     where client_id = $1 and source = 'client' and created >= $2 and created < $3 and (phase not in (4, 5) or returned)
     group by 1 order by 1`,
    [clientId, ...boundsOf(day)],
  );
  const limit = first(await db.query<{ amount: string; currency: string }>(LIMIT, [clientId]));
  return {
    day,
    limit: limit ? { amount: new Exact(limit.amount), currency: limit.currency } : null,
    used: exact(limit ? await usedNow(db, { ...limit, clientId, day }) : null),
    orders: orders.map(({ currency, amount }) => ({ currency, amount: new Exact(amount) })),
  };
}

/** What the live orders of the day take of a limit, a decimal; null where a rate is missing. */
async function usedNow(
  db: Db,
  { clientId, day, currency }: { clientId: string; day: string; currency: string },
): Promise<string | null> {
  const text = `select o.used::text as used, o.others from (${usedOf('$4::text')}) o`;
  const { used, others } = one(
    await db.query<Pick<DayOfOrders, 'used' | 'others'>>(text, [clientId, ...boundsOf(day), currency]),
  );
  const { decimals } = await readCurrency(db, currency);
  let sum = new Big(used);
  for (const other of others) {
    const quote = await quoteBetween(db, other.currency, currency).catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error;
    });
    if (!quote) return null;
    sum = sum.plus(inLimit(quote.convert(other.amount), decimals));
  }
  return sum.toFixed(decimals);
}

const boundsOf = (day: string) => [startOfLondonDay(day), startOfLondonDay(addDays(day, 1))];
/** An amount in the currency of a limit. */
const inLimit = (amount: string, decimals: number) =>
  new Big(amount).round(decimals, Big.roundHalfEven).toFixed(decimals);

/** What payments take of the limit: each with the rate of now, rounded half even to the limit's decimals. */
export interface LimitUse {
  /** A decimal for each payment, in their order. */
  amounts: string[];
  problem: Problem | undefined;
}

/** What a payment is of. */
interface Counted {
  /** A decimal. */
  amount: string;
  currency: string;
}

/**
 * Works out what new payments take of the limit, and whether it has room for all of them.
 * @param decimals of the limit's currency
 * @throws Problem exchange_rate_missing
 */
export async function useOfLimit(
  tx: Transaction,
  day: DayOfOrders,
  payments: readonly Counted[],
  decimals: number,
): Promise<LimitUse> {
  const { used, taken } = await takenOf(tx, day, payments, decimals);
  if (used instanceof Problem) throw used;
  const amounts = taken.map((each) => {
    if (each instanceof Problem) throw each;
    return each;
  });
  const needed = amounts.reduce((total, amount) => total.plus(amount), new Big(0));
  const fits = used.plus(needed).lte(day.amount);
  return { amounts, problem: fits ? undefined : exceeded(day, used, decimals) };
}

/**
 * As `useOfLimit`, where each payment is judged alone, in their order.
 * @returns what each takes, or why it may not be made: limit_exceeded, exchange_rate_missing
 */
export async function shareOfLimit(
  tx: Transaction,
  day: DayOfOrders,
  payments: readonly Counted[],
  decimals: number,
): Promise<(string | Problem)[]> {
  const { used, taken } = await takenOf(tx, day, payments, decimals);
  if (used instanceof Problem) return payments.map(() => used);
  let sum = used;
  return taken.map((each) => {
    if (each instanceof Problem) return each;
    if (sum.plus(each).gt(day.amount)) return exceeded(day, sum, decimals);
    sum = sum.plus(each);
    return each;
  });
}

/** What of the limit is used, and what each payment takes of it; a Problem where a rate is missing. */
async function takenOf(
  tx: Transaction,
  day: DayOfOrders,
  payments: readonly Counted[],
  decimals: number,
): Promise<{ used: Big | Problem; taken: (string | Problem)[] }> {
  const quotes = new Map<string, Quote | Problem>();
  const converted = async ({ currency, amount }: Counted): Promise<string | Problem> => {
    const quote = quotes.get(currency) ?? (await quoteBetween(tx, currency, day.currency).catch(refusalOf));
    quotes.set(currency, quote);
    if (!(quote instanceof Problem)) return inLimit(quote.convert(amount), decimals);
    return new Problem(
      'exchange_rate_missing',
      `no rate is known between ${currency} and ${day.currency}, of the daily limit`,
    );
  };
  let used: Big | Problem = new Big(day.used);
  for (const other of day.others) {
    const share = await converted(other);
    if (share instanceof Problem) return { used: share, taken: [] };
    used = used.plus(share);
  }
  const taken: (string | Problem)[] = [];
  for (const payment of payments) taken.push(await converted(payment));
  return { used, taken };
}

function exceeded(day: DayOfOrders, used: Big, decimals: number): Problem {
  const left = new Big(day.amount).minus(used);
  const shown = (left.lt(0) ? new Big(0) : left).toFixed(decimals);
  const message = `the limit of the day is ${day.amount} ${day.currency}, and ${shown} ${day.currency} is left`;
  return new Problem('limit_exceeded', message);
}
