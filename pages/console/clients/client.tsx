import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { callOperator } from '../../data/operator-api.ts';
import { ForeignText, visible } from '../../design/foreign-text.tsx';
import { Day } from '../../design/moment.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { KnownFacts } from '../lists/known-facts.tsx';
import { State } from '../lists/links.tsx';
import { PART_ROWS, Records } from '../lists/records.tsx';
import { useWord } from '../lists/words.ts';
import { RefusedRequests } from '../people/refused-requests.tsx';
import { useContactColumns } from '../records/contact-columns.tsx';
import { RelatedPayments } from '../records/related-payments.tsx';
import { ApprovalRules } from './approval-rules.tsx';
import { type Client, ClientActs, NewContact } from './client-acts.tsx';
import { ClientParts } from './client-parts.tsx';
import { CurrencyAccounts } from './currency-accounts.tsx';
import { Holds } from './holds.tsx';
import { ClientPricing, DailyLimit } from './money.tsx';
import { Quotes } from './quotes.tsx';

/** A client: its facts, people, money, holds, prices, limits, payments, quotes, and refused requests. */
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
    <Page title={title} of={<ForeignText>{data.client_name}</ForeignText>} actions={<ClientActs client={data} />}>
      <section className="card stack">
        <ClientFacts client={data} />
        <ClientParts clientId={id} />
      </section>
      <Contacts client={data} />
      <ApprovalRules clientId={id} />
      <DailyLimit client={data} />
      <ClientPricing client={data} />
      <CurrencyAccounts clientId={id} />
      <Holds query={{ client_id: id }} />
      <RelatedPayments query={{ client_id: id }} />
      <Quotes clientId={id} />
      <RefusedRequests query={{ client_id: id }} />
    </Page>
  );
}

function ClientFacts({ client }: { client: Client }): ReactNode {
  const t = useText();
  const word = useWord();
  const yes = (flag: boolean) => t(flag ? 'console.yes' : 'console.no');
  const { payment_approvals_enabled: approves, authorisation_workflow: workflow } = client;
  return (
    <KnownFacts
      facts={[
        { name: t('console.col.name'), value: <ForeignText>{client.client_name}</ForeignText>, isWhole: true },
        { name: t('console.col.status'), value: <State>{client.status}</State> },
        { name: t('console.col.account'), value: client.account_number },
        { name: t('console.col.since'), value: <Day on={client.became_client} /> },
        { name: t('console.col.workflow'), value: approves ? word(workflow) : t('console.no') },
        { name: t('console.client.fx'), value: yes(client.fx_enabled) },
        { name: t('console.client.creator'), value: yes(client.payment_creator_approval_enabled) },
        { name: t('console.col.stepUp'), value: yes(client.approval_step_up) },
        { name: t('console.client.mass'), value: yes(client.mass_payments_customer) },
        {
          name: t('console.client.push'),
          value: client.statement_push_url && <ForeignText>{client.statement_push_url}</ForeignText>,
        },
      ]}
    />
  );
}

function Contacts({ client }: { client: Client }): ReactNode {
  const t = useText();
  const [page, setPage] = useState(1);
  return (
    <section className="card stack" aria-labelledby="contacts">
      <div className="row apart">
        <h2 id="contacts">{t('console.client.contacts')}</h2>
        <NewContact client={client} />
      </div>
      <Records
        name={t('console.client.contacts')}
        operation="GET /contacts"
        query={{ client_id: client.client_id }}
        page={page}
        rows={PART_ROWS}
        onPage={setPage}
        rowKey={({ contact_id: id }) => id}
        columns={useContactColumns().filter(({ key }) => key !== 'clients')}
      />
    </section>
  );
}
