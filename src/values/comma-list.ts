import { Problem } from './errors.ts';

/** Items of a list in a query. */
export const MAX_LIST_ITEMS = 1_000;

/** What the items of a list are. */
interface Items {
  fits(item: string): boolean;
  /** In words, as `currencies of three capital letters`. */
  words: string;
}

/** Codes that are looked for: one that ISO 4217 does not list finds nothing. */
export const CURRENCIES: Items = {
  fits: (item) => /^[A-Z]{3}$/.test(item),
  words: 'currencies of three capital letters',
};

/** Items that are words of a closed list. */
export const oneOf = (words: readonly string[]): Items => ({
  fits: (item) => words.includes(item),
  words: words.join(', '),
});

/**
 * The items of a comma-separated parameter, each once, without blanks around them.
 * @throws Problem invalid_parameter
 */
export function commaList(input: string | undefined, name: string, { fits, words }: Items): string[] | undefined {
  if (input === undefined) return undefined;
  const refuse = (message: string) => new Problem('invalid_parameter', { field: name, message });
  if (input.includes('\0')) throw refuse('must not contain a NUL character');
  const items = input.split(',').map((item) => item.trim());
  if (items.length > MAX_LIST_ITEMS) throw refuse(`must have at most ${MAX_LIST_ITEMS} items`);
  if (items.some((item) => item === '' || !fits(item)))
    throw refuse(`must be a comma-separated list of ${words}, none of them empty`);
  return [...new Set(items)];
}
