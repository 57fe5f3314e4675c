/**
 * Amounts are JSON numbers on the wire, with up to 26 digits; a JavaScript number keeps 15, and no zeros at the end. Numbers that
 * would print otherwise than they were sent leave their text beside them, under a symbol of the object that holds them: `decimal`
 * reads it, and `stringify` writes it. Where digits would be lost, a copy (`{...payment}`) keeps it too. Where only zeros at the end
 * would be, nothing else sees it: the object is equal to what `JSON.parse` makes.
 */

/** Registered, so that the package's ESM and CommonJS builds know each other's objects. */
const DIGITS = Symbol.for('lombard-sdk.digits');

type Holder = object & { [DIGITS]?: Record<string, string> };

/** Every decimal of so many digits is the shortest text of its number (DBL_DIG of IEEE 754's binary64). */
const SAFE_DIGITS = 15;
/** A number in JSON that may print otherwise than it is written; what it finds in a text only costs time. */
const OTHERWISE = /[:[,\s]-?(?:[\d.]{16,}|[\d.]+[eE]|\d+\.\d*0(?!\d)|0\.0{6})/;
const TOKEN = /\s*([{}[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}[\],:"]+)/y;
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** The keys of an object whose values are numbers. */
export type NumberKey<T> = { [K in keyof T]-?: T[K] extends number | null | undefined ? K : never }[keyof T];

/**
 * The exact decimal text of a number that the service sent, in plain notation with the digits that were sent: `decimal(payment,
 * 'amount')` is `726.20`. Give it to a decimal library; a JavaScript number is no type for money.
 * @param holder an object of an answer or of a notification; a copy made with `{...}` has lost zeros at the end, and nothing else
 * @returns null where the value is null
 * @throws TypeError where the value is not a number; RangeError where the holder is not as the SDK read it and digits may be lost
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

/** Parses JSON as `JSON.parse` does, and keeps the digits of its numbers for `decimal` and `stringify`. */
export function parse(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return OTHERWISE.test(text) ? parseExactly(text) : value;
}

/**
 * Writes JSON as `JSON.stringify` does; numbers of an answer, of a notification or of `parse` are written with the digits they had.
 * @param space as of `JSON.stringify`: characters of an indentation
 */
export function stringify(value: unknown, space?: number): string {
  // No text that somebody has written begins so: it would become a number.
  const mark = `\0${Math.random()}:`;
  const write = function (this: Holder, key: string, member: unknown) {
    const kept = typeof member === 'number' ? keptDigits(this, key, member) : undefined;
    return kept === undefined ? member : mark + kept;
  };
  const [head = '', ...marked] = JSON.stringify(value, write, space).split(JSON.stringify(mark).slice(0, -1));
  return head + marked.map((rest) => rest.replace('"', '')).join('');
}

/** The text that a number was read from, unless it has been changed since. */
function keptDigits(holder: Holder, key: string, value: number): string | undefined {
  const text = holder[DIGITS]?.[key];
  return text !== undefined && Number(text) === value ? text : undefined;
}

/** @param text has been parsed before: its syntax is right */
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

/** Whether a number is more than its JavaScript number says. */
function isLong(text: string, value: number): boolean {
  const short = withoutZeros(plain(text));
  return significantDigits(short) > SAFE_DIGITS || plain(String(value)) !== short;
}

/** A plain text without zeros at the end of its fraction. */
function withoutZeros(plainText: string): string {
  if (!plainText.includes('.')) return plainText;
  let end = plainText.length;
  while (plainText[end - 1] === '0') end -= 1;
  return plainText.slice(0, plainText[end - 1] === '.' ? end - 1 : end);
}

function significantDigits(plainText: string): number {
  return plainText.replace(/\D/g, '').replace(/^0+/, '').length;
}

/** A number's text without exponent and without zeros in front. */
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
