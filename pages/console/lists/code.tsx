import type { ReactNode } from 'react';
import { visible } from '../../design/foreign-text.tsx';
import { useText } from '../../texts/text.tsx';

/** A longer text is cut: nobody reads it here, and the page would freeze. */
const MAX_SHOWN_CHARACTERS = 20_000;

/** A text written by somebody else, line by line: a body, an answer, a record. Scripts in it never run. */
export function Code({ name, children }: { name: string; children: string }): ReactNode {
  const text = children.length > MAX_SHOWN_CHARACTERS ? `${children.slice(0, MAX_SHOWN_CHARACTERS)} …` : children;
  const lines = text.split('\n').map(visible).join('\n');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by keyboard too
    <section className="console-code" aria-label={name} tabIndex={0} dir="ltr">
      {lines}
    </section>
  );
}

/** A record as indented JSON. */
export function Json({ name, children }: { name: string; children: unknown }): ReactNode {
  return <Code name={name}>{JSON.stringify(children, null, 2) ?? ''}</Code>;
}

/** Content that is shown when the person asks for it. */
export function More({ title, children }: { title?: string; children: ReactNode }): ReactNode {
  const t = useText();
  return (
    <details className="console-more">
      <summary>{title ?? t('console.show')}</summary>
      <div className="stack tight">{children}</div>
    </details>
  );
}
