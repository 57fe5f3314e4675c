import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { accountsQuery } from '../../data/accounts.ts';
import { Facts } from '../../design/facts.tsx';
import { Money } from '../../design/money.tsx';
import { Status } from '../../design/notice.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { NotFound } from '../../frame/not-found.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { BalanceChart } from './balance-chart.tsx';
import { DownloadStatement } from './download-statement.tsx';
import { Holds, isHeld } from './holds.tsx';
import { PayingIn } from './paying-in.tsx';
import { Statements } from './statements.tsx';
import { Transactions } from './transactions.tsx';

/** What a client has in one currency, even if no payer can pay in there. */
export default function CurrencyAccountPage(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const { currency = '' } = useParams({ strict: false }) as { currency?: string };
  const { data, error, refetch } = useQuery(accountsQuery(clientId));
  const [saved, setSaved] = useState<string>();
  const own = data?.balances.find((each) => each.currency === currency);
  if (data && !own) return <NotFound />;
  const title = t('accounts.in', { currency });
  if (!own)
    return (
      <Page title={title}>
        {error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={6} />}
      </Page>
    );
  const receiving = data?.accounts.filter((each) => each.currency === currency) ?? [];
  return (
    <Page title={title} actions={<DownloadStatement accountId={own.account_id} onSaved={setSaved} />}>
      <Status>{saved !== undefined && t('payments.export.done', { name: saved })}</Status>
      <section className="card stack" aria-label={t('accounts.balance')}>
        <Facts
          facts={[
            { name: t('accounts.balance'), value: <Money amount={own.balance} currency={currency} /> },
            { name: t('accounts.available'), value: <Money amount={own.available} currency={currency} /> },
            { name: t('accounts.held'), value: <Money amount={own.held} currency={currency} /> },
            { name: t('accounts.number'), value: own.account_id },
          ]}
        />
        <BalanceChart currency={currency} />
      </section>
      {isHeld(own) && <Holds accountId={own.account_id} />}
      <PayingIn details={receiving.flatMap((each) => each.account_details)} />
      <Transactions accountId={own.account_id} currency={currency} />
      <Statements currencies={[currency]} />
    </Page>
  );
}
