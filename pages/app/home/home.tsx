import type { ReactNode } from 'react';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';

/** What waits for the person. */
export default function HomePage(): ReactNode {
  const t = useText();
  const { waiting } = useClient();
  return (
    <Page title={t('app.nav.home')}>
      <p>{t('app.waiting', { count: waiting })}</p>
    </Page>
  );
}
