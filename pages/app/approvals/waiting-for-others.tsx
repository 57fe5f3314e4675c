import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { LIST_SIZE, type Listed, waitingQuery } from '../../data/payments.ts';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import type { SteadyRow } from '../../design/steady-rows.ts';
import { SteadyTable } from '../../design/steady-table.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { lastPage, Pager } from '../pager.tsx';
import { useWaitingColumns } from './columns.tsx';

type Row = SteadyRow<Listed>;

/** Payments that wait for the approval of others. */
export function WaitingForOthers(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const [page, setPage] = useState(1);
  const { data, error, refetch } = useQuery(waitingQuery(clientId, 'others', page));
  const columns = useWaitingColumns<Row>(({ row }) => row);
  if (!data) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={6} />;
  if (data.total === 0) return <Empty title={t('approvals.others.none')}>{t('approvals.others.none.text')}</Empty>;
  return (
    <div className="card stack">
      <SteadyTable
        name={t('approvals.table')}
        className="payment-cards two-lines"
        columns={[
          ...columns,
          {
            key: 'remaining',
            title: t('approvals.remaining'),
            numeric: true,
            cell: ({ row: { payment }, isGone }) =>
              isGone ? t('approvals.gone') : payment.approvals_workflow.minimum_remaining_authorisations,
          },
        ]}
        rows={data.rows}
        rowKey={({ payment }) => payment.payment_id}
        scope={data.page}
        onEmpty={() => setPage(lastPage(data.total, LIST_SIZE))}
      />
      <Pager page={page} size={LIST_SIZE} total={data.total} onPage={setPage} />
    </div>
  );
}
