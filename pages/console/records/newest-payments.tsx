import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { NewestPayment } from '../../../src/http/console/search.ts';
import { call } from '../../data/call.ts';
import { Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';
import { usePaymentNames } from './payment-columns.tsx';

const LIVE_MS = 15_000;

/** The payments of all clients that came last, before somebody says which ones. */
export function NewestPayments({ name }: { name: string }): ReactNode {
  const t = useText();
  const names = usePaymentNames<NewestPayment>();
  const { data, error, refetch } = useQuery({
    queryKey: ['newest payments'],
    queryFn: async ({ signal }) => (await call<NewestPayment[]>('GET', '/console/newest-payments', { signal })).body,
    refetchInterval: LIVE_MS,
  });
  if (!data) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading />;
  if (data.length === 0) return <Empty title={t('console.list.empty')}>{t('console.payments.none')}</Empty>;
  return (
    <div className="stack tight">
      <p className="quiet small">{t('console.payments.newest')}</p>
      <Table
        name={name}
        rows={data}
        rowKey={({ payment_id: id }) => id}
        columns={[
          ...names,
          { key: 'at', title: t('console.col.created'), cell: ({ created_date: at }) => <Moment at={at} isDay /> },
          {
            key: 'amount',
            title: t('console.col.amount'),
            numeric: true,
            cell: ({ amount, payment_currency: currency }) => <Money amount={amount} currency={currency} />,
          },
        ]}
      />
    </div>
  );
}
