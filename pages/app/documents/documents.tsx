import { type ReactNode, useState } from 'react';
import { Tabs } from '../../design/tabs.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { PaymentDocuments } from './payment-documents.tsx';
import { TradeDocuments } from './trade-documents.tsx';
import './documents.css';

/** Instructions and receipts, by payment or by trade. */
export default function DocumentsPage(): ReactNode {
  const t = useText();
  const [tab, setTab] = useState('payments');
  return (
    <Page title={t('documents.title')}>
      <p className="quiet">{t('documents.intro')}</p>
      <Tabs
        name={t('documents.title')}
        selected={tab}
        onSelect={setTab}
        tabs={[
          { id: 'payments', title: t('documents.payments'), content: () => <PaymentDocuments /> },
          { id: 'trades', title: t('documents.trades'), content: () => <TradeDocuments /> },
        ]}
      />
    </Page>
  );
}
