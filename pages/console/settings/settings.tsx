import type { ReactNode } from 'react';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { AccountDetailsPart } from './account-details.tsx';
import { CurrenciesPart } from './currencies.tsx';
import { PointsPart } from './points.tsx';
import { PricingPart } from './pricing.tsx';
import { SchemesPart } from './schemes.tsx';

/** The settings for all clients: prices, currencies, payment schemes, and where to pay in. */
export default function SettingsPage(): ReactNode {
  const t = useText();
  return (
    <Page title={t('console.nav.settings')}>
      <PricingPart />
      <PointsPart />
      <CurrenciesPart />
      <SchemesPart />
      <AccountDetailsPart />
    </Page>
  );
}
