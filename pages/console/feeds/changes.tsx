import type { ReactNode } from 'react';
import { type Answered, callOperator } from '../../data/operator-api.ts';
import { ForeignText, visible } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { Act } from '../acts/act.tsx';
import { Count } from '../lists/count.tsx';
import { Listing } from '../lists/listing.tsx';

type Consumer = Answered<'GET /change-consumers'>[number];

/** The programs that read the change feed, and how far behind each one is. */
export default function ChangesPage(): ReactNode {
  const t = useText();
  return (
    <Page title={t('console.nav.changes')}>
      <p className="quiet small">{t('console.list.live')}</p>
      <Listing
        name={t('console.changes.consumers')}
        operation="GET /change-consumers"
        live
        unpaged
        filters={[]}
        none={t('console.changes.none')}
        rowKey={({ name }) => name}
        columns={[
          { key: 'name', title: t('console.col.name'), cell: ({ name }) => <ForeignText>{name}</ForeignText> },
          {
            key: 'acknowledged',
            title: t('console.col.acknowledged'),
            cell: ({ acknowledged_at: at }) => <Moment at={at} />,
          },
          {
            key: 'lag',
            title: t('console.col.lag'),
            numeric: true,
            cell: ({ lag_changes: lag }) => <Count>{lag}</Count>,
          },
          {
            key: 'seconds',
            title: t('console.col.lagSeconds'),
            numeric: true,
            cell: ({ lag_seconds: seconds }) => <Count>{Math.round(seconds)}</Count>,
          },
          { key: 'act', title: t('console.col.action'), cell: (row) => <Forget consumer={row} /> },
        ]}
      />
    </Page>
  );
}

function Forget({ consumer: { name, lag_changes: lag } }: { consumer: Consumer }): ReactNode {
  const t = useText();
  return (
    <Act
      name={t('console.act.forget')}
      scope="changes"
      kind="danger"
      facts={[
        { name: t('console.col.name'), value: visible(name) },
        { name: t('console.col.lag'), value: lag },
      ]}
      act={async ({ headers }) => {
        await callOperator('DELETE /change-consumers/{name}', { path: { name }, headers });
        return undefined;
      }}
    />
  );
}
