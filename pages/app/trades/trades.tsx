import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { useLive } from '../../data/live.ts';
import { type ListedTrade, TRADES_SHOWN, tradesQuery } from '../../data/trades.ts';
import { Select } from '../../design/field.tsx';
import { Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { Empty } from '../../design/states.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Page } from '../../frame/page.tsx';
import { firstOf, type Search } from '../../frame/search.ts';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { DocumentSearch } from '../documents/document-search.tsx';
import { PagedList } from '../paged-list.tsx';
import { TradeLink } from './trade-link.tsx';
import { STATUSES, TradeStatus } from './trade-status.tsx';
import './trades.css';

/** Past exchanges, newest first. The filters are in the address, under the API's names. */
export default function TradesPage(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const navigate = useNavigate();
  const address = useSearch({ strict: false }) as Search;
  const wanted = {
    status: firstOf(address.status) ?? '',
    text: firstOf(address.trade_id) ?? '',
    page: Number(firstOf(address.page) ?? 1),
  };
  useLive(clientId);
  const found = useQuery(tradesQuery(clientId, wanted));
  const go = ({ status, text, page }: typeof wanted) => {
    const filters = { ...(status && { status }), ...(text && { trade_id: text }) };
    void navigate({ to: '.', search: { ...filters, ...(page > 1 && { page: String(page) }) } as never });
  };
  return (
    <Page title={t('trades.title')}>
      <section className="card stack" aria-label={t('trades.title')}>
        <div className="trade-filters">
          <DocumentSearch
            label={t('trades.find')}
            initial={wanted.text}
            onSearch={(text) => go({ ...wanted, text, page: 1 })}
          />
          <Select
            label={t('trades.status')}
            name="status"
            value={wanted.status}
            onChange={({ target }) => go({ ...wanted, status: target.value, page: 1 })}
          >
            <option value="">{t('trades.status.any')}</option>
            {STATUSES.map((status) => (
              <option key={status} value={status}>
                {t(`trades.status.${status}`)}
              </option>
            ))}
          </Select>
        </div>
        <PagedList found={found} page={wanted.page} size={TRADES_SHOWN} onPage={(page) => go({ ...wanted, page })}>
          {({ rows, total }) =>
            total === 0 ? (
              <NoTrades isSearch={wanted.status + wanted.text !== ''} />
            ) : (
              <Table
                name={t('trades.title')}
                className="tight"
                columns={columnsOf(t)}
                rows={rows}
                rowKey={({ trade_id: id }) => id}
              />
            )
          }
        </PagedList>
      </section>
    </Page>
  );
}

function NoTrades({ isSearch }: { isSearch: boolean }): ReactNode {
  const t = useText();
  if (isSearch) return <Empty title={t('trades.noneFound')} />;
  return <Empty title={t('trades.none')}>{t('trades.none.text')}</Empty>;
}

function columnsOf(t: ReturnType<typeof useText>): Column<ListedTrade>[] {
  return [
    { key: 'trade_id', title: t('trades.trade'), cell: ({ trade_id: id }) => <TradeLink id={id} /> },
    { key: 'status', title: t('trades.status'), cell: ({ status }) => <TradeStatus status={status} /> },
    { key: 'type', title: t('trades.type'), cell: ({ trade_type: type }) => t(`trades.type.${type}`) },
    {
      key: 'bought',
      title: t('trades.bought'),
      numeric: true,
      cell: (trade) => <Money amount={decimal(trade, 'buy_amount')} currency={trade.buy_currency} />,
    },
    {
      key: 'sold',
      title: t('trades.sold'),
      numeric: true,
      cell: (trade) => <Money amount={decimal(trade, 'sell_amount')} currency={trade.sell_currency} />,
    },
    {
      key: 'unallocated',
      title: t('trades.unallocated'),
      numeric: true,
      cell: ({ unallocated_amount: left, buy_currency: currency }) => <Money amount={left} currency={currency} />,
    },
    { key: 'due', title: t('trades.due'), cell: ({ maturity_date: at }) => <Moment at={at} isDay /> },
  ];
}
