// What a spreadsheet takes for a formula at the start of a field, also after white space and in full-width forms.
// biome-ignore lint/suspicious/noControlCharactersInRegex: a NUL before the sign is skipped by spreadsheets too
const FORMULA = /^[\s\u0000]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;

/** A text of other people as a field of a CSV file: what a spreadsheet would run as a formula gets an apostrophe in front. */
export function spreadsheetText(value: string | null | undefined): string {
  if (!value) return '';
  const formed = value.toWellFormed();
  return FORMULA.test(formed) ? `'${formed}` : formed;
}

/** Besides what RFC 4180 quotes, what separates fields where a comma is the decimal point: `ref;=1+1` would be two, one a formula. */
const QUOTED = /[",\r\n;\t|]/;

/** A line of a CSV file (RFC 4180): CRLF, quotes doubled. */
export function csvLine(fields: readonly string[]): string {
  return `${fields.map((field) => (QUOTED.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',')}\r\n`;
}
