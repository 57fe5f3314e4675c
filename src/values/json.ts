import { messageOf, present } from './unknown.ts';

/**
 * JSON without loss. `JSON.parse` turns `12345678901234567.89` into a double. This parser remembers the digits of each number that a double
 * would print differently. If a schema takes a decimal, http/schemas/validation.ts puts the digits in its place, and money.ts reads both.
 * Everywhere else a number stays a number: `60.0` is the integer 60, and `1.0` is never a text.
 */

declare global {
  /** Node has these members; TypeScript's libraries do not yet declare them (the proposal "JSON.parse source text access"). */
  interface JSON {
    parse(
      text: string,
      reviver: (this: object, key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
    rawJSON(text: string): object;
    isRawJSON(value: unknown): boolean;
  }
}

/** The digits of the numbers of a document, by the object or list that holds them and their name in it. */
export type WrittenDigits = ReadonlyMap<object, ReadonlyMap<string, string>>;

const documents = new WeakMap<object, WrittenDigits>();

/** The most values of a document: several times the values of the largest file of payments. */
const MAX_VALUES = 300_000;

/** The deepest document that is parsed at once. The reviver refuses documents that are too deep for the code that uses them. */
const MAX_DEPTH = 500;

/** A document with more than MAX_VALUES values. Millions of empty ones would take seconds. */
export class TooManyValues extends Error {
  override readonly name = 'TooManyValues';
  constructor() {
    super(`must have at most ${MAX_VALUES} values`);
  }
}

/**
 * Parses a JSON text.
 * @param text a JSON document; a key `__proto__` or a `constructor` with a `prototype` is refused
 * @returns the value; `writtenDigits` has the numbers that a double does not print as they were written
 * @throws SyntaxError, TooManyValues
 */
export function parseJson(text: string): unknown {
  const clean = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  if (isPlain(clean)) return JSON.parse(clean);
  const digits = new Map<object, Map<string, string>>();
  function revive(this: object, key: string, value: unknown, context: { source?: string }): unknown {
    if (key === '__proto__') throw new SyntaxError('the key __proto__ is not allowed');
    if (typeof value === 'number' && context.source !== undefined && String(value) !== context.source) {
      const held = digits.get(this);
      if (held) held.set(key, context.source);
      else digits.set(this, new Map([[key, context.source]]));
    }
    return value;
  }
  const document = JSON.parse(clean, revive);
  if (digits.size > 0 && typeof document === 'object' && document !== null) documents.set(document, digits);
  return document;
}

const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const ZERO = 48;
const NINE = 57;
const OPENING = [91, 123];
const CLOSING = [93, 125];
const NUMBER = /-?[0-9.eE+-]*/y;

/**
 * Scans a JSON text without parsing it, which takes a tenth of the time that checking each value takes.
 * @returns whether each number prints as it was written, and no key can be `__proto__`
 * @throws TooManyValues
 */
function isPlain(text: string): boolean {
  let plain = !text.includes('__proto__') && !text.includes('\\u');
  let values = 1;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfText(text, at);
    else if (code === COMMA) values += 1;
    else if (OPENING.includes(code)) {
      values += 1;
      depth += 1;
      plain &&= depth <= MAX_DEPTH;
    } else if (CLOSING.includes(code)) depth -= 1;
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      NUMBER.lastIndex = at;
      const [written = ''] = NUMBER.exec(text) ?? [];
      plain &&= String(Number(written)) === written;
      at += written.length - 1;
    }
    if (values > MAX_VALUES) throw new TooManyValues();
  }
  return plain;
}

/** The position of the quote that ends a text; the end of the document if there is none. */
function endOfText(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}

/** The most characters of a parser's message that a refusal quotes. */
const MAX_QUOTED_LENGTH = 120;

/**
 * Says what is wrong with a text that `parseJson` or `JSON.parse` refused. It leaves out the part of the text that V8 quotes. That part may
 * contain bank details or passwords, and refusals are logged.
 */
export function jsonFault(error: unknown): string {
  const message = messageOf(error);
  if (!message.endsWith(' is not valid JSON')) return message.slice(0, MAX_QUOTED_LENGTH);
  return message.startsWith('"') ? 'unexpected text' : present(message.split(', ', 1)[0]);
}

/** The digits of a document that `parseJson` returned; undefined if every number prints as it was written. */
export function writtenDigits(document: unknown): WrittenDigits | undefined {
  return typeof document === 'object' && document !== null ? documents.get(document) : undefined;
}

/** A number that `JSON.stringify` writes with exactly the digits of its text. */
export class Exact {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toJSON(): unknown {
    return JSON.rawJSON(this.text);
  }
}

/** A stored decimal as a JSON number with exactly its digits; null stays null (docs/decisions.md, 1, Money). */
export function exact(amount: string | null): Exact | null {
  return amount === null ? null : new Exact(amount);
}

/** A reviver: `JSON.stringify` writes the numbers of the parsed document with exactly their digits. */
export function keepDigits(_key: string, value: unknown, context: { source?: string }): unknown {
  return typeof value === 'number' && context.source !== undefined ? JSON.rawJSON(context.source) : value;
}
