import type { ReactNode } from 'react';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { useHoldColumns } from '../clients/holds.tsx';
import { Listing } from '../lists/listing.tsx';

/** Money that orders hold. With `overdue`, only holds whose debit is late. */
export default function HoldsPage(): ReactNode {
  const t = useText();
  const name = t('console.nav.holds');
  return (
    <Page title={name}>
      <p className="quiet small">{t('console.hold.explained')}</p>
      <Listing
        name={name}
        operation="GET /holds"
        none={t('console.none.holds')}
        filters={[
          { name: 'client_id', label: t('console.col.client') },
          { name: 'currency_account_id', label: t('console.word.currency_account') },
          { name: 'state', label: t('console.col.state'), options: ['open', 'closed'] },
          { name: 'overdue', label: t('console.hold.overdue'), options: ['true'] },
        ]}
        rowKey={({ hold_id: id }) => id}
        columns={useHoldColumns()}
      />
    </Page>
  );
}
