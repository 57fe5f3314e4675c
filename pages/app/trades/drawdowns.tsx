import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { DRAWDOWNS_SHOWN, drawdownsQuery } from '../../data/trades.ts';
import { Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { Table } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { PagedList } from '../paged-list.tsx';
import { TradeLink } from './trade-link.tsx';
import { TradeStatus } from './trade-status.tsx';

/** The drawdowns of a window forward. */
export function Drawdowns({ id }: { id: string }): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const [page, setPage] = useState(1);
  const found = useQuery(drawdownsQuery(clientId, id, page));
  return (
    <section className="card stack" aria-labelledby="drawdowns">
      <h2 id="drawdowns">{t('trades.drawdowns')}</h2>
      <PagedList found={found} page={page} size={DRAWDOWNS_SHOWN} onPage={setPage} expected={2}>
        {({ rows }) =>
          rows.length === 0 ? (
            <p className="quiet">{t('trades.drawdowns.none')}</p>
          ) : (
            <Table
              name={t('trades.drawdowns')}
              columns={[
                { key: 'trade_id', title: t('trades.trade'), cell: (row) => <TradeLink id={row.trade_id} /> },
                { key: 'status', title: t('trades.status'), cell: ({ status }) => <TradeStatus status={status} /> },
                { key: 'due', title: t('trades.due'), cell: (row) => <Moment at={row.maturity_date} isDay /> },
                {
                  key: 'sold',
                  title: t('trades.sold'),
                  numeric: true,
                  cell: (row) => <Money amount={decimal(row, 'sell_amount')} currency={row.sell_currency} />,
                },
                {
                  key: 'bought',
                  title: t('trades.bought'),
                  numeric: true,
                  cell: (row) => <Money amount={decimal(row, 'buy_amount')} currency={row.buy_currency} />,
                },
              ]}
              rows={rows}
              rowKey={({ trade_id }) => trade_id}
            />
          )
        }
      </PagedList>
    </section>
  );
}
