import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Payment } from '../../data/payments.ts';
import { TRADE_PAYMENTS_SHOWN, tradePaymentsQuery } from '../../data/trades.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Day } from '../../design/moment.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { PagedList } from '../paged-list.tsx';
import { Amount } from '../payments/payee.tsx';
import { PaymentLink } from '../payments/payment-link.tsx';
import { PaymentStatus } from '../payments/status.tsx';

/** The payments that a trade funds, newest first. */
export function TradePayments({ id }: { id: string }): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const [page, setPage] = useState(1);
  const found = useQuery(tradePaymentsQuery(clientId, id, page));
  const columns: Column<Payment>[] = [
    { key: 'payment_id', title: t('payments.field.payment_id'), cell: (row) => <PaymentLink id={row.payment_id} /> },
    {
      key: 'payee',
      title: t('payments.field.payee'),
      cell: ({ beneficiary_name: name }) => <ForeignText>{name}</ForeignText>,
    },
    { key: 'status', title: t('payments.field.status'), cell: ({ status }) => <PaymentStatus status={status} /> },
    { key: 'date', title: t('payments.field.payment_date'), cell: ({ payment_date: on }) => <Day on={on} /> },
    {
      key: 'amount',
      title: t('payments.field.amount'),
      numeric: true,
      cell: (payment) => <Amount payment={payment} />,
    },
  ];
  return (
    <section className="card stack" aria-labelledby="trade-payments">
      <h2 id="trade-payments">{t('payments.table')}</h2>
      <PagedList found={found} page={page} size={TRADE_PAYMENTS_SHOWN} onPage={setPage} expected={2}>
        {({ rows }) =>
          rows.length === 0 ? (
            <p className="quiet">{t('trades.payments.none')}</p>
          ) : (
            <Table name={t('payments.table')} columns={columns} rows={rows} rowKey={({ payment_id }) => payment_id} />
          )
        }
      </PagedList>
    </section>
  );
}
