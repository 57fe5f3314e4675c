import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import type { TradeView } from '../../data/trades.ts';
import { Facts } from '../../design/facts.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Day, Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { useText } from '../../texts/text.tsx';
import { REASONS } from '../reasons.ts';
import { Rate } from './rate.tsx';
import { TradeLink } from './trade-link.tsx';
import { TradeStatus } from './trade-status.tsx';

/** Everything known about a trade. */
export function TradeFacts({ view: { trade, funds } }: { view: TradeView }): ReactNode {
  const t = useText();
  const { buy_currency: bought, sell_currency: sold, parent_trade_id: parent, fee_amount: fee } = trade;
  const foreign = (text: string | null) => text && <ForeignText>{text}</ForeignText>;
  const reason = REASONS.find((each) => each === trade.reason);
  const optional = [
    {
      name: t('trades.held'),
      value: isZero(funds.held_amount) ? null : <Money amount={funds.held_amount} currency={sold} />,
    },
    { name: t('trades.valueDate'), value: trade.value_date && <Day on={trade.value_date} /> },
    { name: t('trades.reason'), value: reason && t(`payees.reason.${reason}`) },
    { name: t('trades.reference'), value: foreign(trade.reference) },
    { name: t('trades.external'), value: foreign(trade.external_reference_id) },
    {
      name: t('trades.fee'),
      value:
        fee !== null && fee !== 0 ? (
          <Money amount={decimal(trade, 'fee_amount')} currency={trade.fee_currency ?? sold} />
        ) : null,
    },
    { name: t('trades.parent'), value: parent && <TradeLink id={parent} /> },
  ];
  return (
    <section className="card stack" aria-label={t('trades.facts')}>
      <Facts
        facts={[
          { name: t('trades.status'), value: <TradeStatus status={trade.status} /> },
          { name: t('trades.bought'), value: <Money amount={decimal(trade, 'buy_amount')} currency={bought} /> },
          { name: t('trades.sold'), value: <Money amount={decimal(trade, 'sell_amount')} currency={sold} /> },
          { name: t('trades.rate'), value: <Rate sold={sold} bought={bought} rate={decimal(trade, 'rate')} /> },
          {
            name: t('trades.unallocated'),
            value: (
              <strong>
                <Money amount={funds.unallocated_amount} currency={bought} />
              </strong>
            ),
          },
          { name: t('trades.allocated'), value: <Money amount={funds.allocated_amount} currency={bought} /> },
          { name: t('trades.due'), value: <Moment at={trade.maturity_date} isDay /> },
          { name: t('trades.type'), value: t(`trades.type.${trade.trade_type}`) },
          { name: t('trades.ordered'), value: <Day on={trade.order_date} /> },
          ...optional.filter(({ value }) => value),
        ]}
      />
      {trade.single && <p className="quiet">{t('trades.single')}</p>}
    </section>
  );
}

function isZero(amount: string): boolean {
  return /^0(?:\.0*)?$/.test(amount);
}
