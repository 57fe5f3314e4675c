/** The languages of pages, mails and text messages. */
export const LANGUAGES = ['en', 'de', 'fr', 'es'] as const;
export type Language = (typeof LANGUAGES)[number];

/**
 * The language of a page: the first supported one of `ui_locales` (OpenID Connect Core, 3.1.2.1), then the best of Accept-Language,
 * then English.
 */
export function languageOf(uiLocales: string | undefined, acceptLanguage: string | undefined): Language {
  const wanted = (uiLocales ?? '').split(' ');
  const accepted = (acceptLanguage ?? '')
    .slice(0, 500)
    .split(',')
    .map((item, place) => {
      const [tag = '', ...parameters] = item.trim().split(';');
      const quality = parameters
        .map((text) => /^\s*q=([0-9.]+)\s*$/.exec(text)?.[1])
        .find((text) => text !== undefined);
      return { tag, quality: quality === undefined ? 1 : Number(quality), place };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality || a.place - b.place)
    .map(({ tag }) => tag);
  for (const tag of [...wanted, ...accepted]) {
    const primary = tag.toLowerCase().split('-')[0] ?? '';
    const language = LANGUAGES.find((each) => each === primary);
    if (language) return language;
  }
  return 'en';
}
