import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { type BodyOf, callOperator } from '../../data/operator-api.ts';
import { TextArea, TextField } from '../../design/field.tsx';
import { Moment } from '../../design/moment.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';
import { Act } from '../acts/act.tsx';

/** The rates that convert payment amounts for approvals. */
export function RatesPart(): ReactNode {
  const t = useText();
  const { data, error, refetch } = useQuery({
    queryKey: ['GET /exchange-rates'],
    queryFn: async ({ signal }) => (await callOperator('GET /exchange-rates', { signal })).body,
  });
  if (!data) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={2} />;
  const rows = data.flatMap((table) =>
    Object.keys(table.rates).map((currency) => ({
      base: table.base_currency,
      currency,
      rate: decimal(table.rates, currency),
      at: table.as_of,
    })),
  );
  return (
    <>
      {rows.length === 0 ? (
        <Empty title={t('console.list.empty')} />
      ) : (
        <Table
          name={t('console.system.rates')}
          rows={rows}
          rowKey={({ base, currency }) => `${base} ${currency}`}
          columns={[
            { key: 'base', title: t('console.system.base'), cell: ({ base }) => base },
            { key: 'currency', title: t('console.system.currency'), cell: ({ currency }) => currency },
            { key: 'rate', title: t('console.system.rate'), numeric: true, cell: ({ rate }) => rate },
            { key: 'at', title: t('console.col.at'), cell: ({ at }) => <Moment at={at} /> },
          ]}
        />
      )}
      <div className="row">
        <Act
          name={t('console.act.setRates')}
          scope="feed"
          facts={[]}
          fields={
            <>
              <TextField label={t('console.system.base')} name="base" defaultValue="GBP" maxLength={3} />
              <TextArea label={t('console.system.rates')} hint={t('console.system.rates.hint')} name="rates" rows={5} />
            </>
          }
          act={async ({ headers, form }) => {
            const rates = Object.fromEntries(
              String(form.get('rates') ?? '')
                .split('\n')
                .map((line) => line.trim().split(/[\s=:]+/))
                .filter(([currency]) => currency),
            );
            const body = { base_currency: String(form.get('base')), rates } as BodyOf<'PUT /exchange-rates'>;
            await callOperator('PUT /exchange-rates', { body, headers });
            return undefined;
          }}
        />
      </div>
    </>
  );
}
