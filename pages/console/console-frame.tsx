import { Outlet } from '@tanstack/react-router';
import { type ReactNode, Suspense } from 'react';
import { ForeignText } from '../design/foreign-text.tsx';
import { Loading } from '../design/states.tsx';
import { Frame } from '../frame/frame.tsx';
import { SessionGuard } from '../frame/session-guard.tsx';
import type { TextKey } from '../texts/keys.ts';
import { useText } from '../texts/text.tsx';
import { Said, SaidProvider } from './acts/said.tsx';
import { setLanguage } from './language.ts';
import { usePaletteSource } from './search/palette-source.tsx';
import { SearchField } from './search/search-field.tsx';
import { type Scope, signOutStaff, useMay, useStaff } from './staff.ts';
import './console.css';

const LINKS: { to: string; title: TextKey; scope: Scope }[] = [
  { to: '/', title: 'console.nav.home', scope: 'read' },
  { to: '/clients', title: 'console.nav.clients', scope: 'read' },
  { to: '/contacts', title: 'console.nav.contacts', scope: 'read' },
  { to: '/applications', title: 'console.nav.applications', scope: 'read' },
  { to: '/payments', title: 'console.nav.payments', scope: 'read' },
  { to: '/files', title: 'console.nav.files', scope: 'read' },
  { to: '/trades', title: 'console.nav.trades', scope: 'read' },
  { to: '/accounts', title: 'console.nav.accounts', scope: 'read' },
  { to: '/holds', title: 'console.nav.holds', scope: 'read' },
  { to: '/quotes', title: 'console.nav.quotes', scope: 'read' },
  { to: '/notifications', title: 'console.nav.notifications', scope: 'read' },
  { to: '/subscriptions', title: 'console.nav.subscriptions', scope: 'read' },
  { to: '/statements', title: 'console.nav.statements', scope: 'read' },
  { to: '/imports', title: 'console.nav.imports', scope: 'read' },
  { to: '/changes', title: 'console.nav.changes', scope: 'changes' },
  { to: '/requests', title: 'console.nav.requests', scope: 'read' },
  { to: '/audit', title: 'console.nav.audit', scope: 'audit' },
  { to: '/tokens', title: 'console.nav.tokens', scope: 'system' },
  { to: '/settings', title: 'console.nav.settings', scope: 'read' },
  { to: '/system', title: 'console.nav.system', scope: 'read' },
];

/** What is around the pages of the institution's staff. */
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
  const { name } = useStaff();
  const palette = usePaletteSource();
  return (
    <SaidProvider>
      <Frame
        links={LINKS.filter(({ scope }) => may(scope)).map(({ to, title }) => ({ to, title: t(title) }))}
        palette={palette}
        onSignOut={() => void signOutStaff()}
        onLanguage={setLanguage}
        head={
          <>
            <SearchField />
            <span className="small">
              <span className="visually-hidden">{t('console.signedInAs')}: </span>
              <ForeignText>{name}</ForeignText>
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
