import type { ReactNode } from 'react';
import type { Answered } from '../../data/operator-api.ts';
import { Badge } from '../../design/badge.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { AccountNumber } from '../lists/account-number.tsx';
import { Cut, IdLink } from '../lists/links.tsx';
import { Listing } from '../lists/listing.tsx';
import { ClientInRow } from '../lists/named.tsx';

type Payee = Answered<'GET /beneficiaries'>[number];

/** The clients' payees. To find one by name or account, use the search: neither must appear in an address. */
export default function PayeesPage(): ReactNode {
  const t = useText();
  const name = t('console.nav.payees');
  return (
    <Page title={name}>
      <p className="quiet small">{t('console.list.byPayee')}</p>
      <Listing
        name={name}
        operation="GET /beneficiaries"
        none={t('console.none.payees')}
        filters={[
          { name: 'client_id', label: t('console.col.client') },
          { name: 'source', label: t('console.payee.source'), options: ['client', 'institution'] },
        ]}
        rowKey={({ beneficiary_id: id }) => id}
        columns={[
          { key: 'id', title: t('console.col.id'), cell: (row) => <IdLink to="payees" id={row.beneficiary_id} /> },
          { key: 'client', title: t('console.col.client'), cell: (row) => <ClientInRow id={row.client_id} /> },
          { key: 'name', title: t('console.col.name'), cell: (row) => <Cut>{row.beneficiary_name}</Cut> },
          {
            key: 'account',
            title: t('console.col.iban'),
            cell: ({ iban, account_number: number }) => <AccountNumber>{iban ?? number}</AccountNumber>,
          },
          { key: 'currency', title: t('console.col.currency'), cell: ({ currency }) => currency },
          { key: 'state', title: t('console.col.state'), cell: (row) => <PayeeState payee={row} /> },
        ]}
      />
    </Page>
  );
}

/** What blocks payments to a payee, or that nothing does. */
export function PayeeState({ payee }: { payee: Payee }): ReactNode {
  const t = useText();
  if (payee.beneficiary_blocked) return <Badge tone="bad">{t('console.payee.state.blocked')}</Badge>;
  if (!payee.beneficiary_active) return <Badge>{t('console.payee.state.inactive')}</Badge>;
  if (!payee.beneficiary_verified) return <Badge tone="warn">{t('console.payee.state.unverified')}</Badge>;
  return <Badge tone="good">{t('console.payee.state.verified')}</Badge>;
}
