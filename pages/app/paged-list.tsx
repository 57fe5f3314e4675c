import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure, Loading } from '../design/states.tsx';
import { Pager } from './pager.tsx';

interface PagedListProps<List extends { total: number }> {
  found: Pick<UseQueryResult<List>, 'data' | 'error' | 'refetch'>;
  /** Counted from 1. */
  page: number;
  size: number;
  onPage: (page: number) => void;
  /** Number of rows to reserve space for while they are fetched. */
  expected?: number;
  children: (list: List) => ReactNode;
}

/** A page of a list: its loading or error state, its rows, and links to other pages. */
export function PagedList<List extends { total: number }>(props: PagedListProps<List>): ReactNode {
  const { found, page, size, onPage, expected = 4, children } = props;
  const { data, error, refetch } = found;
  return (
    <>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading rows={expected} />}
      {data && children(data)}
      {data && <Pager page={page} size={size} total={data.total} onPage={onPage} />}
    </>
  );
}
