import { useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Page } from '../../frame/page.tsx';
import { firstOf, type Search } from '../../frame/search.ts';
import { useText } from '../../texts/text.tsx';
import { CurrencyAccounts } from '../clients/currency-accounts.tsx';
import { AccountNumber } from '../lists/account-number.tsx';
import { State } from '../lists/links.tsx';
import { Listing } from '../lists/listing.tsx';
import { ClientInRow } from '../lists/named.tsx';
import { AccountActs, NewAccount } from './account-acts.tsx';

/** The accounts that payers pay into. If filtered by client, also its currency accounts with their balances. */
export default function AccountsPage(): ReactNode {
  const t = useText();
  const client = firstOf((useSearch({ strict: false }) as Search).client_id);
  const name = t('console.nav.accounts');
  return (
    <Page title={name} actions={<NewAccount clientId={client} />}>
      <Listing
        name={name}
        operation="GET /accounts"
        filters={[{ name: 'client_id', label: t('console.col.client') }]}
        rowKey={({ account_id: id }) => id}
        columns={[
          { key: 'client', title: t('console.col.client'), cell: (row) => <ClientInRow id={row.client_id} /> },
          { key: 'currency', title: t('console.col.currency'), cell: ({ currency }) => currency },
          {
            key: 'number',
            title: t('console.col.iban'),
            cell: ({ account_details: details, account_id: id }) => (
              <div>
                {details.map(({ account_number: number, bank_identifier: bank }) => (
                  <div key={`${number} ${bank}`}>
                    <AccountNumber>{number}</AccountNumber> <span className="small quiet">{bank}</span>
                  </div>
                ))}
                <div className="small quiet console-whole">{id}</div>
              </div>
            ),
          },
          { key: 'status', title: t('console.col.status'), cell: ({ status }) => <State>{status}</State> },
          { key: 'act', title: t('console.col.action'), cell: (row) => <AccountActs account={row} /> },
        ]}
      />
      {client ? <CurrencyAccounts clientId={client} /> : <p className="quiet small">{t('console.accounts.choose')}</p>}
    </Page>
  );
}
