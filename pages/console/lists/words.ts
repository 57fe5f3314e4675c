import type { TextKey } from '../../texts/keys.ts';
import { useText } from '../../texts/text.tsx';

/** A function that translates a code of the service. A code without a text is shown as it is. */
export function useWord(): (code: string) => string {
  const t = useText();
  return (code) => {
    const key = `console.word.${code.toLowerCase().replace(/\W+/g, '_')}`;
    const words = t(key as TextKey);
    return words === key ? code : words;
  };
}

/** Several codes, separated by commas. */
export function useWords(): (codes: readonly string[]) => string {
  const word = useWord();
  return (codes) => codes.map(word).join(', ');
}
