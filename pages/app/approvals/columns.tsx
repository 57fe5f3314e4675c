import type { ReactNode } from 'react';
import type { Listed, Payment } from '../../data/payments.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Day } from '../../design/moment.tsx';
import type { Column } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';
import { Marks } from '../payments/marks.tsx';
import { AccountNumber, Amount } from '../payments/payee.tsx';
import { PaymentLink } from '../payments/payment-link.tsx';
import '../payments/payment-cards.css';

/** The columns that every list of approvals has, of rows that hold a payment. */
export function usePaymentColumns<Row>(paymentOf: (row: Row) => Payment): Column<Row>[] {
  const t = useText();
  return [
    {
      key: 'payment_id',
      title: t('payments.field.payment_id'),
      cell: (row) => <PaymentLink id={paymentOf(row).payment_id} />,
    },
    {
      key: 'amount',
      title: t('payments.field.amount'),
      numeric: true,
      cell: (row) => (
        <strong>
          <Amount payment={paymentOf(row)} />
        </strong>
      ),
    },
    { key: 'payee', title: t('payments.field.payee'), cell: (row) => <Payee payment={paymentOf(row)} /> },
    {
      key: 'ordered_by_name',
      title: t('payments.field.ordered_by_name'),
      cell: (row) => <ForeignText>{paymentOf(row).ordered_by_name}</ForeignText>,
    },
    {
      key: 'payment_date',
      title: t('payments.field.payment_date'),
      cell: (row) => <Day on={paymentOf(row).payment_date} />,
    },
  ];
}

/** The columns of what waits: with the account, because a payee's name proves nothing. */
export function useWaitingColumns<Row>(paymentOf: (row: Row) => Payment): Column<Row>[] {
  return usePaymentColumns(paymentOf).map((column) =>
    column.key === 'payee' ? { ...column, cell: (row) => <Payee payment={paymentOf(row)} hasAccount /> } : column,
  );
}

/** Whom a payment pays, and what for. */
function Payee({ payment, hasAccount = false }: { payment: Payment; hasAccount?: boolean }): ReactNode {
  return (
    <div>
      <ForeignText>{payment.beneficiary_name}</ForeignText>
      <div className="small quiet payee-detail">
        {hasAccount && <AccountNumber payment={payment} />}
        {payment.reference && <ForeignText>{payment.reference}</ForeignText>}
      </div>
    </div>
  );
}

/** The column of marks. */
export function useMarksColumn<Row>(listedOf: (row: Row) => Listed): Column<Row> {
  const t = useText();
  return { key: 'marks', title: t('approvals.marks'), cell: (row) => <Marks marks={listedOf(row).marks} /> };
}
