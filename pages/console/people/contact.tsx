import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { type Answered, callOperator } from '../../data/operator-api.ts';
import { ForeignText, visible } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { KnownFacts } from '../lists/known-facts.tsx';
import { State } from '../lists/links.tsx';
import { Records } from '../lists/records.tsx';
import { useWord } from '../lists/words.ts';
import { ContactActs } from './contact-acts.tsx';
import { ContactClients } from './contact-clients.tsx';
import { ContactLock } from './contact-lock.tsx';
import { RefusedRequests } from './refused-requests.tsx';

type Contact = Answered<'GET /contacts/{contact_id}'>;

/** A contact: its facts, its permissions for each client, and its sign-ins. */
export default function ContactPage(): ReactNode {
  const t = useText();
  const { id } = useParams({ strict: false }) as { id: string };
  const { data, error, refetch } = useQuery({
    queryKey: ['contact', id],
    queryFn: async ({ signal }) =>
      (await callOperator('GET /contacts/{contact_id}', { path: { contact_id: id }, signal })).body,
  });
  const title = t('console.contact.title', { id: visible(id) });
  if (!data)
    return <Page title={title}>{error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading />}</Page>;
  return (
    <Page title={title} of={<ForeignText>{data.name}</ForeignText>} actions={<ContactActs contact={data} />}>
      <ContactLock id={id} />
      <section className="card">
        <ContactFacts contact={data} />
      </section>
      <ContactClients contact={data} />
      <SignIns contactId={id} />
      <RefusedRequests query={{ contact_id: id }} />
    </Page>
  );
}

function ContactFacts({ contact }: { contact: Contact }): ReactNode {
  const t = useText();
  const word = useWord();
  return (
    <KnownFacts
      facts={[
        { name: t('console.col.name'), value: <ForeignText>{contact.name}</ForeignText>, isWhole: true },
        { name: t('console.col.email'), value: <ForeignText>{contact.email}</ForeignText>, isWhole: true },
        { name: t('console.col.phone'), value: contact.phone && <ForeignText>{contact.phone}</ForeignText> },
        { name: t('console.col.status'), value: <State>{contact.status}</State> },
        { name: t('console.col.secondFactor'), value: word(contact.second_factor) },
        { name: t('console.col.language'), value: word(contact.language ?? '') || t('console.contact.language.any') },
        { name: t('console.contact.mails'), value: t(contact.approval_mails ? 'console.yes' : 'console.no') },
        { name: t('console.contact.trusted'), value: t(contact.trusted_access ? 'console.yes' : 'console.no') },
      ]}
    />
  );
}

/** The attempts to sign in, newest first. */
function SignIns({ contactId }: { contactId: string }): ReactNode {
  const t = useText();
  const [page, setPage] = useState(1);
  return (
    <section className="card stack" aria-labelledby="sign-ins">
      <h2 id="sign-ins">{t('console.contact.signIns')}</h2>
      <Records
        name={t('console.contact.signIns')}
        operation="GET /sign-ins"
        query={{ contact_id: contactId }}
        page={page}
        onPage={setPage}
        rowKey={({ request_id: request, at, outcome }) => `${request} ${at} ${outcome}`}
        columns={[
          { key: 'at', title: t('console.col.at'), cell: ({ at }) => <Moment at={at} /> },
          { key: 'outcome', title: t('console.col.outcome'), cell: ({ outcome }) => <State>{outcome}</State> },
          {
            key: 'application',
            title: t('console.col.application'),
            cell: ({ application }) => <ForeignText>{application}</ForeignText>,
          },
          { key: 'address', title: t('console.col.address'), cell: ({ address }) => <code>{address}</code> },
          {
            key: 'request',
            title: t('console.col.request'),
            cell: (row) => <span className="console-whole">{visible(row.request_id)}</span>,
          },
        ]}
      />
    </section>
  );
}
