import { type TSchema, Type } from 'typebox';
import type { Exact } from './json.ts';
import { MAX_AMOUNT_DECIMALS, MAX_INTEGER_DIGITS } from './money.ts';

/** Schemas of the values that records, requests and answers are made of. */

const HEX = '[0-9a-fA-F]';

/** Patterns that several schemas use. validation.ts has the words for each. */
export const PATTERNS = {
  /**
   * An identifier that the institution's core or the service chose (docs/decisions.md, 1). `.` and `..` are excluded because a path cannot
   * name them.
   */
  id: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  uuid: `^${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}$`,
  /** A UUID of version 4 (RFC 9562, 5.4). */
  randomUuid: `^${HEX}{8}-${HEX}{4}-4${HEX}{3}-[89abAB]${HEX}{3}-${HEX}{12}$`,
  /** ISO 3166-1 alpha-2. */
  country: '^[A-Z]{2}$',
  /** ISO 4217. */
  currency: '^[A-Z]{3}$',
  /** At least one character that is not white space. */
  notBlank: '\\S',
  email: '^[^\\s@<>"]+@[^\\s@<>"]+$',
  phone: '^\\+?[0-9 ()-]{4,32}$',
  /** The head of the audit trail: position and hash. */
  head: `^[1-9]\\d{0,14}:${HEX}{64}$`,
  /** A clearing system of ISO 20022, or `SWBIC`. */
  clearingSystem: '^[A-Z]{5}$',
  /** The status of a refused request, or a class of statuses such as `4xx`. */
  refusedStatus: '^[45](\\d\\d|xx)$',
  status: '^[1-5](\\d\\d|xx)$',
  currencies: '^([A-Z]{3},?)+$',
  /** A text of one line, without control characters. */
  noControls: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
  /** A time of day, to the minute. */
  time: '^([01]\\d|2[0-3]):[0-5]\\d$',
} as const;

/** The range of an amount or a rate (money.ts). */
export interface DecimalRange {
  /** Must be above zero; by default zero is possible. */
  positive?: boolean;
  /** It may be negative. */
  signed?: boolean;
  /** Digits after the point; by default those of an amount. */
  decimals?: number;
}

/** The two forms of a decimal in the description: a number, and a text in plain notation. */
export function decimalForms({ positive = false, signed = false, decimals = MAX_AMOUNT_DECIMALS }: DecimalRange): {
  number: object;
  text: object;
} {
  const zeros = Array.from({ length: decimals }, (_, zeros) => zeros);
  const fractions = zeros.map((count) => `${'0'.repeat(count)}[1-9]\\d{0,${decimals - 1 - count}}`).join('|');
  const above = `[1-9]\\d{0,${MAX_INTEGER_DIGITS - 1}}(?:\\.\\d{1,${decimals}})?|0\\.(?:${fractions})`;
  const any = `\\d{1,${MAX_INTEGER_DIGITS}}(?:\\.\\d{1,${decimals}})?`;
  return {
    number: {
      type: 'number',
      ...(signed ? { exclusiveMinimum: -(10 ** MAX_INTEGER_DIGITS) } : { minimum: positive ? 10 ** -decimals : 0 }),
      exclusiveMaximum: 10 ** MAX_INTEGER_DIGITS,
    },
    text: { type: 'string', pattern: `^${signed ? '-?' : ''}(?:${positive ? above : any})$` },
  };
}

/**
 * An identifier that the institution's core or the service chose (docs/decisions.md, 1). `.` and `..` are excluded because a path cannot
 * name them.
 */
export const Id = (description: string) => Type.String({ pattern: PATTERNS.id, maxLength: 64, description });
/** A UUID. Once checked, it is in lower case (compilers.ts). */
export const Uuid = (description: string) => Type.String({ format: 'uuid', pattern: PATTERNS.uuid, description });
/** A UUID that names a record. Any other text is treated like an unknown UUID: there is no such record. */
export const UuidOfRecord = (description: string, options: object = {}) =>
  Type.String({ format: 'uuid', description, ...options });
/** A UUID of version 4 (RFC 9562, 5.4). */
export const RandomUuid = (description: string) =>
  Type.String({ format: 'uuid', pattern: PATTERNS.randomUuid, description });
/** A currency that a caller gives. */
export const Currency = (description = 'ISO 4217 currency') =>
  Type.String({ pattern: PATTERNS.currency, format: 'iso-4217', description });
/** A country that a caller gives. */
export const Country = (description: string) =>
  Type.String({ pattern: PATTERNS.country, format: 'iso-3166', description });
/** A currency code to search for. A code that ISO 4217 does not list finds nothing. */
export const CurrencyCode = (description: string) => Type.String({ pattern: PATTERNS.currency, description });
/** Free text. */
export const Text = (description: string, maxLength = 500) => Type.String({ minLength: 1, maxLength, description });
/** A name, by which people find a record in a list. */
export const Name = (description: string, maxLength = 500) =>
  Type.String({ minLength: 1, maxLength, pattern: PATTERNS.notBlank, description });
/** An email address. */
export const EmailAddress = (description: string) =>
  Type.String({ pattern: PATTERNS.email, maxLength: 254, description });
export const Day = (description: string) => Type.String({ format: 'date', description: `${description}, YYYY-MM-DD` });
/**
 * The form of a value in the description when the service itself checks it with words of its own: an instant, an amount, a list. The
 * validator ignores it (description/components.ts).
 */
export const formed = (form: object) => ({ 'x-form': form });
/** The most characters of an instant. No instant needs more. */
const MAX_INSTANT_LENGTH = 40;
const INSTANT = { type: 'string', format: 'date-time' };
export const Instant = (description: string) =>
  Type.String({
    maxLength: MAX_INSTANT_LENGTH,
    description: `${description}, ISO 8601 with an offset`,
    ...formed(INSTANT),
  });
/** An instant in an answer. */
export const Moment = Type.Unsafe<Date>(Type.String({ format: 'date-time' }));
/** An instant or a day. The description says how each is read. */
export const InstantOrDay = (description: string) =>
  Type.String({
    maxLength: MAX_INSTANT_LENGTH,
    description,
    ...formed({ anyOf: [INSTANT, { type: 'string', format: 'date' }] }),
  });
/** A JSON number or a decimal string; read exactly (money.ts). */
export const Decimal = (description: string, range: DecimalRange = {}) =>
  Type.Union([Type.Number(), Type.String({ maxLength: 64 })], {
    description: `${description}; a number or a decimal string, read exactly`,
    ...formed({ anyOf: Object.values(decimalForms(range)) }),
  });
/** A JSON number, read exactly (money.ts). A text is refused. */
export const DecimalNumber = (description: string, range: DecimalRange = {}) =>
  Type.Unsafe<number | string>(
    Type.Number({ description: `${description}, read exactly`, ...formed(decimalForms(range).number) }),
  );
/** A decimal in an answer: a JSON number with exactly its digits. */
export const ExactNumber = (description: string) => Type.Unsafe<Exact>(Type.Number({ description }));
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const ClientId = Type.String({
  minLength: 1,
  description: 'Client identifier, one of `clients` in the id_token',
  examples: ['CLI000001'],
});

/** For an object that has only the described fields. */
export const closed = { additionalProperties: false };
