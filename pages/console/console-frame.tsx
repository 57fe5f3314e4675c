import { Outlet } from '@tanstack/react-router';
import { type ReactNode, Suspense } from 'react';
import { call } from '../data/call.ts';
import { Loading } from '../design/states.tsx';
import { Frame } from '../frame/frame.tsx';
import { useText } from '../texts/text.tsx';

/** What is around the pages of the institution's staff. */
export function ConsoleFrame(): ReactNode {
  const t = useText();
  return (
    <Frame
      links={[{ to: '/', title: t('console.title') }]}
      onSignOut={() => void signOut()}
      onLanguage={() => undefined}
    >
      <Suspense fallback={<Loading />}>
        <Outlet />
      </Suspense>
    </Frame>
  );
}

async function signOut(): Promise<void> {
  await call('DELETE', '/console/session').catch(() => undefined);
  location.replace('/console');
}
