import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { type Answered, callOperator } from '../../data/operator-api.ts';
import { Facts } from '../../design/facts.tsx';
import { ForeignText, visible } from '../../design/foreign-text.tsx';
import { Day } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { Act } from '../acts/act.tsx';
import { IdLink, ListLink, State } from '../lists/links.tsx';
import { Records } from '../lists/records.tsx';
import { RefusedRequests } from './refused-requests.tsx';

type Client = Answered<'GET /clients/{client_id}'>;

/** A client: what it is, its people, its last payments, and what was refused. */
export default function ClientPage(): ReactNode {
  const t = useText();
  const { id } = useParams({ strict: false }) as { id: string };
  const { data, error, refetch } = useQuery({
    queryKey: ['client', id],
    queryFn: async ({ signal }) =>
      (await callOperator('GET /clients/{client_id}', { path: { client_id: id }, signal })).body,
  });
  const title = t('console.client.title', { id: visible(id) });
  if (!data)
    return <Page title={title}>{error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading />}</Page>;
  return (
    <Page title={title} actions={<ClientAct client={data} />}>
      <section className="card stack">
        <ClientFacts client={data} />
        <div className="row">
          {(['notifications', 'subscriptions', 'statements'] as const).map((list) => (
            <ListLink key={list} to={`/${list}`} search={{ client_id: id }}>
              {t(`console.nav.${list}`)}
            </ListLink>
          ))}
        </div>
      </section>
      <Contacts clientId={id} />
      <Payments clientId={id} />
      <RefusedRequests query={{ client_id: id }} />
    </Page>
  );
}

function ClientFacts({ client }: { client: Client }): ReactNode {
  const t = useText();
  const { payment_approvals_enabled: approves, authorisation_workflow: workflow } = client;
  return (
    <Facts
      facts={[
        { name: t('console.col.name'), value: <ForeignText>{client.client_name}</ForeignText> },
        { name: t('console.col.status'), value: <State>{client.status}</State> },
        { name: t('console.col.account'), value: client.account_number },
        { name: t('console.col.since'), value: <Day on={client.became_client} /> },
        { name: t('console.col.workflow'), value: approves ? workflow : t('console.no') },
        { name: t('console.col.stepUp'), value: t(client.approval_step_up ? 'console.yes' : 'console.no') },
      ]}
    />
  );
}

function ClientAct({ client }: { client: Client }): ReactNode {
  const t = useText();
  const { client_id: id, client_name: name, status } = client;
  const enabled = status === 'enabled';
  return (
    <Act
      name={t(enabled ? 'console.act.disable' : 'console.act.enable')}
      scope="feed"
      kind={enabled ? 'danger' : 'second'}
      facts={[
        { name: t('console.col.client'), value: id },
        { name: t('console.col.name'), value: <ForeignText>{name}</ForeignText> },
      ]}
      act={async ({ headers }) => {
        const body = { status: enabled ? ('disabled' as const) : ('enabled' as const) };
        await callOperator('PATCH /clients/{client_id}', { path: { client_id: id }, body, headers });
        return undefined;
      }}
    />
  );
}

function Contacts({ clientId }: { clientId: string }): ReactNode {
  const t = useText();
  const [page, setPage] = useState(1);
  return (
    <section className="card stack" aria-labelledby="contacts">
      <h2 id="contacts">{t('console.client.contacts')}</h2>
      <Records
        name={t('console.client.contacts')}
        operation="GET /contacts"
        query={{ client_id: clientId }}
        page={page}
        onPage={setPage}
        rowKey={({ contact_id: id }) => id}
        columns={[
          { key: 'id', title: t('console.col.id'), cell: (row) => <IdLink to="contacts" id={row.contact_id} /> },
          { key: 'name', title: t('console.col.name'), cell: ({ name }) => <ForeignText>{name}</ForeignText> },
          { key: 'email', title: t('console.col.email'), cell: ({ email }) => <ForeignText>{email}</ForeignText> },
          { key: 'status', title: t('console.col.status'), cell: ({ status }) => <State>{status}</State> },
          { key: 'factor', title: t('console.col.secondFactor'), cell: ({ second_factor: factor }) => factor },
        ]}
      />
    </section>
  );
}

function Payments({ clientId }: { clientId: string }): ReactNode {
  const t = useText();
  const [page, setPage] = useState(1);
  return (
    <section className="card stack" aria-labelledby="payments">
      <h2 id="payments">{t('console.client.payments')}</h2>
      <Records
        name={t('console.client.payments')}
        operation="GET /payments"
        query={{ client_id: clientId, order: 'desc' }}
        page={page}
        onPage={setPage}
        rowKey={({ payment_id: id }) => id}
        columns={[
          { key: 'id', title: t('console.col.id'), cell: (row) => <IdLink to="payments" id={row.payment_id} /> },
          { key: 'status', title: t('console.col.status'), cell: ({ status }) => <State>{status}</State> },
          {
            key: 'payee',
            title: t('console.col.payee'),
            cell: ({ beneficiary_name: payee }) => <ForeignText>{payee}</ForeignText>,
          },
          {
            key: 'reference',
            title: t('console.col.reference'),
            cell: ({ reference }) => <ForeignText>{reference}</ForeignText>,
          },
          { key: 'date', title: t('console.col.date'), cell: ({ payment_date: on }) => <Day on={on} /> },
          {
            key: 'amount',
            title: t('console.col.amount'),
            numeric: true,
            cell: (row) => <Money amount={decimal(row, 'amount')} currency={row.payment_currency} />,
          },
        ]}
      />
    </section>
  );
}
