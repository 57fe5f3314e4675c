import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import type { Payment } from '../../data/payments.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Iban } from '../../design/iban.tsx';
import { Money } from '../../design/money.tsx';
import type { TextKey } from '../../texts/keys.ts';
import { useText } from '../../texts/text.tsx';
import './payee.css';

/** The amount of a payment with its currency. */
export function Amount({ payment }: { payment: Payment }): ReactNode {
  return <Money amount={decimal(payment, 'amount')} currency={payment.payment_currency} />;
}

/** The payee's account in short: its IBAN, or else its number. */
export function AccountNumber({ payment: { iban, account_number: number } }: { payment: Payment }): ReactNode {
  return <span className="digits">{iban ? <Iban>{iban}</Iban> : <ForeignText>{number}</ForeignText>}</span>;
}

/** The payee's account with all its identifiers. */
export function PayeeAccount({ payment }: { payment: Payment }): ReactNode {
  const t = useText();
  const parts: [TextKey, string | null][] = [
    ['payments.field.iban', payment.iban],
    ['payments.field.account_number', payment.account_number],
    ['payments.field.bank_identifier', payment.bank_identifier],
    ['payments.field.swift_code', payment.swift_code],
  ];
  const given = parts.filter(([, value]) => value);
  if (given.length === 0) return <span>{t('payments.account.none')}</span>;
  return (
    <span className="payee-account">
      {given.map(([key, value]) => (
        <span key={key}>
          <span className="quiet small">{t(key)} </span>
          <span className="digits">
            {key === 'payments.field.iban' ? <Iban>{value as string}</Iban> : <ForeignText>{value}</ForeignText>}
          </span>
        </span>
      ))}
    </span>
  );
}
