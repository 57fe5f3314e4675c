import type { ReactNode } from 'react';
import './facts.css';

export interface Fact {
  name: string;
  value: ReactNode;
  /** It has the whole line on a phone. */
  isWhole?: boolean;
}

/** Names with their values, for example in a dialog before a decision. An empty value is shown as a dash. */
export function Facts({ facts }: { facts: Fact[] }): ReactNode {
  return (
    <dl className="facts">
      {facts.map(({ name, value, isWhole }) => (
        <div key={name} className={isWhole ? 'whole' : undefined}>
          <dt>{name}</dt>
          <dd>{value === '' ? '–' : (value ?? '–')}</dd>
        </div>
      ))}
    </dl>
  );
}
