import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { type Answered, type BodyOf, callOperator } from '../../data/operator-api.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Day, Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { useText } from '../../texts/text.tsx';
import type { FieldForm } from '../acts/form-values.ts';
import { SettingAct } from '../acts/setting-act.tsx';
import { KnownFacts } from '../lists/known-facts.tsx';
import { IdLink, State } from '../lists/links.tsx';
import { NamedClient, NamedContact } from '../lists/named.tsx';
import { useWord } from '../lists/words.ts';
import { OneRecord } from './one-record.tsx';
import { RelatedPayments } from './related-payments.tsx';
import { TRADE_STATUSES } from './trade-statuses.ts';

type Trade = Answered<'GET /trades/{trade_id}'>;

/** A trade: what is exchanged, who ordered it, and the payments that it funds. */
export default function TradePage(): ReactNode {
  return (
    <OneRecord
      kind="trade"
      title="console.trade.title"
      read={async (id, signal) =>
        (await callOperator('GET /trades/{trade_id}', { path: { trade_id: id }, signal })).body
      }
      actions={(trade) => <TradeAct trade={trade} />}
    >
      {(trade) => (
        <>
          <section className="card">
            <TradeFacts trade={trade} />
          </section>
          <RelatedPayments query={{ client_id: trade.client_id, trade_id: trade.trade_id }} />
        </>
      )}
    </OneRecord>
  );
}

function TradeFacts({ trade }: { trade: Trade }): ReactNode {
  const t = useText();
  const word = useWord();
  const sold = <Money amount={decimal(trade, 'sell_amount')} currency={trade.sell_currency} />;
  const bought = <Money amount={decimal(trade, 'buy_amount')} currency={trade.buy_currency} />;
  return (
    <KnownFacts
      facts={[
        { name: t('console.col.status'), value: <State>{trade.status}</State> },
        { name: t('console.col.type'), value: word(trade.trade_type) },
        { name: t('console.trade.sells'), value: sold },
        { name: t('console.trade.buys'), value: bought },
        { name: t('console.system.rate'), value: `${decimal(trade, 'rate')} ${trade.rate_symbol}` },
        { name: t('console.col.source'), value: word(trade.source) },
        { name: t('console.col.client'), value: <NamedClient id={trade.client_id} /> },
        { name: t('console.col.creator'), value: <NamedContact id={trade.contact_id} /> },
        { name: t('console.trade.ordered'), value: <Day on={trade.order_date} /> },
        { name: t('console.trade.maturity'), value: trade.maturity_date && <Due at={trade.maturity_date} /> },
        { name: t('console.quote.reason'), value: trade.reason ? word(trade.reason) : null },
        { name: t('console.col.reference'), value: trade.reference && <ForeignText>{trade.reference}</ForeignText> },
        { name: t('console.trade.external'), value: trade.external_reference_id },
        { name: t('console.word.quote'), value: trade.quote_id ? <IdLink to="quotes" id={trade.quote_id} /> : null },
        { name: t('console.payment.funding'), value: trade.funding_account_id },
        {
          name: t('console.trade.parent'),
          value: trade.parent_trade_id ? <IdLink to="trades" id={trade.parent_trade_id} /> : null,
        },
      ]}
    />
  );
}

const FIELDS: readonly FieldForm[] = [
  { kind: 'choice', name: 'status', label: 'console.col.status', options: TRADE_STATUSES },
];

function TradeAct({ trade }: { trade: Trade }): ReactNode {
  const t = useText();
  const { trade_id: id, client_id: client } = trade;
  return (
    <SettingAct
      name={t('console.act.setStatus')}
      scope="feed"
      facts={[
        { name: t('console.col.trade'), value: id },
        { name: t('console.col.client'), value: client },
      ]}
      fields={FIELDS}
      values={trade}
      sends="change"
      save={(body, { headers }) =>
        callOperator('PATCH /trades/{trade_id}', {
          path: { trade_id: id },
          body: body as BodyOf<'PATCH /trades/{trade_id}'>,
          headers,
        })
      }
    />
  );
}

/** A maturity at midnight is a day without a time. */
function Due({ at }: { at: string }): ReactNode {
  return /T00:00:00(?:\.0+)?(?:Z|\+00:00)$/.test(at) ? <Day on={at} /> : <Moment at={at} />;
}
