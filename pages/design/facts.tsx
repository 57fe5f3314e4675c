import type { ReactNode } from 'react';
import './facts.css';

/** Names with their values, for example in a dialog before a decision. An empty value is shown as a dash. */
export function Facts({ facts }: { facts: { name: string; value: ReactNode }[] }): ReactNode {
  return (
    <dl className="facts">
      {facts.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value === '' ? '–' : (value ?? '–')}</dd>
        </div>
      ))}
    </dl>
  );
}
