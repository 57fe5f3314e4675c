import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import type { Trade } from '../../../sdk/src/generated/api.ts';
import { tradesQuery } from '../../data/documents.ts';
import { Badge } from '../../design/badge.tsx';
import { Facts } from '../../design/facts.tsx';
import { Day } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { Empty } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { DocumentPreview } from '../document.tsx';
import { DocumentList } from './document-list.tsx';

/** The receipts of trades. */
export function TradeDocuments(): ReactNode {
  const t = useText();
  return (
    <DocumentList
      label={t('documents.find.trade')}
      query={tradesQuery}
      empty={<Empty title={t('documents.none')} />}
      card={(trade) => <TradeCard key={trade.trade_id} trade={trade} />}
    />
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
