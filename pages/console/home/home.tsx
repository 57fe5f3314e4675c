import type { ReactNode } from 'react';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';

/** The console's first page. */
export default function HomePage(): ReactNode {
  const t = useText();
  return <Page title={t('console.title')}>{null}</Page>;
}
