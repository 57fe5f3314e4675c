/** HTML in which values are escaped. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** The template tag of all pages. It escapes every value that is not Html itself. False, null and undefined result in nothing. */
export function html(
  parts: TemplateStringsArray,
  ...values: (string | Html | Html[] | false | null | undefined)[]
): Html {
  return new Html(parts.reduce((text, part, index) => text + piece(values[index - 1]) + part));
}

function piece(value: string | Html | Html[] | false | null | undefined): string {
  if (value === undefined || value === null || value === false) return '';
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(piece).join('');
  return value.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}
