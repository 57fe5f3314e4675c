import type { Language, Messages } from './text.tsx';

/** Files of texts by their path; each is fetched when it is asked for. */
export type TextFiles = Record<string, () => Promise<Messages>>;

/** The texts of an application in one language: all of them come in one file of the build. */
export async function loadTexts(files: TextFiles, language: Language): Promise<Messages> {
  const wanted = Object.entries(files).filter(([path]) => path.includes(`/${language}/`));
  return Object.assign({}, ...(await Promise.all(wanted.map(([, load]) => load()))));
}
