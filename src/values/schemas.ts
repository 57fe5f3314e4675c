import { type TSchema, Type } from 'typebox';
import type { Exact } from './json.ts';
import { MAX_AMOUNT_DECIMALS, MAX_INTEGER_DIGITS } from './money.ts';

/** Schemas of the values that records, requests and answers are made of. */

const HEX = '[0-9a-fA-F]';

/** The forms of texts that several schemas ask for. validation.ts has the words for each. */
export const PATTERNS = {
  /** An identifier that the institution's core chose, or the service (docs/decisions.md, 1). A path cannot name `.` and `..`. */
  id: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  uuid: `^${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}$`,
  /** Version 4 (RFC 9562, 5.4). */
  randomUuid: `^${HEX}{8}-${HEX}{4}-4${HEX}{3}-[89abAB]${HEX}{3}-${HEX}{12}$`,
  /** ISO 3166-1 alpha-2. */
  country: '^[A-Z]{2}$',
  /** ISO 4217. */
  currency: '^[A-Z]{3}$',
  /** Something to read. */
  notBlank: '\\S',
  email: '^[^\\s@<>"]+@[^\\s@<>"]+$',
  phone: '^\\+?[0-9 ()-]{4,32}$',
  /** Of the audit trail: position and hash. */
  head: `^[1-9]\\d{0,14}:${HEX}{64}$`,
  /** Or `SWBIC`. */
  clearingSystem: '^[A-Z]{5}$',
  /** Of a refused request, or a class of statuses. */
  refusedStatus: '^[45](\\d\\d|xx)$',
  status: '^[1-5](\\d\\d|xx)$',
  currencies: '^([A-Z]{3},?)+$',
  /** A text of one line. */
  noControls: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
  /** Of the day, to the minute. */
  time: '^([01]\\d|2[0-3]):[0-5]\\d$',
} as const;

/** What an amount or a rate may be (money.ts). */
export interface DecimalRange {
  /** Above zero; otherwise zero is possible. */
  positive?: boolean;
  /** It may be negative. */
  signed?: boolean;
  /** Digits after the point; default: those of an amount. */
  decimals?: number;
}

/** A decimal as the description shows it: as a number, and as a text in plain notation. */
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

/** An identifier that the institution's core chose, or the service (docs/decisions.md, 1). A path cannot name `.` and `..`. */
export const Id = (description: string) => Type.String({ pattern: PATTERNS.id, maxLength: 64, description });
/** A UUID, in lower case once it has been checked (compilers.ts). */
export const Uuid = (description: string) => Type.String({ format: 'uuid', pattern: PATTERNS.uuid, description });
/** A UUID that names a record. Another text names none, as an unknown UUID does. */
export const UuidOfRecord = (description: string, options: object = {}) =>
  Type.String({ format: 'uuid', description, ...options });
/** Version 4 (RFC 9562, 5.4). */
export const RandomUuid = (description: string) =>
  Type.String({ format: 'uuid', pattern: PATTERNS.randomUuid, description });
/** A currency that a caller gives. */
export const Currency = (description = 'ISO 4217 currency') =>
  Type.String({ pattern: PATTERNS.currency, format: 'iso-4217', description });
/** A country that a caller gives. */
export const Country = (description: string) =>
  Type.String({ pattern: PATTERNS.country, format: 'iso-3166', description });
/** The code of a currency that is looked for. One that ISO 4217 does not list finds nothing. */
export const CurrencyCode = (description: string) => Type.String({ pattern: PATTERNS.currency, description });
/** Free text. */
export const Text = (description: string, maxLength = 500) => Type.String({ minLength: 1, maxLength, description });
/** A name, which somebody looks for in a list. */
export const Name = (description: string, maxLength = 500) =>
  Type.String({ minLength: 1, maxLength, pattern: PATTERNS.notBlank, description });
/** Where somebody gets mail. */
export const EmailAddress = (description: string) =>
  Type.String({ pattern: PATTERNS.email, maxLength: 254, description });
export const Day = (description: string) => Type.String({ format: 'date', description: `${description}, YYYY-MM-DD` });
/**
 * The form of a value in the description, where the service itself checks it, with words of its own: an instant, an amount, a list. The
 * validator does not look at it (description/components.ts).
 */
export const formed = (form: object) => ({ 'x-form': form });
/** Characters of an instant; no instant needs so many. */
const MAX_INSTANT_LENGTH = 40;
const INSTANT = { type: 'string', format: 'date-time' };
export const Instant = (description: string) =>
  Type.String({
    maxLength: MAX_INSTANT_LENGTH,
    description: `${description}, ISO 8601 with an offset`,
    ...formed(INSTANT),
  });
/** An instant of an answer. */
export const Moment = Type.Unsafe<Date>(Type.String({ format: 'date-time' }));
/** An instant, or a day, which the description says how to read. */
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
/** A JSON number, read exactly (money.ts): a text is none. */
export const DecimalNumber = (description: string, range: DecimalRange = {}) =>
  Type.Unsafe<number | string>(
    Type.Number({ description: `${description}, read exactly`, ...formed(decimalForms(range).number) }),
  );
/** A decimal of an answer: a JSON number with exactly its digits. */
export const ExactNumber = (description: string) => Type.Unsafe<Exact>(Type.Number({ description }));
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const ClientId = Type.String({
  minLength: 1,
  description: 'Client identifier, one of `clients` in the id_token',
  examples: ['CLI000001'],
});

/** For an object that has no fields other than the described ones. */
export const closed = { additionalProperties: false };
