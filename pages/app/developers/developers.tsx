import type { ReactNode } from 'react';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { AdvanceForm } from './advance-form.tsx';
import { RequestList } from './request-list.tsx';
import { ResetSection } from './reset-section.tsx';
import { TriggerForm } from './trigger-form.tsx';
import './developers.css';

/** The sandbox for developers: the requests of their programs, and the events that they can cause. */
export default function DevelopersPage(): ReactNode {
  const t = useText();
  return (
    <Page title={t('developers.title')}>
      <p className="quiet">{t('developers.intro')}</p>
      <div className="developer-acts">
        <TriggerForm />
        <AdvanceForm />
        <ResetSection />
      </div>
      <RequestList />
    </Page>
  );
}
