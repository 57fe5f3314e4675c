import type { ReactNode } from 'react';
import type { BankAccount } from '../../data/trades.ts';
import { Facts } from '../../design/facts.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Iban } from '../../design/iban.tsx';
import { Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { useText } from '../../texts/text.tsx';

interface PayingInProps {
  /** The sold amount, as a decimal text. */
  amount: string;
  currency: string;
  /** Null if the institution has no account in this currency. */
  bank: BankAccount | null;
  /** The day by which it must arrive; null if unknown. */
  due: string | null;
  reference: string;
  /** The currency account that is debited instead; null if there is none. */
  account: number | null;
  /** True if all of it has arrived. */
  isPaid?: boolean;
}

/** Where to send the sold money, or which account is debited for it. */
export function PayingIn(props: PayingInProps): ReactNode {
  const t = useText();
  const { amount, currency, bank, due, reference, account, isPaid = false } = props;
  const foreign = (text: string | null) => text && <ForeignText>{text}</ForeignText>;
  const sum = { name: t('trades.sum'), value: <Money amount={amount} currency={currency} /> };
  const until = { name: t('trades.due'), value: <Moment at={due} /> };
  const address = ['bank_address_line_1', 'bank_address_line_2', 'bank_post_code', 'bank_city'] as const;
  return (
    <section className="card stack" aria-labelledby="paying-in">
      <h2 id="paying-in">{t('trades.payIn')}</h2>
      {isPaid && <p>{t('trades.payIn.paid')}</p>}
      {account !== null && (
        <>
          {!isPaid && <p>{t('trades.payIn.debited')}</p>}
          <Facts facts={[sum, { name: t('trades.account'), value: account }, until]} />
        </>
      )}
      {account === null && !bank && <p>{t('trades.payIn.none')}</p>}
      {account === null && (
        <Facts
          facts={[
            sum,
            ...(bank
              ? [
                  { name: t('trades.iban'), value: bank.iban && <Iban>{bank.iban}</Iban> },
                  { name: t('trades.swift'), value: foreign(bank.swift_code) },
                  { name: t('trades.account'), value: foreign(bank.account_number) },
                  {
                    name: t('trades.bankCode'),
                    value:
                      bank.bank_identifier && foreign(`${bank.bank_identifier} ${bank.bank_identifier_type ?? ''}`),
                  },
                  { name: t('trades.bank'), value: foreign(bank.bank_name) },
                  {
                    name: t('trades.bankAddress'),
                    value: foreign(address.flatMap((line) => bank[line] ?? []).join(', ')),
                  },
                ].filter(({ value }) => value)
              : []),
            { name: t('trades.payIn.reference'), value: <strong className="digits">{reference}</strong> },
            until,
          ]}
        />
      )}
    </section>
  );
}
