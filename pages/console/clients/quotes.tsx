import { type ReactNode, useState } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import type { Answered } from '../../data/operator-api.ts';
import { Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import type { Column } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';
import { IdLink, ListLink, State } from '../lists/links.tsx';
import { ClientInRow } from '../lists/named.tsx';
import { PART_ROWS, Records } from '../lists/records.tsx';
import { QuoteEnd } from '../records/quote-end.tsx';

type Quote = Answered<'GET /quotes'>[number];

/** The columns of a list of quotes. */
export function useQuoteColumns(): Column<Quote>[] {
  const t = useText();
  return [
    { key: 'at', title: t('console.col.at'), cell: ({ created_at: at }) => <Moment at={at} isStacked /> },
    { key: 'id', title: t('console.col.id'), cell: (row) => <IdLink to="quotes" id={row.quote_id} /> },
    { key: 'client', title: t('console.col.client'), cell: (row) => <ClientInRow id={row.client_id} /> },
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
    { key: 'rate', title: t('console.system.rate'), numeric: true, cell: (row) => decimal(row, 'quoted_rate') },
    { key: 'status', title: t('console.col.status'), cell: ({ status }) => <State>{status}</State> },
    { key: 'end', title: t('console.quote.end'), cell: (row) => <QuoteEnd quote={row} /> },
  ];
}

/** The quotes of a client, newest first, and why each one ended. */
export function Quotes({ clientId }: { clientId: string }): ReactNode {
  const t = useText();
  const [page, setPage] = useState(1);
  const query = { client_id: clientId };
  return (
    <section className="card stack" aria-labelledby="quotes">
      <div className="row apart">
        <h2 id="quotes">{t('console.nav.quotes')}</h2>
        <ListLink to="/quotes" search={query}>
          {t('console.list.all')}
        </ListLink>
      </div>
      <Records
        name={t('console.nav.quotes')}
        operation="GET /quotes"
        none={t('console.none.quotes')}
        query={query}
        page={page}
        rows={PART_ROWS}
        onPage={setPage}
        rowKey={({ quote_id: id }) => id}
        columns={useQuoteColumns().filter(({ key }) => key !== 'client')}
      />
    </section>
  );
}
