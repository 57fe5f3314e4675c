import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useText } from '../texts/text.tsx';
import { Page } from './page.tsx';

/** What an address that is no page, or shows nothing any more, looks like. */
export function NotFound(): ReactNode {
  const t = useText();
  return (
    <Page title={t('frame.notFound')}>
      <p>{t('frame.notFound.text')}</p>
      <p>
        <Link to="/">{t('frame.home')}</Link>
      </p>
    </Page>
  );
}
