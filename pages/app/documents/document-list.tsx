import { type UseQueryOptions, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Page, Wanted } from '../../data/documents.ts';
import { useClient } from '../client.tsx';
import { PagedList } from '../paged-list.tsx';
import { DocumentSearch } from './document-search.tsx';

const PAGE_ROWS = 25;

interface DocumentListProps<Row> {
  /** The label of the search field. */
  label: string;
  query: (clientId: string, wanted: Wanted) => UseQueryOptions<Page<Row>, Error, Page<Row>, (string | number)[]>;
  /** Shown in place of the rows when there are none. */
  empty: ReactNode;
  line: (row: Row) => ReactNode;
}

/** What has documents: a field that searches, the lines of a page, and the way to other pages. */
export function DocumentList<Row>({ label, query, empty, line }: DocumentListProps<Row>): ReactNode {
  const { client_id: clientId } = useClient();
  const [wanted, setWanted] = useState({ text: '', page: 1 });
  const found = useQuery(query(clientId, { ...wanted, size: PAGE_ROWS }));
  return (
    <div className="card stack">
      <DocumentSearch label={label} onSearch={(text) => setWanted({ text, page: 1 })} />
      <PagedList found={found} page={wanted.page} size={PAGE_ROWS} onPage={(page) => setWanted({ ...wanted, page })}>
        {({ rows, total }) => (total === 0 ? empty : <div className="document-list">{rows.map(line)}</div>)}
      </PagedList>
    </div>
  );
}
