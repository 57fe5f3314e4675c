import { decimal } from '../../../sdk/src/decimal.ts';
import type { Answered } from '../../data/operator-api.ts';
import { Day } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import type { Column } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';
import { Cut, IdLink, State } from '../lists/links.tsx';
import { ClientInRow } from '../lists/named.tsx';

type Payment = Answered<'GET /payments'>[number];

/** What each list of payments shows of one: which it is, whose, how it stands, and to whom it goes. */
interface ListedPayment {
  payment_id: string;
  client_id: string;
  status: string;
  beneficiary_name: string | null;
  reference: string | null;
}

/** The first columns of each list of payments. */
export function usePaymentNames<Row extends ListedPayment>(): Column<Row>[] {
  const t = useText();
  return [
    { key: 'id', title: t('console.col.id'), cell: (row) => <IdLink to="payments" id={row.payment_id} /> },
    { key: 'client', title: t('console.col.client'), cell: (row) => <ClientInRow id={row.client_id} /> },
    { key: 'status', title: t('console.col.status'), cell: ({ status }) => <State>{status}</State> },
    {
      key: 'payee',
      title: t('console.col.payee'),
      cell: (row) => (
        <div className="console-line">
          <Cut>{row.beneficiary_name}</Cut>
          <span className="small quiet">
            <Cut>{row.reference}</Cut>
          </span>
        </div>
      ),
    },
  ];
}

/** The columns of a list of payments. */
export function usePaymentColumns(): Column<Payment>[] {
  const t = useText();
  return [
    ...usePaymentNames<Payment>(),
    { key: 'date', title: t('console.col.date'), cell: ({ payment_date: on }) => <Day on={on} /> },
    {
      key: 'amount',
      title: t('console.col.amount'),
      numeric: true,
      cell: (row) => <Money amount={decimal(row, 'amount')} currency={row.payment_currency} />,
    },
  ];
}
