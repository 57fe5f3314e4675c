/**
 * Texts that can be stored and answered. PostgreSQL's text cannot hold NUL, and UTF-8 cannot hold a surrogate without its partner.
 */

/** What a refusal says of a text that is not storable. */
export const NOT_STORABLE = 'must not contain a NUL character or a lone surrogate';

export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/**
 * Looks for a text that cannot be stored, names of fields included.
 * @param path of the value, as `body`
 * @returns the path of the text, or of the object that has the name; undefined if every text can be stored
 */
export function findUnstorable(value: unknown, path: string): string | undefined {
  if (typeof value === 'string') return isStorable(value) ? undefined : path;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    if (!isStorable(name)) return path;
    const found = findUnstorable(inner, Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
