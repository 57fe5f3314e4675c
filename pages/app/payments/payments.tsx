import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useDeferredValue, useRef } from 'react';
import { type Payment, type SearchTexts, searchQuery } from '../../data/payments.ts';
import { Moment } from '../../design/moment.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { type Column, type Sort, Table } from '../../design/table.tsx';
import { Page } from '../../frame/page.tsx';
import type { Search } from '../../frame/search.ts';
import { useText } from '../../texts/text.tsx';
import { usePaymentColumns } from '../approvals/columns.tsx';
import { useClient } from '../client.tsx';
import { Pager } from '../pager.tsx';
import { ResultsHead } from './results-head.tsx';
import { filtersOf, filtersText, PAGE_SIZE, searchOf } from './search-fields.ts';
import { SearchForm } from './search-form.tsx';
import { PaymentStatus } from './status.tsx';

/** The fields that the service can order by, by their columns. */
const ORDERS: Record<string, string> = { created_date: 'order_date', payment_date: 'value_date' };

/** The search of payments. Its filters, its order and its page stand in the address, under the API's names. */
export default function PaymentsPage(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const navigate = useNavigate();
  const address = useSearch({ strict: false }) as Search;
  const search = searchOf(address);
  const go = (next: SearchTexts) => void navigate({ to: '.', search: next as never });
  const form = useForm(search);
  return (
    <Page title={t('payments.title')}>
      <SearchForm
        key={form.current.made}
        search={search}
        onClear={() => go({})}
        onSearch={(next) => {
          form.current.sent = filtersText(next);
          go(next);
        }}
      />
      <Results clientId={clientId} search={search} onGo={go} />
    </Page>
  );
}

/** The form is made again where its filters came from elsewhere: after its own search the focus stays in its field. */
function useForm(search: SearchTexts) {
  const filters = filtersText(search);
  const form = useRef({ made: 0, filters, sent: '' });
  const { made, sent } = form.current;
  if (form.current.filters !== filters) form.current = { made: filters === sent ? made : made + 1, filters, sent: '' };
  return form;
}

interface ResultsProps {
  clientId: string;
  search: SearchTexts;
  onGo: (search: SearchTexts) => void;
}

function Results({ clientId, search, onGo }: ResultsProps): ReactNode {
  const t = useText();
  // People want the newest first; the API's own default is the other way round.
  const order = search.order ?? 'desc';
  const orderBy = search.order_by ?? 'order_date';
  const size = Number(search.page_size ?? PAGE_SIZE);
  const page = Number(search.page ?? 1);
  const wanted = { ...search, order, order_by: orderBy, page: String(page), page_size: String(size) };
  const { data: found, error, refetch, isPlaceholderData } = useQuery(searchQuery(clientId, wanted));
  // Many rows are drawn in slices: a slow phone scrolls and takes taps in between.
  const data = useDeferredValue(found);
  const columns = useSearchColumns();
  if (!data) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={8} />;
  const sorted = Object.keys(ORDERS).find((key) => ORDERS[key] === orderBy) ?? 'created_date';
  const sortBy = ({ key, descending }: Sort) => {
    const { page: _, ...rest } = search;
    onGo({ ...rest, order_by: ORDERS[key] ?? 'order_date', order: descending ? 'desc' : 'asc' });
  };
  return (
    <section className="card stack" aria-label={t('payments.results')} aria-busy={isPlaceholderData || data !== found}>
      <ResultsHead
        key={filtersText(search)}
        clientId={clientId}
        search={{ ...search, order, order_by: orderBy }}
        total={data.total}
      />
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {data.total === 0 ? (
        <Empty title={t(filtersOf(search) > 0 ? 'payments.none.found' : 'payments.none')}>
          {t(filtersOf(search) > 0 ? 'payments.none.found.text' : 'payments.none.text')}
        </Empty>
      ) : (
        <Table
          name={t('payments.table')}
          className="payment-cards"
          columns={columns}
          rows={data.rows}
          rowKey={({ payment_id: id }) => id}
          sort={{ key: sorted, descending: order === 'desc' }}
          onSort={sortBy}
        />
      )}
      <Pager
        isAlways
        page={page}
        size={size}
        total={data.total}
        onPage={(next) => onGo({ ...search, page: String(next) })}
      />
    </section>
  );
}

function useSearchColumns(): Column<Payment>[] {
  const t = useText();
  const common = usePaymentColumns<Payment>((payment) => payment);
  return [
    // Who asked for it is of interest where one decides; a search needs the room.
    ...common
      .filter(({ key }) => key !== 'ordered_by_name')
      .map((column) => (column.key in ORDERS ? { ...column, sortable: true } : column)),
    {
      key: 'created_date',
      title: t('payments.field.created_date'),
      sortable: true,
      cell: ({ created_date: at }) => <Moment at={at} isStacked />,
    },
    { key: 'status', title: t('payments.field.status'), cell: ({ status }) => <PaymentStatus status={status} /> },
  ];
}
