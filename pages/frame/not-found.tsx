import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useText } from '../texts/text.tsx';
import { Page } from './page.tsx';

/** Shown for an address that is not a page, or no longer shows anything. */
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
