import type { ReactNode } from 'react';
import './facts.css';

/** Names with their values, as a dialog repeats what one decides on. An empty value is a dash. */
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
