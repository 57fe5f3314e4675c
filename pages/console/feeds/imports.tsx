import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { callOperator } from '../../data/operator-api.ts';
import { Button } from '../../design/button.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { Page } from '../../frame/page.tsx';
import type { TextKey } from '../../texts/keys.ts';
import { useText } from '../../texts/text.tsx';
import { Count } from '../lists/count.tsx';
import { Id, State } from '../lists/links.tsx';
import { Listing } from '../lists/listing.tsx';
import { useWord } from '../lists/words.ts';

const KINDS = ['clients', 'contacts', 'beneficiaries', 'trades', 'payments', 'transactions', 'payment-actions'];
const COUNTS = ['lines_read', 'accepted', 'unchanged', 'rejected'] as const;
const TITLES: Record<(typeof COUNTS)[number], TextKey> = {
  lines_read: 'console.col.lines',
  accepted: 'console.col.accepted',
  unchanged: 'console.col.unchanged',
  rejected: 'console.col.rejected',
};

/** Imports: the progress of each, and the lines that it rejected. */
export default function ImportsPage(): ReactNode {
  const t = useText();
  const word = useWord();
  const [shown, show] = useState<string>();
  const name = t('console.nav.imports');
  return (
    <Page title={name}>
      <Listing
        name={name}
        operation="GET /imports"
        none={t('console.none.imports')}
        live
        filters={[
          { name: 'kind', label: t('console.col.kind'), options: KINDS },
          { name: 'state', label: t('console.col.state'), options: ['running', 'done', 'interrupted'] },
        ]}
        rowKey={(row) => row.import_id}
        columns={[
          { key: 'started', title: t('console.col.started'), cell: (row) => <Moment at={row.started_at} isStacked /> },
          { key: 'ended', title: t('console.col.ended'), cell: (row) => <Moment at={row.ended_at} isStacked /> },
          { key: 'id', title: t('console.col.id'), cell: (row) => <Id>{row.import_id}</Id> },
          { key: 'kind', title: t('console.col.kind'), cell: ({ kind }) => word(kind) },
          { key: 'state', title: t('console.col.state'), cell: ({ state }) => <State>{state}</State> },
          ...COUNTS.map((count) => ({
            key: count,
            title: t(TITLES[count]),
            numeric: true,
            cell: (row: Record<typeof count, number>) => <Count>{row[count]}</Count>,
          })),
          {
            key: 'act',
            title: t('console.import.errors'),
            cell: (row) => row.rejected > 0 && <Button onPress={() => show(row.import_id)}>{t('console.show')}</Button>,
          },
        ]}
      />
      {shown && <ImportErrors id={shown} />}
    </Page>
  );
}

function ImportErrors({ id }: { id: string }): ReactNode {
  const t = useText();
  const { data, error, refetch } = useQuery({
    queryKey: ['import', id],
    queryFn: async ({ signal }) =>
      (
        await callOperator('GET /imports/{import_id}' as 'GET /imports/{import_id}', {
          path: { import_id: id },
          signal,
        })
      ).body,
  });
  const head = useRef<HTMLHeadingElement>(null);
  // It is below the list, which may be longer than the window.
  // biome-ignore lint/correctness/useExhaustiveDependencies: those of another import were asked for
  useEffect(() => head.current?.focus(), [id]);
  return (
    <section className="card stack" aria-labelledby="import-errors">
      <h2 id="import-errors" tabIndex={-1} ref={head}>
        {t('console.import.errors')}
      </h2>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data?.errors.length === 0 && <Empty title={t('console.list.empty')} />}
      {data && data.errors.length > 0 && (
        <Table
          name={t('console.import.errors')}
          rows={data.errors}
          rowKey={({ line }) => line}
          columns={[
            { key: 'line', title: t('console.col.line'), numeric: true, cell: ({ line }) => line },
            { key: 'code', title: t('console.col.code'), cell: ({ code }) => code },
            {
              key: 'detail',
              title: t('console.col.detail'),
              cell: ({ details }) => <ForeignText>{details}</ForeignText>,
            },
          ]}
        />
      )}
    </section>
  );
}
