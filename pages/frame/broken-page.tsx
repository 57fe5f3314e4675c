import type { ReactNode } from 'react';
import { Failure } from '../design/states.tsx';
import { useText } from '../texts/text.tsx';
import { Page } from './page.tsx';

/** Shown in place of a page that could not be loaded or drawn: the connection was lost, or the service was just upgraded. */
export function BrokenPage({ error }: { error: unknown }): ReactNode {
  const t = useText();
  return (
    <Page title={t('frame.broken')}>
      <Failure error={error} onRetry={() => location.reload()} />
    </Page>
  );
}
