/** Words that stand alone, in a cell or beside a name, with a capital. */
export function capitalised(words: string): string {
  return words.replace(/^\p{Ll}/u, (first) => first.toUpperCase());
}
