import type { ReactNode } from 'react';
import { type Answered, callOperator } from '../../data/operator-api.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Day, Moment } from '../../design/moment.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { Act } from '../acts/act.tsx';
import { IdLink, State } from '../lists/links.tsx';
import { Listing } from '../lists/listing.tsx';
import { ClientInRow } from '../lists/named.tsx';

type Statement = Answered<'GET /statements'>[number];

const STATUSES = ['requested', 'making', 'retrying', 'sent', 'failed'];

/** The statements that clients requested, and what became of them. */
export default function StatementsPage(): ReactNode {
  const t = useText();
  const name = t('console.nav.statements');
  return (
    <Page title={name}>
      <Listing
        name={name}
        operation="GET /statements"
        none={t('console.none.statements')}
        live
        filters={[
          { name: 'client_id', label: t('console.col.client') },
          { name: 'status', label: t('console.col.status'), options: STATUSES },
          { name: 'from', label: t('console.col.from'), instant: true, group: t('console.col.at') },
          { name: 'to', label: t('console.col.to'), instant: true, group: t('console.col.at') },
        ]}
        rowKey={(row) => row.statement_id}
        columns={[
          { key: 'at', title: t('console.col.at'), cell: (row) => <Moment at={row.created_at} /> },
          { key: 'client', title: t('console.col.client'), cell: (row) => <ClientInRow id={row.client_id} /> },
          {
            key: 'contact',
            title: t('console.col.contact'),
            cell: (row) => <IdLink to="contacts" id={row.contact_id} />,
          },
          {
            key: 'period',
            title: t('console.col.period'),
            cell: (row) => (
              <div>
                <Day on={row.date_from} /> – <Day on={row.date_to} />
              </div>
            ),
          },
          {
            key: 'format',
            title: t('console.col.format'),
            cell: ({ format, currencies }) => [format, ...currencies].join(' '),
          },
          { key: 'status', title: t('console.col.status'), cell: ({ status }) => <State>{status}</State> },
          { key: 'delivery', title: t('console.col.delivery'), cell: (row) => <Deliveries statement={row} /> },
          { key: 'act', title: t('console.col.action'), cell: (row) => <SendAgain statement={row} /> },
        ]}
      />
    </Page>
  );
}

function Deliveries({ statement: { deliveries } }: { statement: Statement }): ReactNode {
  return (
    <div>
      {deliveries.map(({ channel, currency, status, attempts, last_error: error }) => (
        <div key={`${channel} ${currency}`} className="small">
          {channel} {currency} <State>{status}</State> {attempts}× {error && <ForeignText>{error}</ForeignText>}
        </div>
      ))}
    </div>
  );
}

function SendAgain({ statement }: { statement: Statement }): ReactNode {
  const t = useText();
  const { statement_id: id, client_id: client, contact_id: contact } = statement;
  return (
    <Act
      name={t('console.act.sendAgain')}
      scope="redeliver"
      facts={[
        { name: t('console.col.id'), value: id },
        { name: t('console.col.client'), value: client },
        { name: t('console.col.contact'), value: contact },
      ]}
      act={async ({ headers }) => {
        await callOperator('POST /statements/{id}/send', { path: { id }, headers });
        return undefined;
      }}
    />
  );
}
