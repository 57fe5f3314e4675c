import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { type AccountBalance, HOLDS_SHOWN, holdsQuery } from '../../data/accounts.ts';
import { Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { Table } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { PagedList } from '../paged-list.tsx';
import { PaymentLink } from '../payments/payment-link.tsx';
import { TradeLink } from '../trades/trade-link.tsx';

/** The holds: money that is on the accounts but not available. @param accountId only this account; without it, all accounts */
export function Holds({ accountId }: { accountId?: number }): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const [page, setPage] = useState(1);
  const found = useQuery(holdsQuery(clientId, accountId, page));
  return (
    <section className="card stack" aria-labelledby="holds">
      <h2 id="holds">{t('accounts.holds')}</h2>
      <p className="quiet">{t('accounts.holds.text')}</p>
      <PagedList found={found} page={page} size={HOLDS_SHOWN} onPage={setPage} expected={2}>
        {({ rows }) => (
          <Table
            name={t('accounts.holds')}
            columns={[
              {
                key: 'for',
                title: t('accounts.holds.for'),
                cell: ({ payment_id: payment, trade_id: trade }) => (
                  <>
                    {payment !== null && <PaymentLink id={payment} />}
                    {payment === null && trade !== null && <TradeLink id={trade} />}
                  </>
                ),
              },
              { key: 'opened', title: t('accounts.holds.since'), cell: (row) => <Moment at={row.opened_at} /> },
              {
                key: 'amount',
                title: t('accounts.held'),
                numeric: true,
                cell: (row) => <Money amount={decimal(row, 'amount')} currency={row.currency} />,
              },
            ]}
            rows={rows}
            rowKey={({ hold_id: id }) => id}
          />
        )}
      </PagedList>
    </section>
  );
}

/** Whether any money of an account is held. */
export function isHeld({ held }: AccountBalance): boolean {
  return /[1-9]/.test(held);
}
