import type { TextKey } from '../../texts/keys.ts';
import { useText } from '../../texts/text.tsx';

/**
 * A function that says a code of the service in the person's language. A code that has no words is shown as it is.
 * @param of the list that the code is of, where it has words of its own there
 */
export function useWord(of?: string): (code: string) => string {
  const word = useWordOf();
  return (code) => word(code, of);
}

/** As `useWord`, for codes of several lists. */
export function useWordOf(): (code: string, of?: string) => string {
  const t = useText();
  const said = (name: string) => {
    const key = `console.word.${name.toLowerCase().replace(/\W+/g, '_')}`;
    const words = t(key as TextKey);
    return words === key ? undefined : words;
  };
  return (code, of) => (of === undefined ? undefined : said(`${of}_${code}`)) ?? said(code) ?? code;
}

/** Several codes, with commas between. @param of as of `useWord` */
export function useWords(of?: string): (codes: readonly string[]) => string {
  const word = useWord(of);
  return (codes) => codes.map(word).join(', ');
}
