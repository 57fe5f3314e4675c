import type { ReactNode } from 'react';
import type { Sum } from '../../data/sums.ts';
import { Money } from '../../design/money.tsx';
import './sums.css';

/** What payments come to in each currency: sums of different currencies are never added. */
export function Sums({ sums }: { sums: readonly Sum[] }): ReactNode {
  return (
    <span className="sums">
      {sums.map(({ currency, amount }) => (
        <Money key={currency} amount={amount} currency={currency} />
      ))}
    </span>
  );
}
