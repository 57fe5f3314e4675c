import { useLocation, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { createContext, type ReactNode, use, useEffect } from 'react';
import type { PageClient } from '../../src/identity/people/page-person.ts';
import { useSession } from '../data/session.ts';
import { Button } from '../design/button.tsx';
import { Select } from '../design/field.tsx';
import { ForeignText, isolated, visible } from '../design/foreign-text.tsx';
import { Empty } from '../design/states.tsx';
import { NotFound } from '../frame/not-found.tsx';
import { Page } from '../frame/page.tsx';
import { firstOf, type Search } from '../frame/search.ts';
import { useText } from '../texts/text.tsx';

const ClientContext = createContext<PageClient | undefined>(undefined);

/** The client that the page is about, from its address. */
export function useClient(): PageClient {
  const client = use(ClientContext);
  if (!client) throw new Error('this page is drawn without a client');
  return client;
}

/** The id of the client in the address. */
export function useClientId(): string | undefined {
  return firstOf(useSearch({ strict: false, select: (search: Search) => search.client_id }));
}

/**
 * Puts a client into the page's address and drops everything else, which belongs to the previous client. A page of one payment or account
 * gives way to their list, because the other client does not have that payment or account.
 */
function useChoose(): (clientId: string, replace?: boolean) => void {
  const navigate = useNavigate();
  const isOfOne = Object.keys(useParams({ strict: false })).length > 0;
  const [, area] = useLocation({ select: ({ pathname }) => pathname }).split('/');
  return (clientId, replace = false) =>
    void navigate({
      to: isOfOne && !replace ? `/${area}` : '.',
      replace,
      search: ((search: Search) => (replace ? { ...search, client_id: clientId } : { client_id: clientId })) as never,
    });
}

/** Draws a page for the client in its address. If there are several clients and the address names none, it asks. */
export function ForClient({ children }: { children: ReactNode }): ReactNode {
  const t = useText();
  const { clients } = useSession();
  const clientId = useClientId();
  const choose = useChoose();
  const client = clients.find((each) => each.client_id === clientId);
  // A new client means a new page: nothing of the previous one stays.
  if (client)
    return (
      <ClientContext key={client.client_id} value={client}>
        {children}
      </ClientContext>
    );
  if (clientId !== undefined) return <NotFound />;
  // The only client is being added to the address.
  if (clients.length === 1) return null;
  if (clients.length === 0)
    return (
      <Page title={t('app.noClient')}>
        <Empty title={t('app.noClient.text')} />
      </Page>
    );
  return (
    <Page title={t('app.choose')}>
      <p>{t('app.choose.text')}</p>
      {clients.map(({ client_id: id, client_name: name, waiting }) => (
        <div className="card row apart" key={id}>
          <div>
            <h2>
              <ForeignText>{name}</ForeignText>
            </h2>
            <p className="quiet">
              {id} · {t('app.waiting', { count: waiting })}
            </p>
          </div>
          <Button kind="primary" aria-label={`${t('app.choose')}: ${isolated(name)}`} onPress={() => choose(id, true)}>
            {t('app.choose.this')}
          </Button>
        </div>
      ))}
    </Page>
  );
}

/** The client menu in the header, if there are several. A single client is added to every address that names none. */
export function ClientChoice(): ReactNode {
  const t = useText();
  const { clients } = useSession();
  const clientId = useClientId();
  const choose = useChoose();
  const only = clients.length === 1 ? clients[0] : undefined;
  const isAdded = clientId === undefined && only !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: this runs once for an address without a client
  useEffect(() => {
    if (isAdded) choose(only.client_id, true);
  }, [isAdded]);
  if (only)
    return (
      <span className="frame-whose" title={visible(only.client_name)}>
        <ForeignText>{only.client_name}</ForeignText>
      </span>
    );
  if (clients.length === 0) return null;
  return (
    <span className="client-choice">
      <Select label={t('frame.client')} value={clientId ?? ''} onChange={({ target }) => choose(target.value)}>
        {clientId === undefined && <option value="">{t('app.choose')}</option>}
        {clients.map(({ client_id: id, client_name: name }) => (
          <option key={id} value={id}>
            {isolated(name)}
          </option>
        ))}
      </Select>
    </span>
  );
}
