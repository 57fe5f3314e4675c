import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Answered, callOperator } from '../../data/operator-api.ts';
import { Moment } from '../../design/moment.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Page } from '../../frame/page.tsx';
import { firstOf, type Search } from '../../frame/search.ts';
import { useText } from '../../texts/text.tsx';
import { Act } from '../acts/act.tsx';
import { More } from '../lists/code.tsx';
import { ListLink, State } from '../lists/links.tsx';
import { Listing } from '../lists/listing.tsx';
import { ClientInRow } from '../lists/named.tsx';
import { Deliveries } from './deliveries.tsx';

type Notification = Answered<'GET /notifications'>[number];

const STATUSES = ['pending', 'delivered', 'failed', 'cancelled'];
const TYPES = [
  ...['TRADE_STATUS_CHANGE', 'PAYMENT_STATUS_CHANGE', 'CREDIT_INCOMING_TRANSACTION', 'CREDIT_MARGIN_TRANSACTION'],
  ...['CREDIT_PAYMENT_RETURNED_TRANSACTION', 'CREDIT_TRANSACTION', 'DEBIT_TRANSACTION', 'ONBOARDING_STATUS_CHANGE'],
  ...['BENEFICIARY_STATUS_CHANGE', 'MASS_PAYMENT_STATUS_CHANGE', 'MASS_BENEFICIARY_STATUS_CHANGE'],
  'PING',
];
/** How often an open notification is refreshed. */
const LIVE_MS = 3_000;

/** Notifications to clients' receivers, as they are made and delivered. */
export default function NotificationsPage(): ReactNode {
  const t = useText();
  const columns = useColumns();
  const id = firstOf((useSearch({ strict: false }) as Search).id);
  const name = t('console.nav.notifications');
  return (
    <Page title={name}>
      <p className="quiet small">{t('console.list.live')}</p>
      {id ? (
        <OneNotification id={id} columns={columns} />
      ) : (
        <Listing
          name={name}
          operation="GET /notifications"
          none={t('console.none.notifications')}
          live
          filters={[
            { name: 'id', label: t('console.col.id') },
            { name: 'client_id', label: t('console.col.client') },
            { name: 'payment_id', label: t('console.col.payment') },
            { name: 'subscription_id', label: t('console.col.subscription') },
            { name: 'status', label: t('console.col.status'), options: STATUSES },
            { name: 'type', label: t('console.col.type'), options: TYPES },
            { name: 'from', label: t('console.col.from'), instant: true, group: t('console.col.at') },
            { name: 'to', label: t('console.col.to'), instant: true, group: t('console.col.at') },
          ]}
          rowKey={(row) => row.id}
          columns={columns}
        />
      )}
    </Page>
  );
}

function OneNotification({ id, columns }: { id: string; columns: Column<Notification>[] }): ReactNode {
  const t = useText();
  const { data, error, refetch } = useQuery({
    queryKey: ['notification', id],
    queryFn: async ({ signal }) => (await callOperator('GET /notifications/{id}', { path: { id }, signal })).body,
    refetchInterval: LIVE_MS,
  });
  if (!data) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading />;
  return (
    <div className="stack">
      <ListLink to="/notifications" search={{}}>
        {t('console.list.all')}
      </ListLink>
      <section className="card stack">
        <Table
          name={t('console.nav.notifications')}
          columns={columns.filter(({ key }) => key !== 'attempts')}
          rows={[data]}
          rowKey={(row) => row.id}
        />
        <Deliveries notification={data} />
      </section>
    </div>
  );
}

function useColumns(): Column<Notification>[] {
  const t = useText();
  return [
    { key: 'at', title: t('console.col.at'), cell: (row) => <Moment at={row.created_at} isStacked /> },
    {
      key: 'id',
      title: t('console.col.id'),
      cell: ({ id }) => (
        <ListLink to="/notifications" search={{ id }} id={id}>
          {id}
        </ListLink>
      ),
    },
    {
      key: 'type',
      title: t('console.col.type'),
      cell: ({ type, client_id: client }) => (
        <div>
          {type}
          <div className="small">
            <ClientInRow id={client} />
          </div>
        </div>
      ),
    },
    { key: 'status', title: t('console.col.status'), cell: ({ status }) => <State>{status}</State> },
    {
      key: 'attempts',
      title: t('console.col.attempts'),
      cell: (row) => (
        <More title={`${row.attempts.length}`}>
          <Deliveries notification={row} />
        </More>
      ),
    },
    { key: 'act', title: t('console.col.action'), cell: (row) => <Redeliver notification={row} /> },
  ];
}

/** Sends a notification again. One that an erasure has cancelled has no content and cannot be sent. */
function Redeliver({ notification }: { notification: Notification }): ReactNode {
  const t = useText();
  const { id, type, client_id: client, status, body } = notification;
  if (status === 'cancelled' && body === '') return null;
  return (
    <Act
      name={t('console.act.redeliver')}
      scope="redeliver"
      facts={[
        { name: t('console.col.id'), value: id },
        { name: t('console.col.type'), value: type },
        { name: t('console.col.client'), value: client },
      ]}
      act={async ({ headers }) => {
        await callOperator('POST /notifications/{id}/redeliver', { path: { id }, headers });
        return undefined;
      }}
    />
  );
}
