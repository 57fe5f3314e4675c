/**
 * In the API, amounts are JSON numbers with up to 26 digits. A JavaScript number keeps 15, and no trailing zeros. A number that would print
 * differently keeps its text under a symbol of the object that holds it: `decimal` reads the text, and `stringify` writes it. If digits
 * would be lost, a copy (`{...payment}`) keeps the text too. If only trailing zeros would be lost, the text is hidden: the object equals
 * the one that `JSON.parse` makes.
 */

/** Registered globally, so that the ESM and CommonJS builds of the package recognise each other's objects. */
const DIGITS = Symbol.for('lombard-sdk.digits');

type Holder = object & { [DIGITS]?: Record<string, string> };

/** Every decimal with at most this many digits is the shortest text of its number (DBL_DIG of IEEE 754's binary64). */
const SAFE_DIGITS = 15;
/** A JSON number that may print differently than it is written. A false match, for example inside a string, only costs time. */
const OTHERWISE = /[:[,\s]-?(?:[\d.]{16,}|[\d.]+[eE]|\d+\.\d*0(?!\d)|0\.0{6})/;
const TOKEN = /\s*([{}[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}[\],:"]+)/y;
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** The keys of an object whose values are numbers. */
export type NumberKey<T> = { [K in keyof T]-?: T[K] extends number | null | undefined ? K : never }[keyof T];

/**
 * The exact decimal text of a number from the service, in plain notation with the digits that were sent: `decimal(payment, 'amount')` is
 * `726.20`. Pass it to a decimal library: a JavaScript number is not a type for money.
 * @param holder an object of an answer or of a notification; a copy made with `{...}` loses trailing zeros, and nothing else
 * @returns null if the value is null
 * @throws TypeError if the value is not a number; RangeError if the holder is not as the SDK read it and digits may be lost
 */
export function decimal<T extends object, K extends NumberKey<T>>(
  holder: T,
  key: K,
): null extends T[K] ? string | null : string;
export function decimal(holder: Holder, key: string): string | null {
  const value = (holder as Record<string, unknown>)[key];
  if (value === null) return null;
  if (typeof value !== 'number') throw new TypeError(`${key}: is not a number`);
  const kept = keptDigits(holder, key, value);
  if (kept !== undefined) return plain(kept);
  const text = plain(String(value));
  if (significantDigits(text) > SAFE_DIGITS) {
    throw new RangeError(`${key}: has more digits than a number keeps, and its text was lost on the way here`);
  }
  return text;
}

/** Parses JSON like `JSON.parse`, and keeps the digits of its numbers for `decimal` and `stringify`. */
export function parse(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return OTHERWISE.test(text) ? parseExactly(text) : value;
}

/**
 * Writes JSON like `JSON.stringify`. Numbers from an answer, a notification or `parse` are written with their original digits.
 * @param space as in `JSON.stringify`: the indentation
 */
export function stringify(value: unknown, space?: number): string {
  // A text in the value must not begin like this: it would become a number.
  const mark = `\0${Math.random()}:`;
  const write = function (this: Holder, key: string, member: unknown) {
    const kept = typeof member === 'number' ? keptDigits(this, key, member) : undefined;
    return kept === undefined ? member : mark + kept;
  };
  const [head = '', ...marked] = JSON.stringify(value, write, space).split(JSON.stringify(mark).slice(0, -1));
  return head + marked.map((rest) => rest.replace('"', '')).join('');
}

/** The text that a number was read from, unless the number has been changed since. */
function keptDigits(holder: Holder, key: string, value: number): string | undefined {
  const text = holder[DIGITS]?.[key];
  return text !== undefined && Number(text) === value ? text : undefined;
}

/** @param text was parsed before, so that its syntax is correct */
function parseExactly(text: string): unknown {
  const tokens = new RegExp(TOKEN);
  const next = () => tokens.exec(text)?.[1] as string;
  const read = (token: string): unknown => {
    if (token === '{' || token === '[') return members(token);
    return JSON.parse(token);
  };
  const members = (open: string) => {
    const entries: [string, unknown][] = [];
    const digits: Record<string, string> = {};
    let isLossy = false;
    for (let token = next(); token !== '}' && token !== ']'; token = next()) {
      let member = token === ',' ? next() : token;
      let key = String(entries.length);
      if (open === '{') {
        key = JSON.parse(member);
        next();
        member = next();
      }
      const value = read(member);
      if (typeof value === 'number' && (String(value) !== member || isLong(member, value))) {
        digits[key] = member;
        isLossy ||= isLong(member, value);
      }
      entries.push([key, value]);
    }
    const made: Holder = open === '{' ? Object.fromEntries(entries) : entries.map(([, value]) => value);
    if (Object.keys(digits).length > 0)
      Object.defineProperty(made, DIGITS, { value: digits, enumerable: isLossy, writable: true, configurable: true });
    return made;
  };
  return read(next());
}

/** Whether the text of a number says more than its JavaScript number. */
function isLong(text: string, value: number): boolean {
  const short = withoutZeros(plain(text));
  return significantDigits(short) > SAFE_DIGITS || plain(String(value)) !== short;
}

/** A plain decimal text without trailing zeros in its fraction. */
function withoutZeros(plainText: string): string {
  if (!plainText.includes('.')) return plainText;
  let end = plainText.length;
  while (plainText[end - 1] === '0') end -= 1;
  return plainText.slice(0, plainText[end - 1] === '.' ? end - 1 : end);
}

function significantDigits(plainText: string): number {
  return plainText.replace(/\D/g, '').replace(/^0+/, '').length;
}

/** The text of a number without exponent and leading zeros. */
function plain(text: string): string {
  const found = NUMBER.exec(text);
  if (!found) return text;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = found;
  const point = whole.length + Number(exponent);
  const shifted = (whole + fraction)
    .padStart(whole.length + fraction.length - Math.min(0, point), '0')
    .padEnd(point, '0');
  const place = Math.max(0, point);
  const integer = shifted.slice(0, place).replace(/^0+(?=\d)/, '') || '0';
  const rest = shifted.slice(place);
  return `${sign}${integer}${rest === '' ? '' : `.${rest}`}`;
}
