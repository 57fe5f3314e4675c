import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type Address, type Answered, callOperator } from '../../data/operator-api.ts';
import { Button } from '../../design/button.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { SteadyTable } from '../../design/steady-table.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';

/** How often a live list is refreshed. */
const LIVE_MS = 3_000;
const PAGE_ROWS = 25;
/** Rows of a list that is part of a page. */
export const PART_ROWS = 10;

/** Operations that answer a list. */
export type ListOperation = {
  [A in Address & `GET ${string}`]: Answered<A> extends unknown[] ? A : never;
}[Address & `GET ${string}`];

export type Row<A extends ListOperation> = Answered<A> extends (infer R)[] ? R : never;

export interface RecordsProps<K extends ListOperation> {
  /** The accessible name of the table. */
  name: string;
  operation: K;
  /** The parameters of its path. */
  path?: Record<string, string>;
  /** Filters under the API's names. */
  query?: Record<string, string | undefined>;
  columns: Column<Row<K>>[];
  rowKey: (row: Row<K>) => string | number;
  /** The list refreshes itself, but moves no row while somebody points at it. */
  live?: boolean;
  /** True if filters are set: an empty list then says that nothing matches. */
  isFiltered?: boolean;
  /** An additional message for an empty list. */
  none?: string;
  page: number;
  /** Rows of a page. A list that is part of a page has fewer. */
  rows?: number;
  /** Without it, the list has a single page. */
  onPage?: (page: number) => void;
}

/** A page of a list of the operator interface. */
export function Records<K extends ListOperation>(props: RecordsProps<K>): ReactNode {
  const { name, operation, path = {}, query = {}, columns, rowKey, live, isFiltered, none, page, onPage } = props;
  const { rows: pageRows = PAGE_ROWS } = props;
  const isPart = props.rows !== undefined;
  const t = useText();
  const paging = onPage ? { page, page_size: pageRows } : {};
  const { data, error, refetch } = useQuery({
    queryKey: [operation, path, query, paging],
    queryFn: async ({ signal }) => ({
      ...(await callOperator(operation, { path, query: { ...query, ...paging }, signal } as never)),
      scope: JSON.stringify([path, query, paging]),
    }),
    placeholderData: keepPreviousData,
    ...(live ? { refetchInterval: LIVE_MS } : {}),
  });
  if (!data) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading />;
  const rows = data.body as Row<K>[];
  return (
    <div className="stack">
      {rows.length === 0 && isPart && page === 1 ? (
        <p className="quiet">{none ?? t('console.list.empty')}</p>
      ) : rows.length === 0 ? (
        <Empty title={t('console.list.empty')}>{isFiltered ? t('console.list.empty.text') : none}</Empty>
      ) : (
        <RecordsTable {...{ name, columns, rows, rowKey, scope: data.scope, live }} />
      )}
      {onPage && <Pages page={page} rows={rows.length} pageRows={pageRows} total={data.total} onPage={onPage} />}
    </div>
  );
}

function RecordsTable<R>({
  scope,
  live,
  ...table
}: {
  name: string;
  columns: Column<R>[];
  rows: R[];
  rowKey: (row: R) => string | number;
  /** Which query and page the rows belong to. */
  scope: string;
  live: boolean | undefined;
}): ReactNode {
  if (!live) return <Table {...table} />;
  const columns = table.columns.map((column) => ({ ...column, cell: ({ row }: { row: R }) => column.cell(row) }));
  return <SteadyTable {...table} columns={columns} scope={scope} />;
}

/** The links between pages. If the total is not counted, a full page is assumed to have another one after it. */
function Pages({
  page,
  rows,
  pageRows,
  total,
  onPage,
}: {
  page: number;
  rows: number;
  pageRows: number;
  total: number | undefined;
  onPage: (page: number) => void;
}): ReactNode {
  const t = useText();
  const last = total === undefined ? rows < pageRows : page * pageRows >= total;
  return (
    <div className="row apart">
      <span className="quiet small">
        {total !== undefined && total > 0 && t('console.list.total', { count: total })}{' '}
        {page > 1 && t('console.list.page', { page })}
      </span>
      {(page > 1 || !last) && (
        <span className="row">
          <Button isDisabled={page === 1} onPress={() => onPage(page - 1)}>
            {t('console.list.previous')}
          </Button>
          <Button isDisabled={last} onPress={() => onPage(page + 1)}>
            {t('console.list.next')}
          </Button>
        </span>
      )}
    </div>
  );
}
