/**
 * Facts as JSON for the templates, in which every string is printable. Control characters have no glyph. Characters that override the
 * direction of writing could make an account number or a name look different from what is stored.
 */
export function printableJson(facts: unknown): string {
  return JSON.stringify(facts, (_key, value) => (typeof value === 'string' ? printable(value) : (value ?? null)));
}

const LINE = /[\r\n\t\v\f\u2028\u2029]+/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to be removed
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]/g;

/** One line of text without control characters and overrides of direction. */
export function printable(text: string): string {
  return text.toWellFormed().replace(LINE, ' ').replace(UNPRINTABLE, '').normalize('NFC');
}
