import type { ReactNode } from 'react';
import type { AccountOverview } from '../../data/accounts.ts';
import { Facts } from '../../design/facts.tsx';
import { ForeignText, isolated } from '../../design/foreign-text.tsx';
import { Iban } from '../../design/iban.tsx';
import { useText } from '../../texts/text.tsx';

/** The common name of a bank identifier, where it differs from its code. */
const KNOWN_AS: Record<string, string> = { SWBIC: 'BIC' };

type Details = AccountOverview['accounts'][number]['account_details'];

/** Where money has to be sent so that it arrives here. */
export function PayingIn({ details }: { details: Details }): ReactNode {
  const t = useText();
  return (
    <section className="card stack" aria-label={t('accounts.payingIn')}>
      <h2>{t('accounts.payingIn')}</h2>
      {details.length === 0 && <p className="quiet">{t('accounts.payingIn.none')}</p>}
      {details.map((each) => {
        const { account_number: number, account_number_type: type, bank_identifier_type: kind } = each;
        return (
          <Facts
            key={isolated(`${number} ${each.bank_identifier}`)}
            facts={[
              { name: t('accounts.holder'), value: foreign(each.account_name) },
              {
                name: type || t('accounts.number'),
                value: number && <AccountNumber type={type}>{number}</AccountNumber>,
              },
              { name: KNOWN_AS[kind] || kind || t('accounts.bank'), value: foreign(each.bank_identifier) },
              { name: t('accounts.address'), value: foreign(each.account_address) },
            ]}
          />
        );
      })}
    </section>
  );
}

function foreign(text: string): ReactNode {
  return text && <ForeignText>{text}</ForeignText>;
}

/** An account number. An IBAN is shown in groups of four. @param type the kind of number */
export function AccountNumber({ type, children }: { type: string; children: string }): ReactNode {
  return type === 'IBAN' ? <Iban>{children}</Iban> : <ForeignText>{children}</ForeignText>;
}
