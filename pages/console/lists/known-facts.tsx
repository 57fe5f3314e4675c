import type { ReactNode } from 'react';
import { type Fact, Facts } from '../../design/facts.tsx';

/** Facts about a record. Missing values are left out. */
export function KnownFacts({ facts }: { facts: Fact[] }): ReactNode {
  return (
    <Facts
      facts={facts.filter(({ value }) => value !== null && value !== undefined && value !== '' && value !== false)}
    />
  );
}
