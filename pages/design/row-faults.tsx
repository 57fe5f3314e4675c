import type { ReactNode } from 'react';
import { ForeignText } from './foreign-text.tsx';
import { type Fault, useFault } from './refusal.ts';

/** What is wrong with a row of a file. */
export function RowFaults({ of }: { of: readonly Fault[] }): ReactNode {
  const say = useFault();
  return (
    <ul className="plain">
      {of.map((fault) => (
        <li key={`${fault.code} ${fault.details}`}>
          <ForeignText>{say(fault)}</ForeignText>
        </li>
      ))}
    </ul>
  );
}
