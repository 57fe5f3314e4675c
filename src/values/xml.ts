/** Writes the XML messages of the service. Element names are constants, so only contents are escaped. */

/** @param content XML, escaped already */
export const element = (name: string, content: string): string => `<${name}>${content}</${name}>`;

/** An element with a text of at most `max` characters; empty if there is no text. */
export function optional(name: string, value: string | null | undefined, max: number): string {
  return value ? element(name, text(value, max)) : '';
}

/** Text of at most `max` characters, safe in XML. A longer one ends in an ellipsis. */
export function text(value: string, max: number): string {
  const characters = [...value];
  return escaped(characters.length <= max ? value : `${characters.slice(0, max - 1).join('')}…`);
}

/** Text cut into pieces of `max` characters, safe in XML. */
export function pieces(value: string | null, max: number): string[] {
  const characters = [...(value ?? '')];
  return Array.from({ length: Math.ceil(characters.length / max) }, (_, index) =>
    escaped(characters.slice(index * max, (index + 1) * max).join('')),
  );
}

// XML 1.0, 2.2: a character that is not a Char cannot be written, not even as a reference.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to be replaced
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\r': '&#13;' };

function escaped(value: string): string {
  return value
    .toWellFormed()
    .replace(NOT_XML, '\ufffd')
    .replace(/[&<>"\r]/g, (character) => ENTITIES[character]!);
}
