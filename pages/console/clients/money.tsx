import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { callOperator } from '../../data/operator-api.ts';
import { Facts } from '../../design/facts.tsx';
import { Day } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';
import { type Client, LimitAct, type Pricing, PricingAct } from './client-acts.tsx';

/** How often the use of the limit is refreshed. */
const LIVE_MS = 15_000;

/** What the contacts of a client may order in a day, and what they have ordered today. */
export function DailyLimit({ client }: { client: Client }): ReactNode {
  const t = useText();
  const { client_id: id } = client;
  const { data, error, refetch } = useQuery({
    queryKey: ['client', id, 'use'],
    queryFn: async ({ signal }) =>
      (await callOperator('GET /clients/{client_id}/daily-use', { path: { client_id: id }, signal })).body,
    refetchInterval: LIVE_MS,
  });
  return (
    <section className="card stack" aria-labelledby="limit">
      <div className="row apart">
        <h2 id="limit">{t('console.client.limit')}</h2>
        <LimitAct client={client} />
      </div>
      {!data && (error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={1} />)}
      {data && (
        <Facts
          facts={[
            {
              name: t('console.client.limit'),
              value: data.limit ? (
                <Money amount={decimal(data.limit, 'amount')} currency={data.limit.currency} />
              ) : (
                t('console.client.noLimit')
              ),
            },
            {
              name: t('console.client.used'),
              value:
                data.limit && data.used !== null ? (
                  <Money amount={decimal(data, 'used')} currency={data.limit.currency} />
                ) : (
                  data.limit && t('console.client.noRate')
                ),
            },
            {
              name: t('console.client.ordered'),
              value:
                data.orders.length > 0
                  ? data.orders.map((sum) => (
                      <div key={sum.currency}>
                        <Money amount={decimal(sum, 'amount')} currency={sum.currency} />
                      </div>
                    ))
                  : t('console.client.nothingOrdered'),
            },
            { name: t('console.client.day'), value: <Day on={data.day} /> },
          ]}
        />
      )}
    </section>
  );
}

/** What a client pays for exchanges, and the currencies that it may use. */
export function usePricing(clientId: string) {
  return useQuery({
    queryKey: ['client', clientId, 'pricing'],
    queryFn: async ({ signal }) =>
      (await callOperator('GET /clients/{client_id}/pricing', { path: { client_id: clientId }, signal })).body,
  });
}

/** The pricing of a client, and the act that sets it. */
export function ClientPricing({ client }: { client: Client }): ReactNode {
  const t = useText();
  const { data, error, refetch } = usePricing(client.client_id);
  return (
    <section className="card stack" aria-labelledby="pricing">
      <div className="row apart">
        <h2 id="pricing">{t('console.word.pricing')}</h2>
        {data && <PricingAct client={client} pricing={data} />}
      </div>
      {!data && (error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={2} />)}
      {data && <PricingFacts pricing={data} />}
    </section>
  );
}

function PricingFacts({ pricing }: { pricing: Pricing }): ReactNode {
  const t = useText();
  const { spreads, currencies } = pricing;
  const yes = (flag: boolean) => t(flag ? 'console.yes' : 'console.no');
  return (
    <>
      <Facts
        facts={[
          { name: t('console.pricing.spread'), value: pricing.spread_bps ?? t('console.pricing.usual') },
          { name: t('console.pricing.default'), value: pricing.default_currency },
          { name: t('console.pricing.currencies'), value: currencies ? currencies.length : t('console.pricing.all') },
        ]}
      />
      {spreads.length > 0 && <Spreads spreads={spreads} />}
      {currencies && currencies.length > 0 && (
        <Table
          name={t('console.pricing.currencies')}
          rows={currencies}
          rowKey={({ currency }) => currency}
          columns={[
            { key: 'currency', title: t('console.col.currency'), cell: ({ currency }) => currency },
            { key: 'buy', title: t('console.pricing.buy'), cell: (row) => yes(row.buy_allowed) },
            { key: 'sell', title: t('console.pricing.sell'), cell: (row) => yes(row.sell_allowed) },
            { key: 'pay', title: t('console.pricing.pay'), cell: (row) => yes(row.pay_allowed) },
          ]}
        />
      )}
    </>
  );
}

/** The spreads of currency pairs. */
export function Spreads({ spreads }: { spreads: Pricing['spreads'] }): ReactNode {
  const t = useText();
  return (
    <Table
      name={t('console.pricing.spreads')}
      rows={spreads}
      rowKey={(row) => `${row.sell_currency}${row.buy_currency}`}
      columns={[
        { key: 'sell', title: t('console.trade.sells'), cell: (row) => row.sell_currency },
        { key: 'buy', title: t('console.trade.buys'), cell: (row) => row.buy_currency },
        { key: 'spread', title: t('console.pricing.spread'), numeric: true, cell: (row) => row.spread_bps },
      ]}
    />
  );
}
