import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useId } from 'react';
import { type Answered, callOperator } from '../../data/operator-api.ts';
import { Badge } from '../../design/badge.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Table } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';
import { Act } from '../acts/act.tsx';
import { IdLink } from '../lists/links.tsx';
import { useWord, useWords } from '../lists/words.ts';
import { NewApplication } from '../records/application-acts.tsx';
import { type Client, NewContact, type Pricing } from './client-acts.tsx';
import { CurrencyAccountTable, useCurrencyAccounts } from './currency-accounts.tsx';
import { ClientPricing, DailyLimit, usePricing } from './money.tsx';
import { OpenAccounts } from './open-accounts.tsx';

type Contact = Answered<'GET /contacts'>[number];

/** The most contacts shown: a new client has only a few. */
const MAX_SHOWN = 100;

interface StepProps {
  place: number;
  title: string;
  isDone?: boolean;
  /** True if an earlier step must be done first. */
  isLater?: boolean;
  hint?: string;
  children?: ReactNode;
}

/** One step in setting up a client. */
export function Step({ place, title, isDone = false, isLater = false, hint, children }: StepProps): ReactNode {
  const word = useWord();
  const id = useId();
  return (
    <li className={`card stack${isLater ? ' later' : ''}`} aria-labelledby={id}>
      <div className="row">
        <h2 id={id}>{`${place}. ${title}`}</h2>
        {isDone && <Badge tone="good">{word('done')}</Badge>}
      </div>
      {hint && <p className="quiet small">{hint}</p>}
      {children}
    </li>
  );
}

function useContacts(clientId: string): Contact[] {
  const { data = [] } = useQuery({
    queryKey: ['GET /contacts', clientId, 'new'],
    queryFn: async ({ signal }) =>
      (await callOperator('GET /contacts', { query: { client_id: clientId, page_size: MAX_SHOWN }, signal })).body,
  });
  return data;
}

/** The contacts and their permissions. */
export function ContactsStep({ place, client }: { place: number; client: Client }): ReactNode {
  const t = useText();
  const words = useWords();
  const { client_id: id } = client;
  const data = useContacts(id);
  return (
    <Step
      place={place}
      title={t('console.new.contacts')}
      hint={t('console.new.contacts.hint')}
      isDone={data.length > 0}
    >
      {data.length > 0 && (
        <Table
          name={t('console.client.contacts')}
          rows={data}
          rowKey={({ contact_id: contact }) => contact}
          columns={[
            { key: 'id', title: t('console.col.id'), cell: (row) => <IdLink to="contacts" id={row.contact_id} /> },
            { key: 'name', title: t('console.col.name'), cell: ({ name }) => <ForeignText>{name}</ForeignText> },
            { key: 'email', title: t('console.col.email'), cell: ({ email }) => <ForeignText>{email}</ForeignText> },
            {
              key: 'permissions',
              title: t('console.col.permissions'),
              cell: ({ clients }) => words(clients.find((each) => each.client_id === id)?.permissions ?? []),
            },
          ]}
        />
      )}
      <div className="row">
        <NewContact client={client} />
      </div>
    </Step>
  );
}

/** The application that signs the contacts in. The pages in the browser need none. */
export function ApplicationStep({ place, client }: { place: number; client: Client }): ReactNode {
  const t = useText();
  const { client_id: id } = client;
  const { data = [] } = useQuery({
    queryKey: ['GET /applications', 'new'],
    queryFn: async ({ signal }) =>
      (await callOperator('GET /applications', { query: { page_size: MAX_SHOWN }, signal })).body,
  });
  const own = data.filter(({ trusted_clients: trusted }) => trusted.includes(id));
  return (
    <Step
      place={place}
      title={t('console.col.application')}
      hint={t('console.new.application.hint')}
      isDone={own.length > 0}
    >
      {own.length > 0 && (
        <ul className="plain">
          {own.map(({ client_id: application, name }) => (
            <li key={application}>
              <IdLink to="applications" id={application} /> <ForeignText>{name}</ForeignText>
            </li>
          ))}
        </ul>
      )}
      <div className="row">
        <NewApplication trusted={id} />
      </div>
    </Step>
  );
}

/** Pricing, and what may be ordered in a day. */
export function MoneySteps({ place, client }: { place: number; client: Client }): ReactNode {
  const t = useText();
  const { data: pricing } = usePricing(client.client_id);
  const isDone = client.daily_payment_limit !== null || (pricing !== undefined && isOwn(pricing));
  return (
    <Step place={place} title={t('console.new.money')} hint={t('console.new.money.hint')} isDone={isDone}>
      <ClientPricing client={client} />
      <DailyLimit client={client} />
    </Step>
  );
}

/** Whether anything of a client's pricing was set for this client. */
function isOwn({ spread_bps: spread, spreads, currencies, default_currency: offered }: Pricing): boolean {
  return spread !== null || spreads.length > 0 || currencies !== null || offered !== null;
}

/** The accounts that the client pays from. The currencies that its pricing allows are suggested. */
export function AccountsStep({ place, client }: { place: number; client: Client }): ReactNode {
  const t = useText();
  const { client_id: id } = client;
  const { data = [] } = useCurrencyAccounts(id);
  const { data: pricing } = usePricing(id);
  const allowed = pricing?.currencies?.map(({ currency }) => currency) ?? [pricing?.default_currency ?? []].flat();
  const chosen = allowed.filter((each) => !data.some(({ currency }) => currency === each));
  return (
    <Step
      place={place}
      title={t('console.accounts.currency')}
      hint={t('console.new.accounts.hint')}
      isDone={data.length > 0}
    >
      {data.length > 0 && <CurrencyAccountTable rows={data} />}
      <div className="row">
        <OpenAccounts clientId={id} chosen={chosen} />
      </div>
    </Step>
  );
}

/** The mails with which the contacts sign in for the first time. They come last: then everything is there. */
export function SignInStep({ place, client }: { place: number; client: Client }): ReactNode {
  const t = useText();
  const contacts = useContacts(client.client_id);
  return (
    <Step place={place} title={t('console.new.signIn')} hint={t('console.new.signIn.hint')}>
      {contacts.length === 0 && <p>{t('console.new.signIn.none')}</p>}
      {contacts.length > 0 && (
        <Table
          name={t('console.new.signIn')}
          rows={contacts}
          rowKey={({ contact_id: contact }) => contact}
          columns={[
            { key: 'name', title: t('console.col.name'), cell: ({ name }) => <ForeignText>{name}</ForeignText> },
            { key: 'email', title: t('console.col.email'), cell: ({ email }) => <ForeignText>{email}</ForeignText> },
            { key: 'act', title: t('console.col.action'), cell: (row) => <Invite contact={row} /> },
          ]}
        />
      )}
    </Step>
  );
}

/** Sends a contact the link for choosing a first password. */
function Invite({ contact }: { contact: Contact }): ReactNode {
  const t = useText();
  const { contact_id: id, name, email } = contact;
  return (
    <Act
      name={t('console.act.invite')}
      scope="identity"
      facts={[
        { name: t('console.col.name'), value: <ForeignText>{name}</ForeignText> },
        { name: t('console.col.email'), value: <ForeignText>{email}</ForeignText> },
      ]}
      act={async ({ headers }) => {
        await callOperator('POST /contacts/{contact_id}/invite', { path: { contact_id: id }, headers });
        return t('console.act.invited');
      }}
    />
  );
}
