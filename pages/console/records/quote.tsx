import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { type Answered, callOperator } from '../../data/operator-api.ts';
import { Facts } from '../../design/facts.tsx';
import { Day, Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { useText } from '../../texts/text.tsx';
import { State } from '../lists/links.tsx';
import { NamedClient, NamedContact } from '../lists/named.tsx';
import { useWord } from '../lists/words.ts';
import { OneRecord } from './one-record.tsx';
import { QuoteEnd } from './quote-end.tsx';

type Quote = Answered<'GET /quotes/{quote_id}'>;

/** A quote: the client's terms, how the rate was made, and what became of it. */
export default function QuotePage(): ReactNode {
  return (
    <OneRecord
      kind="quote"
      title="console.quote.title"
      read={async (id, signal) =>
        (await callOperator('GET /quotes/{quote_id}', { path: { quote_id: id }, signal })).body
      }
    >
      {(quote) => (
        <section className="card">
          <QuoteFacts quote={quote} />
        </section>
      )}
    </OneRecord>
  );
}

function QuoteFacts({ quote }: { quote: Quote }): ReactNode {
  const t = useText();
  const word = useWord();
  const sold = <Money amount={decimal(quote, 'sell_amount')} currency={quote.sell_currency} />;
  const bought = <Money amount={decimal(quote, 'buy_amount')} currency={quote.buy_currency} />;
  return (
    <Facts
      facts={[
        { name: t('console.col.status'), value: <State>{quote.status}</State> },
        { name: t('console.quote.end'), value: <QuoteEnd quote={quote} /> },
        { name: t('console.trade.sells'), value: sold },
        { name: t('console.trade.buys'), value: bought },
        { name: t('console.system.rate'), value: `${decimal(quote, 'quoted_rate')} ${quote.quoted_rate_symbol}` },
        { name: t('console.quote.mid'), value: decimal(quote, 'mid') },
        { name: t('console.pricing.spread'), value: quote.spread_bps },
        { name: t('console.quote.rateAt'), value: <Moment at={quote.rate_as_of} /> },
        { name: t('console.col.type'), value: word(quote.trade_type) },
        { name: t('console.quote.valueDate'), value: <Day on={quote.value_date} /> },
        { name: t('console.col.client'), value: <NamedClient id={quote.client_id} /> },
        { name: t('console.col.contact'), value: <NamedContact id={quote.contact_id} /> },
        { name: t('console.col.created'), value: <Moment at={quote.created_at} /> },
      ]}
    />
  );
}
