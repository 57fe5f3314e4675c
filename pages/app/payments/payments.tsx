import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type KeyboardEvent, type ReactNode, useDeferredValue, useRef, useSyncExternalStore } from 'react';
import { type Payment, type SearchTexts, searchQuery } from '../../data/payments.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Day, Moment } from '../../design/moment.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { type Column, type Sort, Table } from '../../design/table.tsx';
import { Page } from '../../frame/page.tsx';
import { firstOf, type Search } from '../../frame/search.ts';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { Pager } from '../pager.tsx';
import { BesidePayment } from './beside.tsx';
import { Amount } from './payee.tsx';
import { PaymentLink } from './payment-link.tsx';
import { ResultsHead } from './results-head.tsx';
import { filtersOf, filtersText, PAGE_SIZE, searchOf } from './search-fields.ts';
import { SearchForm } from './search-form.tsx';
import { StateTabs } from './state-tabs.tsx';
import { PaymentStatus } from './status.tsx';
import './payment-cards.css';

/** The service's sort fields, by column. */
const ORDERS: Record<string, string> = { created_date: 'order_date', payment_date: 'value_date' };

/** The search of payments. Its filters, order and page are in the address, under the API's names. */
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
      <StateTabs search={search} />
      <SearchForm
        search={search}
        resets={form.current.made}
        onClear={() => go({})}
        onSearch={(next) => {
          form.current.sent = filtersText(next);
          go(next);
        }}
      />
      <Results clientId={clientId} search={search} opened={firstOf(address.open)} onGo={go} />
    </Page>
  );
}

/**
 * Counts how often filters came from elsewhere than the form. Then its filters are made anew. After the form's own search they stay, and the
 * focus stays in its field.
 */
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
  /** The payment shown beside the list. */
  opened: string | undefined;
  onGo: (search: SearchTexts) => void;
}

/** The window has room for a payment beside the list. */
const WIDE = matchMedia('(min-width: 75rem)');

/** Whether it has, also after the window has changed its size. */
function useWide(): boolean {
  return useSyncExternalStore(onWide, () => WIDE.matches);
}

function onWide(onChange: () => void): () => void {
  WIDE.addEventListener('change', onChange);
  return () => WIDE.removeEventListener('change', onChange);
}

function Results({ clientId, search, opened, onGo }: ResultsProps): ReactNode {
  const t = useText();
  // People want the newest first; the API's default is the opposite order.
  const order = search.order ?? 'desc';
  const orderBy = search.order_by ?? 'order_date';
  const size = Number(search.page_size ?? PAGE_SIZE);
  const page = Number(search.page ?? 1);
  const wanted = { ...search, order, order_by: orderBy, page: String(page), page_size: String(size) };
  const { data: found, error, refetch, isPlaceholderData } = useQuery(searchQuery(clientId, wanted));
  // Many rows are rendered in slices, so that a slow phone can scroll and take taps in between.
  const data = useDeferredValue(found);
  const columns = useSearchColumns();
  const beside = useBeside(search, opened);
  if (!data) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={8} />;
  const sorted = Object.keys(ORDERS).find((key) => ORDERS[key] === orderBy) ?? 'created_date';
  const sortBy = ({ key, descending }: Sort) => {
    const { page: _, ...rest } = search;
    onGo({ ...rest, order_by: ORDERS[key] ?? 'order_date', order: descending ? 'desc' : 'asc' });
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys belong to the links in the list
    <div className="list-and-one" data-open={beside.id && ''} onKeyDown={beside.onKeyDown}>
      <section
        className="card stack"
        aria-label={t('payments.results')}
        aria-busy={isPlaceholderData || data !== found}
      >
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
            className="payment-cards one-line"
            columns={columns}
            rows={data.rows}
            rowKey={({ payment_id: id }) => id}
            sort={{ key: sorted, descending: order === 'desc' }}
            onSort={sortBy}
            current={beside.id}
            onOpen={({ payment_id: id }) => beside.open(id)}
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
      {beside.id && <BesidePayment id={beside.id} onClose={beside.close} />}
    </div>
  );
}

/** The payment beside the list: its id is in the address. Arrow keys on a payment's link move through the list. */
function useBeside(search: SearchTexts, opened: string | undefined) {
  const navigate = useNavigate();
  const isWide = useWide();
  const show = (id: string | undefined) =>
    void navigate({
      to: '.',
      search: { ...search, ...(id === undefined ? {} : { open: id }) } as never,
      replace: true,
    });
  const open = (id: string) =>
    isWide ? show(id) : void navigate({ to: `/payments/${encodeURIComponent(id)}` as never });
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key === 'Escape' && opened !== undefined) return show(undefined);
    const links = [...event.currentTarget.querySelectorAll<HTMLAnchorElement>('td[data-key="payment_id"] a')];
    const at = links.indexOf(event.target as HTMLAnchorElement);
    const next = links[at + ({ ArrowDown: 1, ArrowUp: -1 }[event.key] ?? Number.NaN)];
    if (at < 0 || !next) return;
    event.preventDefault();
    next.focus();
    if (isWide) show(next.textContent);
  };
  return { id: isWide ? opened : undefined, open, close: () => show(undefined), onKeyDown };
}

function useSearchColumns(): Column<Payment>[] {
  const t = useText();
  return [
    {
      key: 'payment_id',
      title: t('payments.field.payment_id'),
      cell: ({ payment_id: id }) => <PaymentLink id={id} />,
    },
    {
      key: 'amount',
      title: t('payments.field.amount'),
      numeric: true,
      cell: (payment) => (
        <strong>
          <Amount payment={payment} />
        </strong>
      ),
    },
    {
      key: 'payee',
      title: t('payments.field.payee'),
      cell: ({ beneficiary_name: name, reference }) => (
        <div className="payee-line">
          <ForeignText>{name}</ForeignText>
          {reference && (
            <span className="small quiet">
              <ForeignText>{reference}</ForeignText>
            </span>
          )}
        </div>
      ),
    },
    { key: 'status', title: t('payments.field.status'), cell: ({ status }) => <PaymentStatus status={status} /> },
    {
      key: 'payment_date',
      title: t('payments.field.payment_date'),
      sortable: true,
      cell: ({ payment_date: on }) => <Day on={on} />,
    },
    {
      key: 'created_date',
      title: t('payments.field.created_date'),
      sortable: true,
      cell: ({ created_date: at }) => <Moment at={at} isDay />,
    },
  ];
}
