import type { ReactNode } from 'react';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { Listing } from '../lists/listing.tsx';
import { useContactColumns } from './contact-columns.tsx';

/** The people who sign in. To find one by email, use the search: an email must not appear in an address. */
export default function ContactsPage(): ReactNode {
  const t = useText();
  const name = t('console.nav.contacts');
  return (
    <Page title={name}>
      <p className="quiet small">{t('console.list.byEmail')}</p>
      <Listing
        name={name}
        operation="GET /contacts"
        filters={[
          { name: 'client_id', label: t('console.col.client') },
          { name: 'status', label: t('console.col.status'), options: ['enabled', 'disabled'] },
        ]}
        rowKey={({ contact_id: id }) => id}
        columns={useContactColumns()}
      />
    </Page>
  );
}
