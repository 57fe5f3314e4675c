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

/** The limit on what the contacts of a client may order in a London day. */
export interface DayOfOrders {
  /** Decimal. */
  amount: string;
  currency: string;
  /** The part that the live orders of the day use, a decimal. */
  used: string;
  /** Live orders of the day that were made under another limit, or without one: sums by currency. */
  others: { currency: string; amount: string }[];
}

/**
 * Reads the limit of a client, and locks it until the transaction ends. So orders that it bounds run one after the other.
 * @returns undefined if the client has no limit
 */
export async function lockDay(tx: Transaction, clientId: string, now: Date): Promise<DayOfOrders | undefined> {
  tx.later({
    name: 'order-limit-lock',
    text: 'select from clients where client_id = $1 and daily_payment_limit is not null for no key update',
    values: [clientId],
  });
  const days = boundsOf(londonDay(now));
  if (!isDistributed(tx)) {
    // A separate statement, so that it sees the changes of transactions that the lock waited for.
    const { rows } = await tx.query<DayOfOrders & Record<string, unknown>>({
      name: 'order-limit',
      text: `select c.amount, c.currency, o.used::text as used, o.others from (${LIMIT}) c cross join lateral (${usedOf('c.currency')}) o`,
      values: [clientId, ...days],
    });
    return rows[0];
  }
  // A Citus worker holds the payments but not the clients.
  const limit = first(await tx.query<{ amount: string; currency: string }>(LIMIT, [clientId]));
  if (!limit) return undefined;
  const used = await tx.query<Pick<DayOfOrders, 'used' | 'others'>>(
    `select o.used::text as used, o.others from (${usedOf('$4::text')}) o`,
    [clientId, ...days, limit.currency],
  );
  return { ...limit, ...one(used) };
}

/** The limit of the client `$1`; null if it has none. */
const LIMIT = `select daily_payment_limit ->> 'amount' as amount, daily_payment_limit ->> 'currency' as currency from clients
  where client_id = $1 and daily_payment_limit is not null`;

/** What the live orders of the client `$1` from `$2` to `$3` use. @param currency SQL for the limit's currency */
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

/** What a client's contacts have ordered in a London day, in the form that the institution reads. */
export const DAY_USE = {
  day: Type.String({ format: 'date' }),
  limit: Nullable(Type.Object({ amount: ExactNumber('The limit'), currency: Type.String() }, { title: 'LimitOfDay' })),
  used: Nullable(ExactNumber('What of the limit is used; null without one, or where a rate is missing')),
  orders: Type.Array(
    Type.Object({ currency: Type.String(), amount: ExactNumber('Sum of the live orders') }, { title: 'OrderedSum' }),
  ),
};

/** Reads what the contacts of a client have ordered on the day of `now`, and how much of its limit that uses. */
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

/** What the live orders of the day use of a limit, as a decimal; null if a rate is missing. */
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

/** What payments use of the limit. Each is converted at the current rate and rounded half even to the limit's decimals. */
export interface LimitUse {
  /** A decimal for each payment, in order. */
  amounts: string[];
  problem: Problem | undefined;
}

/** The amount of a payment. */
interface Counted {
  /** A decimal. */
  amount: string;
  currency: string;
}

/**
 * Calculates what new payments use of the limit, and whether it has room for all of them.
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
 * Like `useOfLimit`, but judges each payment separately, in order.
 * @returns what each payment uses, or why it may not be made: limit_exceeded, exchange_rate_missing
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

/** What is used of the limit, and what each payment uses; a Problem if a rate is missing. */
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
