import type { ReactNode } from 'react';

/** Controls, formats, line separators and private use: characters without a visible form. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\u2800\u3164\u115f\u1160\uffa0]/gu;

/**
 * A text of others with symbols for invisible characters. Control characters become their pictures. Characters that hide text, or change
 * its direction, become their code points.
 */
export function visible(text: string): string {
  return text.toWellFormed().replace(HIDDEN, (character) => {
    const code = character.codePointAt(0) as number;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return code === 0x7f ? '\u2421' : `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
  });
}

/** A text of others, for a sentence or a name that screen readers read: made visible, and isolated from the surrounding text direction. */
export function isolated(text: string): string {
  return `\u2068${visible(text)}\u2069`;
}

/** A text that a client, a payee or a receiver wrote: names, references, answers. It is never assumed to be harmless. */
export function ForeignText({ children }: { children: string | null | undefined }): ReactNode {
  return children === null || children === undefined ? null : <bdi>{visible(children)}</bdi>;
}
