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
  // A list of what is left to look at: a caller can nest values deeper than the call stack goes.
  const left = [{ value, path }];
  for (let next = left.pop(); next; next = left.pop()) {
    const { value: found, path: at } = next;
    if (typeof found === 'string' && !isStorable(found)) return at;
    if (typeof found !== 'object' || found === null) continue;
    const entries = Object.entries(found);
    if (entries.some(([name]) => !isStorable(name))) return at;
    for (const [name, inner] of entries.reverse())
      left.push({ value: inner, path: Array.isArray(found) ? `${at}[${name}]` : `${at}.${name}` });
  }
  return undefined;
}
