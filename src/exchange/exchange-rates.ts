import Big from 'big.js';
import { Type } from 'typebox';
import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import type { Db, Transaction } from '../database/database.ts';
import { type Input, initially, RecordKind, required, type Shown } from '../database/record.ts';
import { parseInstant } from '../values/calendar.ts';
import { A_CURRENCY, isCurrency } from '../values/currencies.ts';
import { Problem } from '../values/errors.ts';
import { Exact } from '../values/json.ts';
import { decimal, MAX_RATE_DECIMALS } from '../values/money.ts';
import { Currency, Decimal, formed, Instant, PATTERNS } from '../values/schemas.ts';

const MAX_RATES = 500;
const RATE = Decimal('... is worth this many', { positive: true, decimals: MAX_RATE_DECIMALS });
const SIZE = { minProperties: 1, maxProperties: MAX_RATES };
/** The schema for the description. The service itself names a code that is not a currency. */
const CURRENCIES = {
  type: 'object',
  ...SIZE,
  propertyNames: { pattern: PATTERNS.currency },
  additionalProperties: RATE,
};

/** The table of rates of one base currency. */
export const RATE_TABLE = new RecordKind({
  table: 'exchange_rates',
  id: 'base_currency',
  fields: {
    base_currency: required(Currency('One unit of this currency ...'), { shown: Type.String() }),
    rates: required(Type.Record(Type.String(), RATE, { ...SIZE, ...formed(CURRENCIES) }), {
      shown: Type.Record(Type.String(), Type.Number(), {
        description: 'One unit of the base is that many of each currency',
      }),
    }),
    as_of: initially(Instant('When the rates applied'), undefined, { shown: Type.String({ format: 'date-time' }) }),
  },
});
export type RatesInput = Input<typeof RATE_TABLE>;
/** Its decimals keep their digits. */
type Rates = Omit<Shown<typeof RATE_TABLE>, 'rates'> & { rates: Record<string, Exact> };

/** Replaces the table of a base currency. @throws Problem invalid_body, invalid_parameter */
export async function setRates(tx: Transaction, act: Act, input: RatesInput): Promise<Rates[]> {
  const currencies = Object.keys(input.rates);
  for (const currency of currencies) {
    if (!isCurrency(currency)) throw new Problem('invalid_body', { field: `rates.${currency}`, message: A_CURRENCY });
    if (currency === input.base_currency)
      throw new Problem('invalid_body', { field: `rates.${currency}`, message: 'must not be the base currency' });
  }
  const rates = currencies.map((currency) =>
    decimal(input.rates[currency], `rates.${currency}`, { positive: true, decimals: MAX_RATE_DECIMALS }),
  );
  const asOf = input.as_of === undefined ? act.now : parseInstant(input.as_of);
  if (!asOf)
    throw new Problem('invalid_body', { field: 'as_of', message: 'must be an ISO 8601 timestamp with an offset' });
  const before = await readRates(tx);
  await tx.query('delete from exchange_rates where base_currency = $1', [input.base_currency]);
  await tx.query(
    `insert into exchange_rates (base_currency, currency, rate, as_of)
     select $1, u.currency, u.rate, $4 from unnest($2::text[], $3::numeric[]) as u(currency, rate)`,
    [input.base_currency, currencies, rates, asOf],
  );
  const after = await readRates(tx);
  audit(tx, act, { action: 'update', entity: 'exchange_rates', entityId: input.base_currency, before, after });
  return after;
}

/** The rate of one pair: bought units for one sold unit. */
export interface PairRate {
  sell_currency: string;
  buy_currency: string;
  /** Decimal in plain notation, above zero. */
  rate: string;
}

/** Sets the direct rate of a pair for all clients, and removes the rate of the opposite pair. Other rates of the base stay, and apply as of now. */
export async function setPairRate(
  tx: Transaction,
  act: Act,
  { sell_currency: sold, buy_currency: bought, rate }: PairRate,
): Promise<void> {
  if (sold === bought)
    throw new Problem('invalid_body', { field: 'buy_currency', message: 'must differ from sell_currency' });
  const before = await readRates(tx);
  await tx.query('delete from exchange_rates where base_currency = $1 and currency = $2', [bought, sold]);
  await tx.query(
    `insert into exchange_rates (base_currency, currency, rate, as_of) values ($1, $2, $3, $4)
     on conflict (base_currency, currency) do update set rate = excluded.rate`,
    [sold, bought, rate, act.now],
  );
  await tx.query('update exchange_rates set as_of = $2 where base_currency = $1', [sold, act.now]);
  const after = await readRates(tx);
  audit(tx, act, { action: 'update', entity: 'exchange_rates', entityId: sold, before, after });
}

/**
 * Runs a part of a transaction with temporary rates for those currencies of a base that have none. The rates are removed again, so nobody
 * outside sees them. A payment keeps the rate that it was created with.
 */
export async function lendRates(
  tx: Transaction,
  { base_currency: base, rates }: Pick<RatesInput, 'base_currency' | 'rates'>,
  work: () => Promise<void>,
): Promise<void> {
  const { rows: lent } = await tx.query<{ currency: string }>(
    `insert into exchange_rates (base_currency, currency, rate, as_of)
     select $1, u.currency, u.rate, 'epoch' from unnest($2::text[], $3::numeric[]) as u(currency, rate)
     on conflict do nothing returning currency`,
    [base, Object.keys(rates), Object.values(rates)],
  );
  await work();
  const currencies = lent.map(({ currency }) => currency);
  await tx.query('delete from exchange_rates where base_currency = $1 and currency = any($2)', [base, currencies]);
}

/** Every table, in the order of the base currencies. */
export async function readRates(db: Db): Promise<Rates[]> {
  const { rows } = await db.query<{ base_currency: string; currency: string; rate: string; as_of: Date }>(
    'select base_currency, currency, rate, as_of from exchange_rates order by base_currency, currency',
  );
  const tables = new Map<string, Rates>();
  for (const row of rows) {
    const table = tables.get(row.base_currency) ?? {
      base_currency: row.base_currency,
      rates: {},
      as_of: row.as_of.toISOString(),
    };
    table.rates[row.currency] = new Exact(row.rate);
    tables.set(row.base_currency, table);
  }
  return [...tables.values()];
}

/** A stored rate: how many units of the currency one unit of the base is worth. */
export interface RateRow {
  base_currency: string;
  currency: string;
  rate: string;
  as_of: Date | string;
}

/** A select of the rates from which a rate between two currencies follows. @param from,to parameters of the statement */
export const ratesOf = (from: string, to: string) =>
  `select base_currency, currency, rate::text as rate, as_of from exchange_rates where currency in (${from}, ${to})
   order by as_of desc, base_currency`;

/** A rate that follows from stored rates, as a fraction: units of the other currency for one unit. */
interface FoundRate {
  numerator: string;
  denominator: string;
  /** The moment from which its table applies. */
  asOf: Date;
}

/**
 * The rate between two currencies: direct, else inverse, else through a base that has both. Of several bases, the one with the newest table
 * is used.
 * @param rows from `ratesOf`
 */
export function findRate(rows: readonly RateRow[], from: string, to: string): FoundRate | undefined {
  const stored = (base: string, currency: string) =>
    rows.find((row) => row.base_currency === base && row.currency === currency);
  const found = (numerator: RateRow | undefined, denominator: RateRow | undefined) =>
    numerator || denominator
      ? {
          numerator: numerator?.rate ?? '1',
          denominator: denominator?.rate ?? '1',
          asOf: new Date((numerator ?? denominator)?.as_of ?? 0),
        }
      : undefined;
  const direct = found(stored(from, to), undefined) ?? found(undefined, stored(to, from));
  if (direct) return direct;
  for (const base of new Set(rows.map((row) => row.base_currency))) {
    const [ofFrom, ofTo] = [stored(base, from), stored(base, to)];
    if (ofFrom && ofTo) return found(ofTo, ofFrom);
  }
  return undefined;
}

/** Converts amounts of one currency into another. */
export interface Quote {
  /** Units of the other currency for one unit, with at most 18 decimals. For people to read. */
  rate: string;
  /** Converts an amount with the stored rates and divides last. So an amount exactly at a threshold stays there. */
  convert(amount: string): string;
}

/** Decimals shown of a derived rate. */
const SHOWN_DECIMALS = 18;
/** Decimals of a converted amount if its division does not end. */
const CONVERTED_DECIMALS = 30;
const Precise = Big();
Precise.DP = CONVERTED_DECIMALS;

/**
 * The quote between two currencies: direct, inverse, or through a base that has both.
 * @throws Problem exchange_rate_missing
 */
export async function quoteBetween(db: Db, from: string, to: string): Promise<Quote> {
  if (from === to) return quote('1', '1');
  const { rows } = await db.query<RateRow & Record<string, unknown>>(ratesOf('$1', '$2'), [from, to]);
  const found = findRate(rows, from, to);
  if (found) return quote(found.numerator, found.denominator);
  throw new Problem('exchange_rate_missing', {
    field: 'payment_currency',
    message: `no rate is known between ${from} and ${to}; PUT /exchange-rates on the operator interface sets it`,
  });
}

function quote(numerator: string, denominator: string): Quote {
  return {
    rate: new Precise(numerator).div(denominator).round(SHOWN_DECIMALS).toFixed(),
    convert: (amount) => new Precise(amount).times(numerator).div(denominator).toFixed(),
  };
}
