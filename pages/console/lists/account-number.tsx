import type { ReactNode } from 'react';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Iban } from '../../design/iban.tsx';

const IBAN = /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/;

/** An account number. An IBAN is shown in groups of four; any other number as it is. */
export function AccountNumber({ children }: { children: string | null }): ReactNode {
  return children !== null && IBAN.test(children) ? <Iban>{children}</Iban> : <ForeignText>{children}</ForeignText>;
}
