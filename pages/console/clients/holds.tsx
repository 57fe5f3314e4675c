import { type ReactNode, useState } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { type Answered, callOperator } from '../../data/operator-api.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import type { Column } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';
import { Act } from '../acts/act.tsx';
import { IdLink, ListLink, State } from '../lists/links.tsx';
import { PART_ROWS, Records } from '../lists/records.tsx';
import { useWord } from '../lists/words.ts';

type Hold = Answered<'GET /holds'>[number];

/** The columns of a list of holds. */
export function useHoldColumns(): Column<Hold>[] {
  const t = useText();
  return [
    { key: 'opened', title: t('console.hold.opened'), cell: ({ opened_at: at }) => <Moment at={at} /> },
    {
      key: 'for',
      title: t('console.hold.for'),
      cell: ({ payment_id: payment, trade_id: trade }) => (
        <>
          <IdLink to="payments" id={payment} />
          <IdLink to="trades" id={trade} />
        </>
      ),
    },
    { key: 'account', title: t('console.word.currency_account'), cell: (row) => row.currency_account_id },
    {
      key: 'amount',
      title: t('console.col.amount'),
      numeric: true,
      cell: (row) => <Money amount={decimal(row, 'amount')} currency={row.currency} />,
    },
    { key: 'state', title: t('console.col.state'), cell: ({ state }) => <State>{state}</State> },
    { key: 'end', title: t('console.hold.end'), cell: (row) => <HoldEnd hold={row} /> },
    { key: 'act', title: t('console.col.action'), cell: (row) => <ReleaseHold hold={row} /> },
  ];
}

/** Why the hold ended: a debit, the end of the payment or trade, or a release. */
function HoldEnd({ hold: { closed_at: at, closed_by: by } }: { hold: Hold }): ReactNode {
  const t = useText();
  const word = useWord();
  if (at === null || by === null) return null;
  const isDebit = /^[0-9a-f]{8}-/.test(by);
  return (
    <div>
      {isDebit ? t('console.hold.booked') : word(by)}
      <div className="small quiet">
        <Moment at={at} /> {isDebit && <ForeignText>{by}</ForeignText>}
      </div>
    </div>
  );
}

function ReleaseHold({ hold }: { hold: Hold }): ReactNode {
  const t = useText();
  const { hold_id: id, payment_id: payment, trade_id: trade, currency, state } = hold;
  if (state !== 'open') return null;
  return (
    <Act
      name={t('console.act.releaseHold')}
      scope="feed"
      kind="danger"
      facts={[
        { name: t('console.hold.for'), value: payment ?? trade },
        { name: t('console.word.currency_account'), value: hold.currency_account_id },
        { name: t('console.col.amount'), value: <Money amount={decimal(hold, 'amount')} currency={currency} /> },
        { name: t('console.hold.when'), value: t('console.hold.when.text') },
      ]}
      act={async ({ headers, reason }) => {
        await callOperator('POST /holds/{hold_id}/release', { path: { hold_id: id }, body: { reason }, headers });
        return undefined;
      }}
    />
  );
}

/** The open holds of a client. */
export function Holds({ query }: { query: { client_id: string } }): ReactNode {
  const t = useText();
  const [page, setPage] = useState(1);
  return (
    <section className="card stack" aria-labelledby="holds">
      <div className="row apart">
        <h2 id="holds">{t('console.holds.open')}</h2>
        <ListLink to="/holds" search={query}>
          {t('console.list.all')}
        </ListLink>
      </div>
      <Records
        name={t('console.holds.open')}
        operation="GET /holds"
        none={t('console.none.holds')}
        query={{ ...query, state: 'open' }}
        page={page}
        rows={PART_ROWS}
        onPage={setPage}
        rowKey={({ hold_id: id }) => id}
        columns={useHoldColumns().filter(({ key }) => key !== 'end')}
      />
    </section>
  );
}
