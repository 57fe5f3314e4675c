import { MAX_AMOUNT_DECIMALS, MAX_INTEGER_DIGITS } from '../../values/money.ts';

const HEX = '[0-9a-fA-F]';

/** The forms of texts that several schemas ask for. validation.ts has the words for each. */
export const PATTERNS = {
  /** An identifier that the institution's core chose, or the service (docs/decisions.md, 1). A path cannot name `.` and `..`. */
  id: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  uuid: `^${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}$`,
  /** Version 4 (RFC 9562, 5.4). */
  randomUuid: `^${HEX}{8}-${HEX}{4}-4${HEX}{3}-[89abAB]${HEX}{3}-${HEX}{12}$`,
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
} as const;

/** What an amount or a rate may be (money.ts). */
export interface DecimalRange {
  /** Above zero; otherwise zero is possible. */
  positive?: boolean;
  /** Digits after the point; default: those of an amount. */
  decimals?: number;
}

/** A decimal as the description shows it: as a number, and as a text in plain notation. Neither is ever negative. */
export function decimalForms({ positive = false, decimals = MAX_AMOUNT_DECIMALS }: DecimalRange): {
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
      minimum: positive ? 10 ** -decimals : 0,
      exclusiveMaximum: 10 ** MAX_INTEGER_DIGITS,
    },
    text: { type: 'string', pattern: `^(?:${positive ? above : any})$` },
  };
}
