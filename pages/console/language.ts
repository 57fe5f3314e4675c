import { LANGUAGES, type Language } from '../texts/text.tsx';

const KEY = 'lombard.language';

/** The institution's provider reports no language, so the browser keeps the chosen one. */
export function applyLanguage(): void {
  const kept = LANGUAGES.find((each) => each === localStorage.getItem(KEY));
  if (kept) document.documentElement.lang = kept;
}

export function setLanguage(language: Language): void {
  localStorage.setItem(KEY, language);
  location.reload();
}
