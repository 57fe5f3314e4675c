import { Link, Outlet } from '@tanstack/react-router';
import { type ReactNode, Suspense } from 'react';
import type { Permission } from '../../src/identity/people/permission.ts';
import { call } from '../data/call.ts';
import { isSandbox } from '../data/document.ts';
import { signOut, useSession } from '../data/session.ts';
import { ForeignText, visible } from '../design/foreign-text.tsx';
import { Loading } from '../design/states.tsx';
import { Frame } from '../frame/frame.tsx';
import { SessionGuard } from '../frame/session-guard.tsx';
import type { TextKey } from '../texts/keys.ts';
import { type Language, useText } from '../texts/text.tsx';
import { ClientChoice, useClientId } from './client.tsx';
import { usePaletteSource } from './palette-source.tsx';
import './app.css';

interface OwnLink {
  to: string;
  title: TextKey;
  /** The link is hidden from a person who lacks one of these permissions for the client. */
  needs?: readonly Permission[];
}

const LINKS: OwnLink[] = [
  { to: '/', title: 'app.nav.home' },
  { to: '/payments', title: 'app.nav.payments' },
  { to: '/payments/new', title: 'app.nav.newPayment', needs: ['can_create_payments'] },
  { to: '/files', title: 'app.nav.files', needs: ['can_create_payments', 'can_manage_multipayments'] },
  { to: '/payees', title: 'app.nav.payees' },
  { to: '/exchange', title: 'app.nav.exchange', needs: ['can_trade'] },
  { to: '/trades', title: 'app.nav.trades' },
  { to: '/approvals', title: 'app.nav.approvals' },
  { to: '/approvals/settings', title: 'app.nav.settings' },
  { to: '/accounts', title: 'app.nav.accounts' },
  { to: '/documents', title: 'app.nav.documents' },
  { to: '/webhooks', title: 'app.nav.webhooks' },
];
const SANDBOX_LINKS: OwnLink[] = [{ to: '/developers', title: 'app.nav.developers' }];

/** The frame of a client's pages: who is signed in, for which client, and the navigation. */
export function AppFrame(): ReactNode {
  return (
    <SessionGuard prefix="/app">
      <SignedInFrame />
    </SessionGuard>
  );
}

function SignedInFrame(): ReactNode {
  const t = useText();
  const { name, clients } = useSession();
  const clientId = useClientId();
  const palette = usePaletteSource();
  // Without a client in the address, the permissions for any client count.
  const permissions = clients
    .filter((each) => (clientId ?? each.client_id) === each.client_id)
    .flatMap((each) => each.permissions);
  const links = [...LINKS, ...(isSandbox ? SANDBOX_LINKS : [])]
    .filter(({ needs = [] }) => needs.every((each) => permissions.includes(each)))
    .map(({ to, title }) => ({ to, title: t(title) }));
  return (
    <Frame
      links={links}
      palette={palette}
      onSignOut={() => void signOut()}
      onLanguage={(language) => void setLanguage(language)}
      head={
        <>
          <ClientChoice />
          <Link to="/profile" className="frame-whose" title={visible(name)}>
            <span className="visually-hidden">{t('app.nav.profile')}: </span>
            <ForeignText>{name}</ForeignText>
          </Link>
        </>
      }
    >
      <Suspense fallback={<Loading />}>
        <Outlet />
      </Suspense>
    </Frame>
  );
}

/** The service also uses the person's language: mails and the sign-in pages follow it. */
async function setLanguage(language: Language): Promise<void> {
  await call('PATCH', '/app/profile', { body: { language } });
  location.reload();
}
