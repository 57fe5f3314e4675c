import type { ReactNode } from 'react';
import { type Answered, type BodyOf, callOperator } from '../../data/operator-api.ts';
import { Day } from '../../design/moment.tsx';
import { Table } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';
import { SettingAct } from '../acts/setting-act.tsx';
import { More } from '../lists/code.tsx';
import { useWord } from '../lists/words.ts';
import { CURRENCY_FIELDS, WEEKDAYS } from './fields.ts';
import { Part } from './part.tsx';

type Currency = Answered<'GET /currencies'>[number];

const dayOf = (day: number) => WEEKDAYS[day - 1] ?? String(day);
const numberOf = (day: unknown) => WEEKDAYS.findIndex((each) => each === day) + 1;

/** How currencies are settled and traded. */
export function CurrenciesPart(): ReactNode {
  const t = useText();
  const word = useWord();
  return (
    <Part
      title="console.currencies.title"
      read={async (signal) => (await callOperator('GET /currencies', { signal })).body}
      acts={() => <CurrencyAct />}
    >
      {(currencies) =>
        currencies.length === 0 ? (
          <p className="quiet">{t('console.currencies.none')}</p>
        ) : (
          <Table
            name={t('console.currencies.title')}
            rows={currencies}
            rowKey={({ currency }) => currency}
            columns={[
              { key: 'currency', title: t('console.col.currency'), cell: ({ currency }) => currency },
              { key: 'decimals', title: t('console.currency.decimals'), numeric: true, cell: (row) => row.decimals },
              { key: 'days', title: t('console.currency.days'), numeric: true, cell: (row) => row.cutoff_days },
              {
                key: 'cutoff',
                title: t('console.currency.cutoff'),
                cell: (row) => row.cutoff_time && `${row.cutoff_time} ${row.cutoff_timezone}`,
              },
              {
                key: 'weekend',
                title: t('console.currency.weekend'),
                cell: ({ weekend }) => weekend.map((day) => word(dayOf(day))).join(', '),
              },
              {
                key: 'holidays',
                title: t('console.system.holidays'),
                cell: ({ holidays }) => holidays.length > 0 && <Holidays holidays={holidays} />,
              },
              { key: 'act', title: t('console.col.action'), cell: (row) => <CurrencyAct currency={row} /> },
            ]}
          />
        )
      }
    </Part>
  );
}

function Holidays({ holidays }: { holidays: Currency['holidays'] }): ReactNode {
  return (
    <More title={String(holidays.length)}>
      {holidays.map(({ date, name }) => (
        <div key={date} className="small">
          <Day on={date} /> {name}
        </div>
      ))}
    </More>
  );
}

function CurrencyAct({ currency }: { currency?: Currency }): ReactNode {
  const t = useText();
  const fields = currency ? CURRENCY_FIELDS.filter(({ name }) => name !== 'currency') : CURRENCY_FIELDS;
  const usual = { cutoff_days: 2, cutoff_timezone: 'Europe/London', weekend: ['saturday', 'sunday'] };
  const values = currency ? { ...currency, weekend: currency.weekend.map(dayOf) } : usual;
  return (
    <SettingAct
      name={t('console.act.setCurrency')}
      scope="feed"
      facts={currency ? [{ name: t('console.col.currency'), value: currency.currency }] : []}
      fields={fields}
      values={values}
      sends="replace"
      save={({ currency: named, weekend, ...body }, { headers }) =>
        callOperator('PUT /currencies/{currency}', {
          path: { currency: currency?.currency ?? String(named ?? '') },
          body: { ...body, weekend: (weekend as unknown[]).map(numberOf) } as BodyOf<'PUT /currencies/{currency}'>,
          headers,
        })
      }
    />
  );
}
