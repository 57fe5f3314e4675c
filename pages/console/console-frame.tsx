import { Outlet } from '@tanstack/react-router';
import { type ReactNode, Suspense } from 'react';
import { Loading } from '../design/states.tsx';
import { Frame } from '../frame/frame.tsx';
import { SessionGuard } from '../frame/session-guard.tsx';
import type { TextKey } from '../texts/keys.ts';
import { useText } from '../texts/text.tsx';
import { Said, SaidProvider } from './acts/said.tsx';
import { setLanguage } from './language.ts';
import { Actor } from './lists/links.tsx';
import { usePaletteSource } from './search/palette-source.tsx';
import { SearchField } from './search/search-field.tsx';
import { type Scope, signOutStaff, useMay, useStaff } from './staff.ts';
import './console.css';
import './lists.css';

type Group = 'clients' | 'orders' | 'money' | 'delivery' | 'institution';

const LINKS: { to: string; title: TextKey; scope: Scope; group?: Group }[] = [
  { to: '/', title: 'console.nav.home', scope: 'read' },
  { to: '/clients', title: 'console.nav.clients', scope: 'read', group: 'clients' },
  { to: '/contacts', title: 'console.nav.contacts', scope: 'read', group: 'clients' },
  { to: '/applications', title: 'console.nav.applications', scope: 'read', group: 'clients' },
  { to: '/payments', title: 'console.nav.payments', scope: 'read', group: 'orders' },
  { to: '/files', title: 'console.nav.files', scope: 'read', group: 'orders' },
  { to: '/payees', title: 'console.nav.payees', scope: 'read', group: 'orders' },
  { to: '/quotes', title: 'console.nav.quotes', scope: 'read', group: 'orders' },
  { to: '/trades', title: 'console.nav.trades', scope: 'read', group: 'orders' },
  { to: '/accounts', title: 'console.nav.accounts', scope: 'read', group: 'money' },
  { to: '/holds', title: 'console.nav.holds', scope: 'read', group: 'money' },
  { to: '/statements', title: 'console.nav.statements', scope: 'read', group: 'money' },
  { to: '/notifications', title: 'console.nav.notifications', scope: 'read', group: 'delivery' },
  { to: '/subscriptions', title: 'console.nav.subscriptions', scope: 'read', group: 'delivery' },
  { to: '/imports', title: 'console.nav.imports', scope: 'read', group: 'delivery' },
  { to: '/changes', title: 'console.nav.changes', scope: 'changes', group: 'delivery' },
  { to: '/requests', title: 'console.nav.requests', scope: 'read', group: 'institution' },
  { to: '/audit', title: 'console.nav.audit', scope: 'audit', group: 'institution' },
  { to: '/settings', title: 'console.nav.settings', scope: 'read', group: 'institution' },
  { to: '/tokens', title: 'console.nav.tokens', scope: 'system', group: 'institution' },
  { to: '/system', title: 'console.nav.system', scope: 'read', group: 'institution' },
];

/** The frame around the staff's pages. */
export function ConsoleFrame(): ReactNode {
  return (
    <SessionGuard prefix="/console">
      <SignedInFrame />
    </SessionGuard>
  );
}

function SignedInFrame(): ReactNode {
  const t = useText();
  const may = useMay();
  const { name, signed_in_with: by } = useStaff();
  const palette = usePaletteSource();
  return (
    <SaidProvider>
      <Frame
        links={LINKS.filter(({ scope }) => may(scope)).map(({ to, title, group }) => ({
          ...{ to, title: t(title) },
          ...(group ? { group: t(`console.nav.group.${group}`) } : {}),
        }))}
        palette={palette}
        onSignOut={() => void signOutStaff()}
        onLanguage={setLanguage}
        head={
          <>
            <SearchField />
            <span className="small">
              <span className="visually-hidden">{t('console.signedInAs')}: </span>
              <Actor>{`${by === 'token' ? 'operator' : 'staff'}:${name}`}</Actor>
            </span>
          </>
        }
      >
        <div className="stack">
          <Said />
          <Suspense fallback={<Loading />}>
            <Outlet />
          </Suspense>
        </div>
      </Frame>
    </SaidProvider>
  );
}
