import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import type { Trade } from '../../../sdk/src/generated/api.ts';
import { tradesQuery } from '../../data/documents.ts';
import { Badge } from '../../design/badge.tsx';
import { Facts } from '../../design/facts.tsx';
import { Day } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { DocumentPreview } from '../document.tsx';
import { Pager } from '../pager.tsx';
import { DocumentSearch } from './document-search.tsx';

const PAGE_ROWS = 10;

/** The receipts of trades. */
export function TradeDocuments(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const [wanted, setWanted] = useState({ text: '', page: 1 });
  const { data, error, refetch } = useQuery(tradesQuery(clientId, { ...wanted, size: PAGE_ROWS }));
  return (
    <div className="stack">
      <DocumentSearch label={t('documents.find.trade')} onSearch={(text) => setWanted({ text, page: 1 })} />
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data?.total === 0 && <Empty title={t('documents.none')} />}
      {data?.rows.map((trade) => (
        <TradeCard key={trade.trade_id} trade={trade} />
      ))}
      {data && (
        <Pager
          page={wanted.page}
          size={PAGE_ROWS}
          total={data.total}
          onPage={(page) => setWanted({ ...wanted, page })}
        />
      )}
    </div>
  );
}

function TradeCard({ trade }: { trade: Trade }): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const { trade_id: id, status, order_date: ordered, buy_currency: bought, sell_currency: sold } = trade;
  return (
    <section className="card stack" aria-label={`${t('documents.trade')} ${id}`}>
      <div className="row apart">
        <h2>{id}</h2>
        <Badge>{status}</Badge>
      </div>
      <Facts
        facts={[
          { name: t('documents.made'), value: <Day on={ordered} /> },
          {
            name: t('documents.bought'),
            value: <Money amount={decimal(trade, 'buy_amount')} currency={bought} />,
          },
          {
            name: t('documents.sold'),
            value: <Money amount={decimal(trade, 'sell_amount')} currency={sold} />,
          },
        ]}
      />
      <DocumentPreview clientId={clientId} kind="tr" id={id} name={`${t('documents.tr')} ${id}`} />
    </section>
  );
}
