import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { type AccountBalance, type AccountOverview, accountsQuery } from '../../data/accounts.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Money } from '../../design/money.tsx';
import { Status } from '../../design/notice.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { Page } from '../../frame/page.tsx';
import { useLanguage, useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { currencyName } from '../names.ts';
import { AccountState } from './account-state.tsx';
import { DownloadStatement } from './download-statement.tsx';
import { useFoundAccounts } from './find-accounts.tsx';
import { Holds, isHeld } from './holds.tsx';
import { AccountNumber } from './paying-in.tsx';
import { Statements } from './statements.tsx';

/** All accounts of a client: the balance, what is available, and what holds the difference. Also its statements. */
export default function AccountsPage(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const { data, error, refetch } = useQuery(accountsQuery(clientId));
  const rows = data ? rowsOf(data) : [];
  return (
    <Page title={t('accounts.title')}>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && rows.length === 0 && <Empty title={t('accounts.none')}>{t('accounts.none.text')}</Empty>}
      {rows.length > 0 && <AccountTable rows={rows} />}
      {data?.balances.some(isHeld) && <Holds />}
      {data && data.balances.length > 0 && <Statements currencies={data.balances.map(({ currency }) => currency)} />}
    </Page>
  );
}

/** What a client has in one currency. */
interface Row {
  currency: string;
  /** Undefined if no account in this currency can hold money yet. */
  account: AccountBalance | undefined;
  /** The accounts that payers pay into. */
  receiving: AccountOverview['accounts'];
}

function rowsOf({ accounts, balances }: AccountOverview): Row[] {
  const currencies = new Set([...balances, ...accounts].map(({ currency }) => currency));
  return [...currencies].sort().map((currency) => ({
    currency,
    account: balances.find((each) => each.currency === currency),
    receiving: accounts.filter((each) => each.currency === currency),
  }));
}

function AccountTable({ rows: all }: { rows: Row[] }): ReactNode {
  const t = useText();
  const { rows, field, fold } = useFoundAccounts(all);
  const [saved, setSaved] = useState<string>();
  return (
    <section className="card stack" aria-label={t('accounts.title')}>
      <Status>{saved !== undefined && t('payments.export.done', { name: saved })}</Status>
      {field}
      <Table
        name={t('accounts.title')}
        className="close"
        columns={[
          { key: 'account', title: t('accounts.account'), cell: (row) => <Named row={row} /> },
          ...(all.some(({ receiving }) => receiving.length > 0)
            ? [
                {
                  key: 'receiving',
                  title: t('accounts.payingIn'),
                  cell: (row: Row) => <Receiving of={row.receiving} />,
                },
              ]
            : []),
          {
            key: 'balance',
            title: t('accounts.balance'),
            numeric: true,
            cell: ({ account, currency }) => account && <Money amount={account.balance} currency={currency} />,
          },
          {
            key: 'available',
            title: t('accounts.available'),
            numeric: true,
            cell: ({ account }) => account && <Available of={account} />,
          },
          {
            key: 'statement',
            title: t('accounts.statement'),
            cell: ({ account }) =>
              account && (
                <DownloadStatement
                  accountId={account.account_id}
                  describedBy={nameId(account.currency)}
                  onSaved={setSaved}
                />
              ),
          },
        ]}
        rows={rows}
        rowKey={({ currency }) => currency}
      />
      {fold}
    </section>
  );
}

/** The id of the text that describes the button of a row. */
const nameId = (currency: string) => `account-${currency}`;

function Named({ row: { currency, account } }: { row: Row }): ReactNode {
  const t = useText();
  const name = currencyName(currency, useLanguage());
  if (!account)
    return (
      <div>
        {currency}
        <div className="small quiet">{name}</div>
      </div>
    );
  return (
    <div id={nameId(currency)}>
      <Link to="/accounts/currencies/$currency" params={{ currency } as never}>
        {currency}
      </Link>
      <div className="small quiet">
        {name} · {t('accounts.numbered', { id: String(account.account_id) })}
      </div>
    </div>
  );
}

/** What orders can use, and what else is held. */
function Available({ of }: { of: AccountBalance }): ReactNode {
  const t = useText();
  const { available, held, currency } = of;
  return (
    <div>
      <Money amount={available} currency={currency} />
      {isHeld(of) && (
        <div className="small quiet wraps">
          {t('accounts.held')} <Money amount={held} currency={currency} />
        </div>
      )}
    </div>
  );
}

/** The accounts that payers pay into, each with a link to its page. */
function Receiving({ of }: { of: Row['receiving'] }): ReactNode {
  return of.map(({ account_id: id, account_details: [first], status }) => (
    <div key={id} className="iban-whole">
      <Link to="/accounts/$account_id" params={{ account_id: id } as never}>
        {first?.account_name ? <ForeignText>{first.account_name}</ForeignText> : id}
        {first?.account_number && (
          <>
            {' '}
            <span className="small">
              <AccountNumber type={first.account_number_type}>{first.account_number}</AccountNumber>
            </span>
          </>
        )}
      </Link>{' '}
      {status !== 'Enabled' && <AccountState status={status} />}
    </div>
  ));
}
