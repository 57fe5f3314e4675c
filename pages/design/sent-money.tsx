import type { ReactNode } from 'react';
import { ForeignText } from './foreign-text.tsx';
import { Money } from './money.tsx';

const AMOUNT = /^\d{1,30}(\.\d{1,8})?$/;
const CURRENCY = /^[A-Z]{3}$/;

/** An amount that somebody sent, of any type. If it is none, the text that was sent. */
export function SentMoney({ amount, currency }: { amount: unknown; currency: unknown }): ReactNode {
  const [number, code] = [amount, currency].map((each) => String(each ?? ''));
  return number !== undefined && code !== undefined && AMOUNT.test(number) && CURRENCY.test(code) ? (
    <Money amount={number} currency={code} />
  ) : (
    <ForeignText>{[code, number].filter(Boolean).join(' ')}</ForeignText>
  );
}
