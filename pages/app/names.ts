import type { Language } from '../texts/text.tsx';

/** Countries by their code, with their name in the person's language, in the order of the names. */
export function countryNames(codes: readonly string[], language: Language): [string, string][] {
  return named(codes, language, 'region').sort(([, one], [, other]) => one.localeCompare(other, language));
}

/** Currencies by their code, `EUR · Euro`. The code leads: people look for it. */
export function currencyNames(codes: readonly string[], language: Language): [string, string][] {
  return named([...new Set(codes)].sort(), language, 'currency').map(([code, name]) => [code, `${code} · ${name}`]);
}

function named(codes: readonly string[], language: Language, type: 'region' | 'currency'): [string, string][] {
  const names = new Intl.DisplayNames(language, { type });
  return codes.map((code) => [code, names.of(code) ?? code]);
}
