import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import type { Answered } from '../../data/operator-api.ts';
import { Day } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import type { Column } from '../../design/table.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { IdLink, State } from '../lists/links.tsx';
import { Listing } from '../lists/listing.tsx';
import { ClientInRow } from '../lists/named.tsx';
import { useWord } from '../lists/words.ts';
import { TRADE_STATUSES } from './trade-statuses.ts';

type Trade = Answered<'GET /trades'>[number];

/** The trades of all clients, newest first. */
export default function TradesPage(): ReactNode {
  const t = useText();
  const name = t('console.nav.trades');
  return (
    <Page title={name}>
      <Listing
        name={name}
        operation="GET /trades"
        query={{ order: 'desc' }}
        filters={[
          { name: 'client_id', label: t('console.col.client') },
          { name: 'status', label: t('console.col.status'), options: TRADE_STATUSES },
          { name: 'source', label: t('console.col.source'), options: ['client', 'institution'] },
        ]}
        rowKey={({ trade_id: id }) => id}
        columns={useTradeColumns()}
      />
    </Page>
  );
}

/** The columns of a list of trades. */
export function useTradeColumns(): Column<Trade>[] {
  const t = useText();
  const word = useWord();
  return [
    { key: 'id', title: t('console.col.id'), cell: (row) => <IdLink to="trades" id={row.trade_id} /> },
    { key: 'client', title: t('console.col.client'), cell: (row) => <ClientInRow id={row.client_id} /> },
    { key: 'status', title: t('console.col.status'), cell: ({ status }) => <State>{status}</State> },
    { key: 'type', title: t('console.col.type'), cell: ({ trade_type: type }) => word(type) },
    { key: 'source', title: t('console.col.source'), cell: ({ source }) => word(source) },
    {
      key: 'sells',
      title: t('console.trade.sells'),
      numeric: true,
      cell: (row) => <Money amount={decimal(row, 'sell_amount')} currency={row.sell_currency} />,
    },
    {
      key: 'buys',
      title: t('console.trade.buys'),
      numeric: true,
      cell: (row) => <Money amount={decimal(row, 'buy_amount')} currency={row.buy_currency} />,
    },
    { key: 'ordered', title: t('console.trade.ordered'), cell: ({ order_date: on }) => <Day on={on} /> },
  ];
}
