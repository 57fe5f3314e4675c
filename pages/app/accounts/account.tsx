import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { accountsQuery } from '../../data/accounts.ts';
import { Facts } from '../../design/facts.tsx';
import { Money } from '../../design/money.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { NotFound } from '../../frame/not-found.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { AccountState } from './account-state.tsx';
import { BalanceChart } from './balance-chart.tsx';
import { PayingIn } from './paying-in.tsx';
import { Statements } from './statements.tsx';
import { Transactions } from './transactions.tsx';

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
            {
              name: t('accounts.available'),
              value: balance && <Money amount={balance.available} currency={currency} />,
            },
            { name: t('accounts.state'), value: <AccountState status={account.status} /> },
            { name: t('accounts.kind'), value: t(`accounts.kind.${account.account_type}`) },
            { name: t('accounts.id'), value: <code>{account.account_id}</code> },
          ]}
        />
        {balance && <BalanceChart currency={currency} />}
      </section>
      <PayingIn details={account.account_details} />
      {balance && <Transactions accountId={balance.account_id} currency={currency} />}
      {balance && <Statements currencies={[currency]} />}
    </Page>
  );
}
