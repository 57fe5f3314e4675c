import { type Static, Type } from 'typebox';
import type { Db } from '../database/database.ts';
import { londonTimestamp } from '../values/calendar.ts';
import { Exact } from '../values/json.ts';
import { plain, sum } from '../values/money.ts';
import { ExactNumber } from '../values/schemas.ts';
import { zerosOf } from './currency.ts';

/** What a client has in its currency accounts, what of it is available, and what its trades still need. */

export const BALANCE_TYPES = ['InterimAvailable', 'Available', 'RequiredFunds'] as const;
type BalanceType = (typeof BALANCE_TYPES)[number];

export const BALANCE = Type.Object({
  account_id: Type.String({ description: 'The currency account' }),
  amount: Type.Object({ amount: ExactNumber('Without its sign'), currency: Type.String() }, { title: 'BalanceAmount' }),
  credit_debit_indicator: Type.Enum(['Credit', 'Debit'], { description: 'Debit where it is below zero' }),
  datetime: Type.String({ format: 'date-time', description: 'When it was read' }),
  type: Type.Enum([...BALANCE_TYPES], {
    description:
      'InterimAvailable: all that is booked; Available: without what orders hold; RequiredFunds: what trades that sell the currency still need',
  }),
});
type Balance = Static<typeof BALANCE>;

interface Row {
  account_id: number;
  currency: string;
  balance: string;
  available: string;
  required: string;
}

/**
 * The balances of a client's currency accounts, three for each account, in the order of the currencies.
 * @param wanted `account`: one account by its number; `currencies` and `types`: only these; by default all
 */
export async function readBalances(
  db: Db,
  clientId: string,
  {
    account,
    currencies,
    types = BALANCE_TYPES,
    now,
  }: {
    account?: number;
    currencies?: readonly string[] | undefined;
    types?: readonly string[] | undefined;
    now: Date;
  },
): Promise<Balance[]> {
  const { rows } = await db.query<Row & Record<string, unknown>>({
    name: 'balances',
    // What a trade still needs is what it sells, minus what is held or was debited for it.
    text: `select a.account_id, a.currency, a.balance, a.balance - a.held as available, coalesce(trades.required, 0) as required
      from currency_accounts a cross join lateral (
        select sum(greatest(0, t.sell_amount
            - coalesce((select sum(h.amount) from holds h
                where h.client_id = $1 and h.trade_id = t.trade_id and h.closed_at is null), 0)
            - coalesce((select -sum(x.amount) from transactions x
                where x.client_id = $1 and x.trade_id = t.trade_id and x.kind = 'DEBIT_TRANSACTION'), 0))) as required
        from trades t where t.client_id = $1 and t.sell_currency = a.currency
          and t.status in ('Created', 'Funds In Partially') and not t.single) trades
      where a.client_id = $1 and ($2::bigint is null or a.account_id = $2) and ($3::text[] is null or a.currency = any($3))
      order by a.currency`,
    values: [clientId, account ?? null, currencies ?? null],
  });
  const codes = rows.map(({ currency }) => currency);
  const zeros = await zerosOf(db, codes);
  const datetime = londonTimestamp(now);
  return rows.flatMap((row) => {
    const zero = zeros.get(row.currency) ?? '0';
    const signed: Record<BalanceType, string> = {
      InterimAvailable: row.balance,
      Available: sum(plain(row.available), zero),
      RequiredFunds: sum(plain(row.required), zero),
    };
    return BALANCE_TYPES.filter((type) => types.includes(type)).map((type) => ({
      account_id: String(row.account_id),
      amount: { amount: new Exact(signed[type].replace('-', '')), currency: row.currency },
      credit_debit_indicator: signed[type].startsWith('-') ? ('Debit' as const) : ('Credit' as const),
      datetime,
      type,
    }));
  });
}
