import { capitalised } from '../../texts/capitalised.ts';
import type { TextKey } from '../../texts/keys.ts';
import { useText } from '../../texts/text.tsx';

/**
 * A function that says a code of the service in the person's language, with a capital, because it stands alone. A code that has no words
 * is shown as it is.
 * @param of the list that the code is of, where it has words of its own there
 */
export function useWord(of?: string): (code: string) => string {
  const word = useWordOf();
  return (code) => word(code, of);
}

/** As `useWord`, for codes of several lists. */
export function useWordOf(): (code: string, of?: string) => string {
  const said = useSaid();
  return (code, of) => {
    const words = said(code, of);
    return words === undefined ? code : capitalised(words);
  };
}

/** Several codes, with commas between. @param of as of `useWord` */
export function useWords(of?: string): (codes: readonly string[]) => string {
  const word = useWordOf();
  const said = useSaid();
  return (codes) => codes.map((code, at) => (at === 0 ? word(code, of) : (said(code, of) ?? code))).join(', ');
}

/** The words of a code, as they stand in a sentence. */
function useSaid(): (code: string, of?: string) => string | undefined {
  const t = useText();
  const wordsOf = (name: string) => {
    const key = `console.word.${name.toLowerCase().replace(/\W+/g, '_')}`;
    const words = t(key as TextKey);
    return words === key ? undefined : words;
  };
  return (code, of) => (of === undefined ? undefined : wordsOf(`${of}_${code}`)) ?? wordsOf(code);
}
