import type { ReactNode } from 'react';
import type { AccountOverview } from '../../data/accounts.ts';
import { Facts } from '../../design/facts.tsx';
import { ForeignText, isolated } from '../../design/foreign-text.tsx';
import { useText } from '../../texts/text.tsx';

/** What people know a kind of bank identifier as, where it is not its code. */
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
        const kind = each.bank_identifier_type ?? '';
        const facts = [
          { name: t('accounts.holder'), value: each.account_name },
          { name: each.account_number_type || t('accounts.number'), value: each.account_number },
          { name: KNOWN_AS[kind] || kind || t('accounts.bank'), value: each.bank_identifier },
          { name: t('accounts.address'), value: each.account_address },
        ];
        return (
          <Facts
            key={isolated(`${each.account_number} ${each.bank_identifier}`)}
            facts={facts.map(({ name, value }) => ({ name, value: value ? <ForeignText>{value}</ForeignText> : null }))}
          />
        );
      })}
    </section>
  );
}
