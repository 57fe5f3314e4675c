import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Found } from '../../../src/http/console/search.ts';
import { call } from '../../data/call.ts';
import { ForeignText, visible } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { Status } from '../../design/notice.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { AccountNumber } from '../lists/account-number.tsx';
import { Cut, State } from '../lists/links.tsx';
import { ClientInRow } from '../lists/named.tsx';
import { findAddress } from './addresses.ts';
import { useSought } from './sought.ts';

/** The records that the text in the header's search field matches. */
export default function SearchPage(): ReactNode {
  const t = useText();
  const q = useSought();
  return (
    // Each search is a page of its own, so that the focus moves to its heading, before the results.
    <Page key={q} title={t('console.search.title')}>
      {q === '' ? <Empty title={t('console.search.start')}>{t('console.search.hint')}</Empty> : <Finds q={q} />}
    </Page>
  );
}

function Finds({ q }: { q: string }): ReactNode {
  const t = useText();
  const { data, error, refetch } = useQuery({
    queryKey: ['search', q],
    queryFn: async ({ signal }) => (await call<Found[]>('POST', '/console/search', { body: { q }, signal })).body,
  });
  if (!data) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading />;
  if (data.length === 0)
    return (
      <>
        <Status tone="info">{t('console.search.nothing')}</Status>
        <Empty title={t('console.search.nothing')}>{t('console.search.nothing.text')}</Empty>
      </>
    );
  return (
    <>
      <p className="quiet" role="status">
        {t('console.search.count', { count: data.length })}
      </p>
      <section className="card">
        <Table
          name={t('console.search.results')}
          rows={data}
          rowKey={({ kind, id, at }) => `${kind} ${id} ${at}`}
          columns={[
            {
              key: 'id',
              title: t('console.col.id'),
              cell: (find) => (
                <div>
                  <FindLink find={find} />
                  <div className="small quiet">{t(`console.kind.${find.kind}`)}</div>
                </div>
              ),
            },
            {
              key: 'what',
              title: t('console.search.what'),
              cell: ({ title, amount, currency }) =>
                amount && currency ? <Money amount={amount} currency={currency} /> : <Cut>{title}</Cut>,
            },
            {
              key: 'detail',
              title: t('console.col.detail'),
              cell: ({ kind, detail }) =>
                kind === 'payee' ? (
                  <AccountNumber>{detail || null}</AccountNumber>
                ) : (
                  <ForeignText>{detail}</ForeignText>
                ),
            },
            {
              key: 'client',
              title: t('console.col.client'),
              cell: ({ client_id: id }) => <ClientInRow id={id} />,
            },
            { key: 'status', title: t('console.col.status'), cell: ({ status }) => <State>{status}</State> },
            { key: 'at', title: t('console.col.at'), cell: ({ at }) => <Moment at={at} isDay /> },
          ]}
        />
      </section>
    </>
  );
}

function FindLink({ find }: { find: Found }): ReactNode {
  return (
    <Link {...findAddress(find)} className="console-id">
      {visible(find.id)}
    </Link>
  );
}
