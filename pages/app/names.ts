import type { Language } from '../texts/text.tsx';

/** Country codes with their names in the person's language, sorted by name. */
export function countryNames(codes: readonly string[], language: Language): [string, string][] {
  return named(codes, language, 'region').sort(([, one], [, other]) => one.localeCompare(other, language));
}

/** Currency codes with their names, such as `EUR · Euro`. The code comes first, because people look for it. */
export function currencyNames(codes: readonly string[], language: Language): [string, string][] {
  return named([...new Set(codes)].sort(), language, 'currency').map(([code, name]) => [code, `${code} · ${name}`]);
}

/** The name of a currency, such as `Euro`. */
export function currencyName(code: string, language: Language): string {
  return named([code], language, 'currency')[0]?.[1] ?? code;
}

function named(codes: readonly string[], language: Language, type: 'region' | 'currency'): [string, string][] {
  const names = new Intl.DisplayNames(language, { type });
  return codes.map((code) => [code, names.of(code) ?? code]);
}
