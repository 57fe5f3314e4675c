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

/** The columns that all lists of approvals share. Each row holds a payment. */
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

/**
 * The columns of the waiting payments, with two lines each. The marks are below the amount. The account is below the payee, because a name
 * proves nothing.
 * @param goneOf what became of a row that no longer waits; it replaces the account
 */
export function useWaitingColumns<Row>(
  listedOf: (row: Row) => Listed,
  goneOf: (row: Row) => ReactNode = () => undefined,
): Column<Row>[] {
  return usePaymentColumns<Row>((row) => listedOf(row).payment).map((column) => {
    if (column.key === 'amount')
      return {
        ...column,
        cell: (row) => (
          <>
            {column.cell(row)}
            <div className="amount-marks">
              <Marks marks={listedOf(row).marks} />
            </div>
          </>
        ),
      };
    if (column.key === 'payee')
      return { ...column, cell: (row) => <Payee payment={listedOf(row).payment} hasAccount gone={goneOf(row)} /> };
    return column;
  });
}

/** The payee of a payment, and what the payment is for. */
function Payee({
  payment,
  hasAccount = false,
  gone,
}: {
  payment: Payment;
  hasAccount?: boolean;
  gone?: ReactNode;
}): ReactNode {
  return (
    <div className={gone ? 'gone' : undefined}>
      <div className={gone ? 'gone-before' : undefined}>
        <div className="payee-name">
          <ForeignText>{payment.beneficiary_name}</ForeignText>
        </div>
        <div className="small quiet payee-detail">
          {hasAccount && <AccountNumber payment={payment} />}
          {payment.reference && <ForeignText>{payment.reference}</ForeignText>}
        </div>
      </div>
      {gone && <div className="gone-now small">{gone}</div>}
    </div>
  );
}
