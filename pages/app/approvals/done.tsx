import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { DECISIONS_SIZE, type Decision, decisionsQuery } from '../../data/payments.ts';
import { Badge } from '../../design/badge.tsx';
import { Moment } from '../../design/moment.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import type { SteadyRow } from '../../design/steady-rows.ts';
import { SteadyTable } from '../../design/steady-table.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { Pager } from '../pager.tsx';
import { PaymentStatus } from '../payments/status.tsx';
import { usePaymentColumns } from './columns.tsx';

type Row = SteadyRow<Decision>;

/** What the person has approved, rejected and cancelled, and the current status of each. */
export function DoneByMe(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const [page, setPage] = useState(1);
  const { data, error, refetch } = useQuery(decisionsQuery(clientId, page));
  const columns = usePaymentColumns<Row>(({ row }) => row.payment);
  if (!data) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={6} />;
  if (data.total === 0) return <Empty title={t('approvals.done.none')}>{t('approvals.done.none.text')}</Empty>;
  return (
    <div className="card stack">
      <SteadyTable
        name={t('approvals.table')}
        className="payment-cards"
        columns={[
          // The creator and the payment date mattered before the decision; now they would only take up room.
          ...columns.filter(({ key }) => key !== 'ordered_by_name' && key !== 'payment_date'),
          {
            key: 'action',
            title: t('approvals.decision'),
            cell: ({ row: { action, on_behalf: onBehalf } }) => (
              <span>
                <Badge tone={action === 'authorise' ? 'good' : 'bad'}>{t(`approvals.decision.${action}`)}</Badge>{' '}
                {onBehalf && <span className="small quiet">{t('payments.act.onBehalf')}</span>}
              </span>
            ),
          },
          { key: 'at', title: t('approvals.at'), cell: ({ row: { at } }) => <Moment at={at} /> },
          {
            key: 'status',
            title: t('payments.field.status'),
            cell: ({ row: { payment } }) => <PaymentStatus status={payment.status} />,
          },
        ]}
        rows={data.rows}
        rowKey={({ payment, action, at }) => `${payment.payment_id} ${action} ${at}`}
        scope={data.page}
      />
      <Pager page={page} size={DECISIONS_SIZE} total={data.total} onPage={setPage} />
    </div>
  );
}
