/**
 * JSON without loss. `JSON.parse` turns `12345678901234567.89` into a double. Here a number whose double does not print as it was
 * written becomes its source text, and money.ts reads both.
 */

/**
 * Parses a JSON text.
 * @param text a JSON document; a key `__proto__` or a `constructor` with a `prototype` is refused
 * @returns the value; numbers that a double cannot represent as written become strings with their source text
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  const clean = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  return JSON.parse(clean, reviveExactly as Parameters<typeof JSON.parse>[1]);
}

function reviveExactly(key: string, value: unknown, context: { source?: string }): unknown {
  if (key === '__proto__') throw new SyntaxError('the key __proto__ is not allowed');
  if (typeof value === 'number' && context.source !== undefined && String(value) !== context.source)
    return context.source;
  return value;
}

/** A number that `JSON.stringify` writes with exactly the digits of its text. */
export class Exact {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toJSON(): unknown {
    return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(this.text);
  }
}

/** A stored decimal as a JSON number with exactly its digits; null stays null (docs/decisions.md, 1, Money). */
export function exact(amount: string | null): Exact | null {
  return amount === null ? null : new Exact(amount);
}
