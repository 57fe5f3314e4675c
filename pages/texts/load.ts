import type { Language, Messages } from './text.tsx';

/** Files of texts by path; each one is fetched on request. */
export type TextFiles = Record<string, () => Promise<Messages>>;

/** The texts of an application in one language. The build puts them all into one file. */
export async function loadTexts(files: TextFiles, language: Language): Promise<Messages> {
  const wanted = Object.entries(files).filter(([path]) => path.includes(`/${language}/`));
  return Object.assign({}, ...(await Promise.all(wanted.map(([, load]) => load()))));
}
