import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { type TransactionRecord, transactionsQuery } from '../../data/accounts.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { Empty } from '../../design/states.tsx';
import { type Column, Table } from '../../design/table.tsx';
import type { TextKey } from '../../texts/keys.ts';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { PagedList } from '../paged-list.tsx';

const PAGE_ROWS = 20;
const MINUS = '\u2212';

/** The transactions of an account, newest first. */
export function Transactions({ accountId, currency }: { accountId: number; currency: string }): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const [page, setPage] = useState(1);
  const wanted = { currency_account_id: accountId, page, page_size: PAGE_ROWS };
  const found = useQuery(transactionsQuery(clientId, wanted));
  return (
    <section className="card stack" aria-label={t('accounts.transactions')}>
      <h2>{t('accounts.transactions')}</h2>
      <PagedList found={found} page={page} size={PAGE_ROWS} onPage={setPage}>
        {({ rows, total }) =>
          total === 0 ? (
            <Empty title={t('accounts.transactions.none')}>{t('accounts.transactions.none.text', { currency })}</Empty>
          ) : (
            <Table
              name={t('accounts.transactions')}
              columns={columnsOf(t)}
              rows={rows}
              rowKey={({ transaction_id: id }) => String(id)}
            />
          )
        }
      </PagedList>
    </section>
  );
}

function columnsOf(t: (key: TextKey) => string): Column<TransactionRecord>[] {
  return [
    { key: 'booked', title: t('accounts.booked'), cell: (row) => <Moment at={row.booking_datetime} /> },
    {
      key: 'what',
      title: t('accounts.what'),
      cell: (row) => (
        <div>
          <div>{t(`accounts.kinds.${row.kind}` as TextKey)}</div>
          <div className="small quiet">
            <ForeignText>{otherSide(row)}</ForeignText>
          </div>
        </div>
      ),
    },
    {
      key: 'reference',
      title: t('accounts.reference'),
      cell: ({ transaction_reference: reference, payment_id: id }) =>
        (reference || id !== null) && (
          <div>
            <ForeignText>{reference}</ForeignText>{' '}
            {id !== null && (
              <Link to="/payments/$payment_id" params={{ payment_id: id } as never}>
                {id}
              </Link>
            )}
          </div>
        ),
    },
    {
      key: 'amount',
      title: t('accounts.amount'),
      numeric: true,
      cell: ({ amount, credit_debit_indicator: indicator }) => (
        <span>
          {indicator === 'Debit' ? MINUS : '+'}
          <Money amount={amount.amount} currency={amount.currency} />
        </span>
      ),
    },
    {
      // On a phone it has its title: the amount of the line is another one.
      key: 'after',
      title: t('accounts.balance'),
      numeric: true,
      cell: ({ balance: { amount, credit_debit_indicator: indicator } }) => (
        <span>
          {indicator === 'Debit' && MINUS}
          <Money amount={amount.amount} currency={amount.currency} />
        </span>
      ),
    },
  ];
}

/** The payer of a credit, or the payee of a debit. */
function otherSide({ credit_debit_indicator: indicator, creditor_name, debtor_name }: TransactionRecord): string {
  return (indicator === 'Credit' ? debtor_name : creditor_name) || '';
}
