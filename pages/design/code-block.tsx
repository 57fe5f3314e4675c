import type { ReactNode } from 'react';
import { visible } from './foreign-text.tsx';
import './code-block.css';

/** Spaces per nesting level. */
const INDENT = 2;

/**
 * JSON with one line per member, otherwise unchanged: numbers keep their digits, and a truncated text stays readable. A text that does not
 * begin as JSON is returned unchanged.
 */
export function indented(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  let depth = 0;
  const line = () => `\n${' '.repeat(depth * INDENT)}`;
  return text.replace(/"(?:[^"\\]|\\.)*(?:"|$)|[[{]\s*[\]}]|[[\]{},:]|\s+/gs, (token) => {
    if (/^\s/.test(token)) return '';
    if (/^[[{]$/.test(token)) {
      depth += 1;
      return token + line();
    }
    if (/^[\]}]$/.test(token)) {
      depth = Math.max(0, depth - 1);
      return line() + token;
    }
    if (token === ',') return token + line();
    return token === ':' ? ': ' : token;
  });
}

/** A text of others in its own lines: what was sent, or what was answered. It is only ever text. */
export function CodeBlock({ name, text }: { name: string; text: string }): ReactNode {
  const lines = indented(text).split(/\r\n|\r|\n/);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section className="code-block" aria-label={name} tabIndex={0}>
      <pre dir="ltr">{lines.map(visible).join('\n')}</pre>
    </section>
  );
}
