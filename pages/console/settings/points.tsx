import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { type BodyOf, callOperator } from '../../data/operator-api.ts';
import { Table } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';
import { SettingAct } from '../acts/setting-act.tsx';
import { POINT_FIELDS } from './fields.ts';
import { Part } from './part.tsx';

/** What forwards add to the rates of their currency pairs. */
export function PointsPart(): ReactNode {
  const t = useText();
  const act = (values: object) => (
    <SettingAct
      name={t('console.act.setPoints')}
      scope="feed"
      facts={[]}
      fields={POINT_FIELDS}
      values={values}
      sends="replace"
      save={(body, { headers }) =>
        callOperator('PUT /forward-points', { body: body as BodyOf<'PUT /forward-points'>, headers })
      }
    />
  );
  return (
    <Part
      title="console.word.forward_points"
      read={async (signal) => (await callOperator('GET /forward-points', { signal })).body}
      acts={() => act({})}
    >
      {(pairs) =>
        pairs.length === 0 ? (
          <p className="quiet">{t('console.points.none')}</p>
        ) : (
          <Table
            name={t('console.word.forward_points')}
            rows={pairs}
            rowKey={(row) => `${row.sell_currency}${row.buy_currency}`}
            columns={[
              { key: 'sell', title: t('console.trade.sells'), cell: (row) => row.sell_currency },
              { key: 'buy', title: t('console.trade.buys'), cell: (row) => row.buy_currency },
              {
                key: 'points',
                title: t('console.points.title'),
                cell: ({ points }) =>
                  points.map((each) => (
                    <div key={each.days}>
                      {t('console.points.row', { days: each.days, points: decimal(each, 'points') })}
                    </div>
                  )),
              },
              { key: 'act', title: t('console.col.action'), cell: act },
            ]}
          />
        )
      }
    </Part>
  );
}
