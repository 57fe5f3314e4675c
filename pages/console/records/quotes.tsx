import type { ReactNode } from 'react';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { useQuoteColumns } from '../clients/quotes.tsx';
import { Listing } from '../lists/listing.tsx';

/** The quotes of the last 90 days, newest first. */
export default function QuotesPage(): ReactNode {
  const t = useText();
  const name = t('console.nav.quotes');
  return (
    <Page title={name}>
      <Listing
        name={name}
        operation="GET /quotes"
        none={t('console.none.quotes')}
        filters={[
          { name: 'client_id', label: t('console.col.client') },
          { name: 'status', label: t('console.col.status'), options: ['open', 'used', 'expired'] },
        ]}
        rowKey={({ quote_id: id }) => id}
        columns={useQuoteColumns()}
      />
    </Page>
  );
}
