import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type AccountOverview, accountsQuery } from '../../data/accounts.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Money } from '../../design/money.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { AccountState } from './account-state.tsx';
import { AccountNumber } from './paying-in.tsx';
import { Statements } from './statements.tsx';

/** The accounts of a client with their balances, and its statements. */
export default function AccountsPage(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const { data, error, refetch } = useQuery(accountsQuery(clientId));
  return (
    <Page title={t('accounts.title')}>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && data.accounts.length + data.balances.length === 0 && (
        <Empty title={t('accounts.none')}>{t('accounts.none.text')}</Empty>
      )}
      {data && data.balances.length > 0 && <Balances overview={data} />}
      {data && data.accounts.length > 0 && <AccountTable overview={data} />}
      {data && data.balances.length > 0 && <Statements currencies={data.balances.map(({ currency }) => currency)} />}
    </Page>
  );
}

function Balances({ overview: { balances } }: { overview: AccountOverview }): ReactNode {
  const t = useText();
  return (
    <section className="card stack" aria-label={t('accounts.balances')}>
      <h2>{t('accounts.balances')}</h2>
      <Table
        name={t('accounts.balances')}
        columns={[
          {
            key: 'currency',
            title: t('accounts.currency'),
            cell: ({ currency }) => (
              <Link to="/accounts/currencies/$currency" params={{ currency } as never}>
                {currency}
              </Link>
            ),
          },
          { key: 'number', title: t('accounts.number'), cell: ({ account_id: id }) => id },
          {
            key: 'balance',
            title: t('accounts.balance'),
            numeric: true,
            cell: ({ balance, currency }) => <Money amount={balance} currency={currency} />,
          },
        ]}
        rows={balances}
        rowKey={({ account_id: id }) => id}
      />
    </section>
  );
}

function AccountTable({ overview: { accounts, balances } }: { overview: AccountOverview }): ReactNode {
  const t = useText();
  const balanceOf = (wanted: string) => balances.find(({ currency }) => currency === wanted)?.balance ?? null;
  return (
    <section className="card stack" aria-label={t('accounts.title')}>
      <h2>{t('accounts.title')}</h2>
      <Table
        name={t('accounts.title')}
        columns={[
          {
            key: 'account',
            title: t('accounts.account'),
            cell: ({ account_id: id, account_details: [first] }) => (
              <Link to="/accounts/$account_id" params={{ account_id: id } as never}>
                {first?.account_name ? <ForeignText>{first.account_name}</ForeignText> : id}
                {first?.account_number && (
                  <>
                    {' · '}
                    <AccountNumber type={first.account_number_type}>{first.account_number}</AccountNumber>
                  </>
                )}
              </Link>
            ),
          },
          { key: 'currency', title: t('accounts.currency'), cell: ({ currency }) => currency },
          { key: 'state', title: t('accounts.state'), cell: ({ status }) => <AccountState status={status} /> },
          {
            key: 'balance',
            title: t('accounts.balance'),
            numeric: true,
            cell: ({ currency }) => <Money amount={balanceOf(currency)} currency={currency} />,
          },
        ]}
        rows={accounts}
        rowKey={({ account_id: id }) => id}
      />
    </section>
  );
}
