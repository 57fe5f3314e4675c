import Big from 'big.js';
import { Type } from 'typebox';
import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import { type Db, first, type Transaction } from '../database/database.ts';
import { type Input, initially, optional, RecordKind, required, type Shown } from '../database/record.ts';
import { isCalendarDay, isTimeZone } from '../values/calendar.ts';
import { A_CURRENCY, isCurrency, minorUnits } from '../values/currencies.ts';
import { attempt, Problem, refusedBody } from '../values/errors.ts';
import { type Exact, exact } from '../values/json.ts';
import { decimal } from '../values/money.ts';
import { Currency, closed, Day, DecimalNumber, ExactNumber, Nullable, PATTERNS, Text } from '../values/schemas.ts';

/** The most digits after the point that a currency may have. */
const MAX_DECIMALS = 4;
/** The most business days from a trade to its value date. */
const MAX_CUTOFF_DAYS = 10;
const MAX_HOLIDAYS = 1_000;
/** Every week has a business day. */
const MAX_WEEKEND_DAYS = 6;
const DEFAULT_ZONE = 'Europe/London';
const SATURDAY = 6;
const SUNDAY = 7;

/** A time of day in settings. */
export const CutoffTime = (description: string) => Type.String({ pattern: PATTERNS.time, description });
/** A zone of the IANA time zone database. */
export const CutoffZone = (description: string) => Text(`${description}, of the IANA database`, 64);

const HOLIDAYS = Type.Array(
  Type.Object(
    { date: Day('Day on which it is not settled'), name: Type.Optional(Nullable(Text('Name of the day', 140))) },
    closed,
  ),
  { maxItems: MAX_HOLIDAYS },
);
const SHOWN_HOLIDAYS = Type.Array(
  Type.Object({ date: Type.String({ format: 'date' }), name: Nullable(Type.String()) }, { title: 'Holiday' }),
);
const WEEKEND = Type.Array(Type.Integer({ minimum: 1, maximum: 7 }), {
  maxItems: MAX_WEEKEND_DAYS,
  description: 'Days of the week as ISO 8601 counts: 6 is Saturday',
});
const limit = (description: string) =>
  optional(DecimalNumber(description), { shown: Nullable(ExactNumber(description)), example: null });

/** How a currency is settled and traded, as set by the institution. */
export const CURRENCY = new RecordKind({
  table: 'currencies',
  id: 'currency',
  fields: {
    currency: required(Currency(), { shown: Type.String(), fixed: true, example: 'EUR' }),
    decimals: initially(
      Type.Integer({ minimum: 0, maximum: MAX_DECIMALS, description: 'Default: those of ISO 4217' }),
      undefined,
      { shown: Type.Integer({ description: 'Digits after the point of an amount' }), example: 2 },
    ),
    cutoff_days: initially(
      Type.Integer({ minimum: 0, maximum: MAX_CUTOFF_DAYS, description: 'Business days until a spot is due' }),
      2,
      { shown: Type.Integer({ description: 'Business days until a spot is due' }), example: 2 },
    ),
    cutoff_time: optional(CutoffTime('Orders of today are taken before it'), { example: '15:30' }),
    cutoff_timezone: initially(CutoffZone('Zone of cutoff_time'), DEFAULT_ZONE, {
      shown: Type.String({ description: 'Zone of cutoff_time' }),
      example: DEFAULT_ZONE,
    }),
    weekend: initially(WEEKEND, undefined, {
      shown: Type.Array(Type.Integer()),
      example: [SATURDAY, SUNDAY],
    }),
    holidays: initially(HOLIDAYS, undefined, {
      shown: SHOWN_HOLIDAYS,
      example: [{ date: '2026-12-25', name: 'Christmas Day' }],
    }),
    minimum: limit('Smallest amount of an exchange, on both sides'),
    maximum: limit('Largest amount of an exchange, on both sides'),
  },
});
const { currency: _, ...changeable } = CURRENCY.given();
/** The properties of a body that sets a currency's settings. */
export const CURRENCY_FIELDS = changeable;
type CurrencyInput = Omit<Input<typeof CURRENCY>, 'currency'>;
/** The settings of a currency. Its amounts keep their digits. */
export type CurrencySettings = Omit<Shown<typeof CURRENCY>, 'minimum' | 'maximum'> & {
  minimum: Exact | null;
  maximum: Exact | null;
};
/** The settings as they are stored. */
export type CurrencyRow = Omit<CurrencySettings, 'minimum' | 'maximum'> & {
  minimum: string | null;
  maximum: string | null;
};

/** Selects settings as they are stored. */
export const CURRENCY_SELECT = `select ${CURRENCY.selectWithout('minimum', 'maximum')}, minimum::text as minimum, maximum::text as maximum
  from currencies`;

/** The settings of a currency for which nothing is set. */
export function defaultSettings(currency: string): CurrencySettings {
  return {
    currency,
    decimals: minorUnits(currency),
    cutoff_days: 2,
    cutoff_time: null,
    cutoff_timezone: DEFAULT_ZONE,
    weekend: [SATURDAY, SUNDAY],
    holidays: [],
    minimum: null,
    maximum: null,
  };
}

/** @param row from `CURRENCY_SELECT` */
export function settingsOf(row: CurrencyRow): CurrencySettings {
  return { ...row, minimum: exact(row.minimum), maximum: exact(row.maximum) };
}

/** Replaces the settings of a currency. @throws Problem invalid_parameter, invalid_body */
export async function setCurrency(
  tx: Transaction,
  act: Act,
  currency: string,
  input: CurrencyInput,
): Promise<CurrencySettings> {
  requireCurrency(currency);
  const settings = read(currency, input);
  const { rows } = await tx.query<CurrencyRow>(`${CURRENCY_SELECT} where currency = $1 for no key update`, [currency]);
  const row = {
    ...settings,
    holidays: JSON.stringify(settings.holidays),
    minimum: settings.minimum?.text ?? null,
    maximum: settings.maximum?.text ?? null,
  };
  const names = Object.keys(row);
  const made = first(
    await tx.query<{ created: boolean }>(
      `insert into currencies (${names.join(', ')}) values (${names.map((_name, index) => `$${index + 1}`).join(', ')})
       on conflict (currency) do update set ${names.map((name) => `${name} = excluded.${name}`).join(', ')}
       returning xmax = 0 as created`,
      Object.values(row),
    ),
  );
  const before = rows[0] && settingsOf(rows[0]);
  audit(tx, act, {
    action: made?.created ? 'create' : 'update',
    entity: 'currency',
    entityId: currency,
    // Two requests may set the currency for the first time at the same moment.
    before: made?.created ? undefined : (before ?? defaultSettings(currency)),
    after: settings,
  });
  return settings;
}

/** @throws Problem invalid_body */
function read(currency: string, { minimum, maximum, ...rest }: CurrencyInput): CurrencySettings {
  const amount = (value: typeof minimum, field: string) => exact(value == null ? null : givenDecimal(value, field));
  const settings = {
    ...defaultSettings(currency),
    ...rest,
    minimum: amount(minimum, 'minimum'),
    maximum: amount(maximum, 'maximum'),
  };
  const holidays = settings.holidays.map(({ date, name }) => ({ date, name: name ?? null }));
  refuse([
    [isTimeZone(settings.cutoff_timezone) ? -1 : 0, 'cutoff_timezone', A_ZONE],
    [holidays.findIndex(({ date }) => !isCalendarDay(date)), 'holidays[].date', A_DAY],
    [repeated(holidays.map(({ date }) => date)), 'holidays[].date', TWICE],
    [repeated(settings.weekend), 'weekend[]', TWICE],
    [isReversed(settings) ? 0 : -1, 'minimum', 'must not be above maximum'],
  ]);
  return { ...settings, holidays, weekend: settings.weekend.toSorted() };
}

function isReversed({ minimum, maximum }: Pick<CurrencySettings, 'minimum' | 'maximum'>): boolean {
  return minimum !== null && maximum !== null && new Big(minimum.text).gt(maximum.text);
}

const A_DAY = 'must be a calendar day as YYYY-MM-DD';
const TWICE = 'must not be given twice';
/** What a refusal says about an unknown zone. */
export const A_ZONE = 'must be a zone of the IANA time zone database, as Europe/London';

/** The index of the first value that equals an earlier one; -1 if there is none. */
export function repeated(values: readonly (string | number)[]): number {
  return values.findIndex((value, index) => values.indexOf(value) < index);
}

/**
 * Refuses a body for faults that its schema cannot find.
 * @param faults an entry is a fault if its index is not negative; the index goes into the brackets of the field
 * @throws Problem invalid_body with all of them
 */
export function refuse(faults: readonly [index: number, field: string, message: string][]): void {
  const found = faults.filter(([index]) => index >= 0);
  if (found.length === 0) return;
  const told = found.map(([index, field, message]) => ({ field: field.replace('[]', `[${index}]`), message }));
  throw refusedBody(told.map((fault) => ({ ...fault, code: 'invalid_format' })));
}

/** Like `decimal`, for a body whose faults are listed. @throws Problem invalid_body */
export function givenDecimal(...[value, field, options]: Parameters<typeof decimal>): string {
  const read = attempt(() => decimal(value, field, options));
  if (!(read instanceof Problem)) return read;
  throw refusedBody([{ field, message: read.fault?.message ?? read.details, code: 'invalid_format' }]);
}

/** The settings of a currency, or the default if nothing is set. @throws Problem invalid_parameter */
export async function readCurrency(db: Db, currency: string): Promise<CurrencySettings> {
  requireCurrency(currency);
  const [settings] = await readCurrencies(db, [currency]);
  return settings ?? defaultSettings(currency);
}

/** @throws Problem invalid_parameter */
function requireCurrency(currency: string): void {
  if (!isCurrency(currency)) throw new Problem('invalid_parameter', { field: 'currency', message: A_CURRENCY });
}

/** The settings of those currencies of a list that have some, in the order of their codes. Without a list, of all currencies. */
export async function readCurrencies(db: Db, currencies?: readonly string[]): Promise<CurrencySettings[]> {
  const where = currencies ? 'where currency = any($1)' : '';
  const { rows } = await db.query<CurrencyRow>(
    `${CURRENCY_SELECT} ${where} order by currency`,
    currencies && [currencies],
  );
  return rows.map(settingsOf);
}

/** The decimals of each currency: those that the institution has set, and otherwise those of ISO 4217. */
export async function decimalsOf(db: Db, currencies: readonly string[]): Promise<Map<string, number>> {
  const settings = await readCurrencies(db, currencies);
  const set = new Map(settings.map(({ currency, decimals }) => [currency, decimals]));
  return new Map(currencies.map((currency) => [currency, set.get(currency) ?? defaultSettings(currency).decimals]));
}

/** Zero in each currency, written with its decimals. Sums that start from it have as many (`sum`). */
export async function zerosOf(db: Db, currencies: readonly string[]): Promise<Map<string, string>> {
  const decimals = await decimalsOf(db, currencies);
  return new Map([...decimals].map(([currency, number]) => [currency, new Big(0).toFixed(number)]));
}
