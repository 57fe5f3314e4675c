import { type ReactNode, useState } from 'react';
import type { Answered } from '../../data/operator-api.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import type { Column } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';
import { Actor, Cut, IdLink, State } from '../lists/links.tsx';
import { ClientInRow } from '../lists/named.tsx';
import { PART_ROWS, Records } from '../lists/records.tsx';
import { useWord } from '../lists/words.ts';

type RefusedRequest = Answered<'GET /requests'>[number];

/** The columns of refused requests. The caller takes one column only: a window of 1,280 px has no room for more. */
export function useRequestColumns(): Column<RefusedRequest>[] {
  const t = useText();
  const word = useWord();
  return [
    { key: 'at', title: t('console.col.at'), cell: ({ at }) => <Moment at={at} isStacked /> },
    { key: 'status', title: t('console.col.status'), cell: ({ status }) => <State>{status}</State> },
    {
      key: 'route',
      title: t('console.col.request'),
      cell: ({ listener, method, route, request_id: id, ms }) => (
        <div>
          <code>{[method, route].filter(Boolean).join(' ')}</code>
          <div className="small quiet">
            {[word(listener), ms !== null && `${ms}\u00a0ms`].filter(Boolean).join(' · ')}
          </div>
          <div className="small quiet console-whole">
            <ForeignText>{id}</ForeignText>
          </div>
        </div>
      ),
    },
    {
      key: 'code',
      title: t('console.col.code'),
      cell: ({ code, details }) =>
        (code !== null || details !== null) && (
          <div>
            {code} {details !== null && <Small>{details}</Small>}
          </div>
        ),
    },
    {
      key: 'client',
      title: t('console.col.client'),
      cell: ({ listener, client_id: client, contact_id: contact, application }) =>
        (client !== null || contact !== null || application !== null) && (
          <div>
            <span className="console-line">
              <ClientInRow id={client} /> <IdLink to="contacts" id={contact} />
            </span>
            {application !== null && (
              <div className="small quiet">
                {listener === 'operator' ? <Actor>{`operator:${application}`}</Actor> : <Cut>{application}</Cut>}
              </div>
            )}
          </div>
        ),
    },
  ];
}

function Small({ children }: { children: string }): ReactNode {
  return (
    <div className="small quiet">
      <ForeignText>{children}</ForeignText>
    </div>
  );
}

/** The refused requests of one client or contact. */
export function RefusedRequests({ query }: { query: { client_id: string } | { contact_id: string } }): ReactNode {
  const t = useText();
  const [page, setPage] = useState(1);
  return (
    <section className="card stack" aria-labelledby="refused">
      <h2 id="refused">{t('console.nav.requests')}</h2>
      <Records
        name={t('console.nav.requests')}
        operation="GET /requests"
        none={t('console.none.requests')}
        query={query}
        page={page}
        rows={PART_ROWS}
        onPage={setPage}
        rowKey={({ request_id: id, at }) => `${id} ${at}`}
        columns={useRequestColumns()}
      />
    </section>
  );
}
