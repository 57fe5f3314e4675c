import type { ReactNode } from 'react';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { Attention } from './attention.tsx';
import { Health } from './health.tsx';

/** What needs attention, and how the service did in the last hours. */
export default function HomePage(): ReactNode {
  const t = useText();
  return (
    <Page title={t('console.nav.home')}>
      <Attention />
      <Health />
    </Page>
  );
}
