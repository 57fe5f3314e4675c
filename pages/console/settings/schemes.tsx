import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { type BodyOf, callOperator } from '../../data/operator-api.ts';
import { Money } from '../../design/money.tsx';
import { Table } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';
import { SettingAct } from '../acts/setting-act.tsx';
import { SCHEME_FIELDS } from './fields.ts';
import { Part } from './part.tsx';

/** Which payments use which scheme: the first matching rule decides. */
export function SchemesPart(): ReactNode {
  const t = useText();
  return (
    <Part
      title="console.word.payment_schemes"
      read={async (signal) => (await callOperator('GET /payment-schemes', { signal })).body}
      acts={(schemes) => (
        <SettingAct
          name={t('console.act.setSchemes')}
          scope="feed"
          facts={[]}
          fields={SCHEME_FIELDS}
          values={schemes}
          sends="replace"
          save={(body, { headers }) =>
            callOperator('PUT /payment-schemes', { body: body as BodyOf<'PUT /payment-schemes'>, headers })
          }
        />
      )}
    >
      {({ rules }) =>
        rules.length === 0 ? (
          <p className="quiet">{t('console.schemes.none')}</p>
        ) : (
          <Table
            name={t('console.word.payment_schemes')}
            rows={rules.map((rule, place) => ({ ...rule, place: place + 1 }))}
            rowKey={({ place }) => place}
            columns={[
              { key: 'place', title: t('console.schemes.place'), numeric: true, cell: ({ place }) => place },
              { key: 'currency', title: t('console.col.currency'), cell: (row) => row.payment_currency },
              {
                key: 'country',
                title: t('console.schemes.country'),
                cell: (row) => row.bank_country ?? t('console.list.any'),
              },
              {
                key: 'maximum',
                title: t('console.schemes.maximum'),
                numeric: true,
                cell: (row) =>
                  row.maximum !== null && (
                    <Money amount={decimal(row, 'maximum') ?? ''} currency={row.payment_currency} />
                  ),
              },
              { key: 'scheme', title: t('console.schemes.scheme'), cell: ({ scheme }) => scheme },
              {
                key: 'cutoff',
                title: t('console.currency.cutoff'),
                cell: (row) => row.cutoff_time && `${row.cutoff_time} ${row.cutoff_timezone}`,
              },
              {
                key: 'every',
                title: t('console.schemes.everyDay'),
                cell: (row) => t(row.every_day ? 'console.yes' : 'console.no'),
              },
            ]}
          />
        )
      }
    </Part>
  );
}
