import type { ReactNode } from 'react';
import type { Sum } from '../../data/sums.ts';
import { Money } from '../../design/money.tsx';
import './sums.css';

/** The sum of payments in each currency. Sums of different currencies are never added. */
export function Sums({ sums }: { sums: readonly Sum[] }): ReactNode {
  return (
    <span className="sums">
      {sums.map(({ currency, amount }) => (
        <Money key={currency} amount={amount} currency={currency} />
      ))}
    </span>
  );
}
