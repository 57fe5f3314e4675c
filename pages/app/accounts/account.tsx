import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type AccountOverview, accountsQuery } from '../../data/accounts.ts';
import { Facts } from '../../design/facts.tsx';
import { ForeignText, isolated } from '../../design/foreign-text.tsx';
import { Money } from '../../design/money.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { NotFound } from '../../frame/not-found.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { AccountState } from './account-state.tsx';
import { BalanceChart } from './balance-chart.tsx';
import { Statements } from './statements.tsx';
import { Transactions } from './transactions.tsx';

/** What people know a kind of bank identifier as, where it is not its code. */
const KNOWN_AS: Record<string, string> = { SWBIC: 'BIC' };

type Account = AccountOverview['accounts'][number];

/** One account: what is on it, how one pays into it, and what was booked. */
export default function AccountPage(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const { account_id: id } = useParams({ strict: false }) as { account_id?: string };
  const { data, error, refetch } = useQuery(accountsQuery(clientId));
  const account = data?.accounts.find((each) => each.account_id === id?.toLowerCase());
  if (data && !account) return <NotFound />;
  if (!account)
    return (
      <Page title={t('accounts.account')}>
        {error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={6} />}
      </Page>
    );
  const { currency } = account;
  const balance = data?.balances.find((each) => each.currency === currency);
  return (
    <Page title={t('accounts.one', { currency })}>
      <section className="card stack" aria-label={t('accounts.balance')}>
        <Facts
          facts={[
            { name: t('accounts.balance'), value: balance && <Money amount={balance.balance} currency={currency} /> },
            { name: t('accounts.state'), value: <AccountState status={account.status} /> },
            { name: t('accounts.kind'), value: t(`accounts.kind.${account.account_type}`) },
            { name: t('accounts.id'), value: <code>{account.account_id}</code> },
          ]}
        />
        {balance && <BalanceChart currency={currency} />}
      </section>
      <PayingIn account={account} />
      {balance && <Transactions accountId={balance.account_id} currency={currency} />}
      {balance && <Statements currencies={[currency]} />}
    </Page>
  );
}

/** Where money has to be sent so that it arrives here. */
function PayingIn({ account: { account_details: details } }: { account: Account }): ReactNode {
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
