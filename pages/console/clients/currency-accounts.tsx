import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type Answered, callOperator } from '../../data/operator-api.ts';
import { Money } from '../../design/money.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';
import { OpenAccounts } from './open-accounts.tsx';

/** How often balances are refreshed. */
const LIVE_MS = 15_000;
/** The most balances read at once. A client has an account in each of its currencies. */
const MAX_ACCOUNTS = 100;

/** The currency accounts of a client: the balance, what orders hold, and what is available. */
export function CurrencyAccounts({ clientId }: { clientId: string }): ReactNode {
  const t = useText();
  const { data, error, refetch } = useCurrencyAccounts(clientId);
  return (
    <section className="card stack" aria-labelledby="currency-accounts">
      <div className="row apart">
        <h2 id="currency-accounts">{t('console.accounts.currency')}</h2>
        <OpenAccounts clientId={clientId} />
      </div>
      {!data && (error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={2} />)}
      {data?.length === 0 && <Empty title={t('console.list.empty')}>{t('console.none.accounts')}</Empty>}
      {data && data.length > 0 && <CurrencyAccountTable rows={data} />}
    </section>
  );
}

export function CurrencyAccountTable({ rows }: { rows: CurrencyAccount[] }): ReactNode {
  const t = useText();
  const amount = (key: 'balance' | 'held' | 'available', title: string) => ({
    ...{ key, title, numeric: true },
    cell: (row: CurrencyAccount) => <Money amount={row[key]} currency={row.currency} />,
  });
  return (
    <Table
      name={t('console.accounts.currency')}
      rows={rows}
      rowKey={(row) => row.account_id}
      columns={[
        { key: 'id', title: t('console.col.id'), cell: (row) => row.account_id },
        { key: 'currency', title: t('console.col.currency'), cell: ({ currency }) => currency },
        amount('balance', t('console.accounts.balance')),
        amount('held', t('console.accounts.held')),
        amount('available', t('console.accounts.available')),
      ]}
    />
  );
}

type CurrencyAccount = Answered<'GET /currency-accounts/{account_id}'>;

/** The currency accounts of a client, read again while they are shown. */
export function useCurrencyAccounts(clientId: string) {
  return useQuery({
    queryKey: ['currency-accounts', clientId],
    queryFn: ({ signal }) => readAccounts(clientId, signal),
    refetchInterval: LIVE_MS,
  });
}

async function readAccounts(clientId: string, signal: AbortSignal): Promise<CurrencyAccount[]> {
  const { body } = await callOperator('GET /currency-accounts', { query: { client_id: clientId }, signal });
  const read = async (id: number) => {
    const path = { account_id: String(id) };
    return (await callOperator('GET /currency-accounts/{account_id}', { path, signal })).body;
  };
  return Promise.all(body.slice(0, MAX_ACCOUNTS).map(({ account_id: id }) => read(id)));
}
