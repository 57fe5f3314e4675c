import { Problem } from './errors.ts';

/** The most items that a list in a query may have. */
export const MAX_LIST_ITEMS = 1_000;

/** The kind of items that a list has. */
interface Items {
  fits(item: string): boolean;
  /** In words, for example `currencies of three capital letters`. */
  words: string;
}

/** Currency codes to search for. A code that ISO 4217 does not list finds nothing. */
export const CURRENCIES: Items = {
  fits: (item) => /^[A-Z]{3}$/.test(item),
  words: 'currencies of three capital letters',
};

/** Items from a closed list of words. */
export const oneOf = (words: readonly string[]): Items => ({
  fits: (item) => words.includes(item),
  words: words.join(', '),
});

/**
 * The items of a comma-separated parameter, without duplicates and surrounding blanks.
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
