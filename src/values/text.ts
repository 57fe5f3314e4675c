/** Texts that can be stored and sent. PostgreSQL's text cannot hold NUL, and UTF-8 cannot hold a surrogate without its partner. */

/** What a refusal says about a text that cannot be stored. */
export const NOT_STORABLE = 'must not contain a NUL character or a lone surrogate';

export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** The most digits in a field name that a refusal repeats; an account number has more. */
const MAX_NAME_DIGITS = 4;

/** A caller's field name in the form that a refusal repeats. If it could be a bank detail, its digits are hidden. */
export function shownName(name: string): string {
  return (name.match(/\p{Nd}/gu)?.length ?? 0) > MAX_NAME_DIGITS ? name.replace(/\p{Nd}/gu, '*') : name;
}

/** Whether the number of characters (code points) of a text is in a range. Characters of a far too long text are not counted. */
export function hasCharacters(text: string, { least = 0, most }: { least?: number; most: number }): boolean {
  if (text.length > 2 * most) return false;
  const { length } = [...text];
  return length >= least && length <= most;
}

/**
 * Looks for texts that cannot be stored. It also checks the names of fields.
 * @param path of the value, for example `body`
 * @returns the path of each text, or of the object that has the name, in their order
 */
export function* unstorableIn(value: unknown, path: string): Generator<string> {
  // A list of what is left to check. A caller can nest values deeper than the call stack allows.
  const left = [{ value, path }];
  for (let next = left.pop(); next; next = left.pop()) {
    const { value: found, path: at } = next;
    if (typeof found === 'string' && !isStorable(found)) yield at;
    if (typeof found !== 'object' || found === null) continue;
    const entries = Object.entries(found);
    if (entries.some(([name]) => !isStorable(name))) yield at;
    for (const [name, inner] of entries.reverse())
      left.push({ value: inner, path: Array.isArray(found) ? `${at}[${name}]` : `${at}.${shownName(name)}` });
  }
}

/** The path of the first text that cannot be stored; undefined if every text can be stored. */
export function findUnstorable(value: unknown, path: string): string | undefined {
  const [first] = unstorableIn(value, path);
  return first;
}

/**
 * Facts as JSON for the templates, with every string made printable. Control characters have no glyph. Characters that override the
 * direction of writing could make an account number or a name look different from what is stored.
 */
export function printableJson(facts: unknown): string {
  return JSON.stringify(facts, (_key, value) => (typeof value === 'string' ? printable(value) : (value ?? null)));
}

const LINE = /[\r\n\t\v\f\u2028\u2029]+/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to be removed
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]/g;

/** One line of text without control characters and direction overrides. */
export function printable(text: string): string {
  return text.toWellFormed().replace(LINE, ' ').replace(UNPRINTABLE, '').normalize('NFC');
}

// What a spreadsheet takes for a formula at the start of a field, also after white space and in full-width forms.
// biome-ignore lint/suspicious/noControlCharactersInRegex: a NUL before the sign is skipped by spreadsheets too
const FORMULA = /^[\s\u0000]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;

/** A foreign text as a field of a CSV file. If a spreadsheet would run it as a formula, it gets an apostrophe in front. */
export function spreadsheetText(value: string | null | undefined): string {
  if (!value) return '';
  const formed = value.toWellFormed();
  return FORMULA.test(formed) ? `'${formed}` : formed;
}

/**
 * Besides the characters that RFC 4180 quotes, it quotes separators of locales with a decimal comma. Otherwise `ref;=1+1` would be two
 * fields, one of them a formula.
 */
const QUOTED = /[",\r\n;\t|]/;

/** A line of a CSV file (RFC 4180): CRLF, quotes doubled. */
export function csvLine(fields: readonly string[]): string {
  return `${fields.map((field) => (QUOTED.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',')}\r\n`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes a text for HTML. */
export function inHtml(value: string): string {
  return value.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
