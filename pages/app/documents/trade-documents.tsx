import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import type { Trade } from '../../../sdk/src/generated/api.ts';
import { tradesQuery } from '../../data/documents.ts';
import { Day } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { Empty } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { DocumentRow } from '../document.tsx';
import { TradeLink } from '../trades/trade-link.tsx';
import { DocumentList } from './document-list.tsx';

/** The receipts of trades. */
export function TradeDocuments(): ReactNode {
  const t = useText();
  return (
    <DocumentList
      label={t('documents.find.trade')}
      query={tradesQuery}
      empty={<Empty title={t('documents.none')} />}
      line={(trade) => <TradeLine key={trade.trade_id} trade={trade} />}
    />
  );
}

function TradeLine({ trade }: { trade: Trade }): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const { trade_id: id, order_date: ordered, buy_currency: bought, sell_currency: sold } = trade;
  return (
    <DocumentRow
      {...{ clientId, id }}
      of={`${t('documents.trade')} ${id}`}
      kinds={[{ kind: 'tr', title: t('documents.tr') }]}
    >
      <span>
        <TradeLink id={id} />
      </span>
      <span className="small quiet">
        {t('documents.sold')} <Money amount={decimal(trade, 'sell_amount')} currency={sold} />
      </span>
      <span className="money-cell">
        <Money amount={decimal(trade, 'buy_amount')} currency={bought} />
      </span>
      <Day on={ordered} />
    </DocumentRow>
  );
}
