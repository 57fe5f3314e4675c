import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type BodyOf, callOperator } from '../../data/operator-api.ts';
import { Facts } from '../../design/facts.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { Page } from '../../frame/page.tsx';
import { firstOf, type Search } from '../../frame/search.ts';
import type { TextKey } from '../../texts/keys.ts';
import { useText } from '../../texts/text.tsx';
import { KeptReasonProvider } from '../acts/kept-reason.tsx';
import { SettingAct } from '../acts/setting-act.tsx';
import { IdLink, ListLink } from '../lists/links.tsx';
import { useWord } from '../lists/words.ts';
import { useMay } from '../staff.ts';
import type { Client } from './client-acts.tsx';
import { APPROVAL_FIELDS, CLIENT_FIELDS } from './fields.ts';
import { AccountsStep, ApplicationStep, ContactsStep, MoneySteps, SignInStep, Step } from './new-client-steps.tsx';

/**
 * Guides staff through setting up a client: contacts, permissions, an application, pricing, limits, currency accounts, and the mails for the
 * first sign-in.
 * Each step is saved at once, and the address names the client, so that the page can be closed and continued later.
 */
export default function NewClientPage(): ReactNode {
  const t = useText();
  const id = firstOf((useSearch({ strict: false }) as Search).client_id);
  return (
    <Page title={t('console.new.client')}>
      <p className="quiet">{t('console.new.explained')}</p>
      <KeptReasonProvider>{id ? <Steps id={id} /> : <FirstStep />}</KeptReasonProvider>
    </Page>
  );
}

/** The identifier may come from the core. */
const NEW_CLIENT_FIELDS = [
  ...CLIENT_FIELDS.slice(0, 2),
  {
    ...({ kind: 'text', name: 'client_id', label: 'console.col.id', hint: 'console.new.id' } as const),
    maxLength: 64,
  },
  ...CLIENT_FIELDS.slice(2),
];

function FirstStep(): ReactNode {
  const t = useText();
  const may = useMay();
  const go = useNavigate();
  const fields = may('approvals') ? [...NEW_CLIENT_FIELDS, ...APPROVAL_FIELDS] : NEW_CLIENT_FIELDS;
  return (
    <ol className="console-steps">
      <Step place={1} title={t('console.word.client_title')} hint={t('console.new.client.hint')}>
        <div className="row">
          <SettingAct
            name={t('console.new.create')}
            scope="feed"
            kind="primary"
            facts={[]}
            fields={fields}
            values={{ fx_enabled: true, authorisation_workflow: '4-eyes', payment_approvals_enabled: true }}
            sends="create"
            save={async (body, { headers }) => {
              const made = await callOperator('POST /clients', { body: body as BodyOf<'POST /clients'>, headers });
              void go({ to: '.', search: { client_id: made.body.client_id } as never });
            }}
          />
        </div>
      </Step>
      {LATER.map(([title, hint], place) => (
        <Step key={title} place={place + 2} title={t(title)} hint={t(hint)} isLater />
      ))}
    </ol>
  );
}

/** The steps that follow once the client exists. */
const LATER: [TextKey, TextKey][] = [
  ['console.new.contacts', 'console.new.contacts.hint'],
  ['console.col.application', 'console.new.application.hint'],
  ['console.new.money', 'console.new.money.hint'],
  ['console.accounts.currency', 'console.new.accounts.hint'],
  ['console.new.signIn', 'console.new.signIn.hint'],
];

function Steps({ id }: { id: string }): ReactNode {
  const t = useText();
  const { data, error, refetch } = useQuery({
    queryKey: ['client', id],
    queryFn: async ({ signal }) =>
      (await callOperator('GET /clients/{client_id}', { path: { client_id: id }, signal })).body,
  });
  if (!data) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading />;
  return (
    <>
      <ol className="console-steps">
        <Step place={1} title={t('console.word.client_title')} isDone>
          <ClientSummary client={data} />
        </Step>
        <ContactsStep place={2} client={data} />
        <ApplicationStep place={3} client={data} />
        <MoneySteps place={4} client={data} />
        <AccountsStep place={5} client={data} />
        <SignInStep place={6} client={data} />
      </ol>
      <div className="row">
        <ListLink to={`/clients/${encodeURIComponent(id)}`} search={{}} isButton>
          {t('console.new.open')}
        </ListLink>
      </div>
    </>
  );
}

function ClientSummary({ client }: { client: Client }): ReactNode {
  const t = useText();
  const word = useWord();
  return (
    <Facts
      facts={[
        { name: t('console.col.id'), value: <IdLink to="clients" id={client.client_id} /> },
        { name: t('console.col.name'), value: <ForeignText>{client.client_name}</ForeignText> },
        { name: t('console.col.account'), value: client.account_number },
        {
          name: t('console.col.workflow'),
          value: client.payment_approvals_enabled ? word(client.authorisation_workflow) : t('console.no'),
        },
      ]}
    />
  );
}
