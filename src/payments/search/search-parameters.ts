import { isCalendarDay } from '../../values/calendar.ts';
import { CURRENCIES, commaList } from '../../values/comma-list.ts';
import { Problem } from '../../values/errors.ts';

/** Limits of the payments search (docs/decisions.md, 2). */
const DEFAULT_PAGE_SIZE = 50;
export const MAX_INT32 = 2_147_483_647;

export const STATUS_FILTERS = [
  'pending',
  'pending_to_authorise',
  'authorised',
  'cancelled',
  'rejected',
  'complete',
  'pending_your_approval',
  'pending_others_approval',
] as const;
export type StatusFilter = (typeof STATUS_FILTERS)[number];
export const AMOUNT_RANGES = ['over', 'below', 'equal'] as const;
export const ORDERS = ['asc', 'desc'] as const;
export const ORDER_FIELDS = ['order_date', 'value_date'] as const;

/** The query of GET /payments. Its schema has checked types, enums and ranges. */
export interface SearchQuery {
  payment_ids?: string;
  mass_payment_id?: string;
  mass_payment_external_reference_id?: string;
  payment_currency?: string;
  amount?: number;
  amount_range?: (typeof AMOUNT_RANGES)[number];
  page?: number;
  page_size?: number;
  order?: (typeof ORDERS)[number];
  order_by?: (typeof ORDER_FIELDS)[number];
  reference?: string;
  trade_id?: string;
  beneficiary_id?: string;
  from_payment_date?: string;
  to_payment_date?: string;
  from_created_date?: string;
  to_created_date?: string;
  status?: StatusFilter;
}

/** A range of calendar days, including both ends. An undefined end is open. */
export interface DayRange {
  from: string | undefined;
  to: string | undefined;
}

/** A search for payments. */
export interface PaymentSearch {
  paymentIds: string[] | undefined;
  massPaymentId: string | undefined;
  massPaymentReference: string | undefined;
  currencies: string[] | undefined;
  amount: { range: (typeof AMOUNT_RANGES)[number]; value: number } | undefined;
  reference: string | undefined;
  tradeId: string | undefined;
  beneficiaryId: string | undefined;
  paymentDate: DayRange | undefined;
  /** Europe/London days. */
  created: DayRange | undefined;
  status: StatusFilter | undefined;
  /** Who ordered them; only for the institution. */
  source?: 'client' | 'institution' | undefined;
  orderBy: 'created' | 'payment_date';
  descending: boolean;
  /** The number of payments before the page. */
  offset: number;
  pageSize: number;
  /** Whether a Citus worker holds the payments. */
  distributed?: boolean;
}

/**
 * Reads the parameters of GET /payments by the rules of docs/decisions.md, 2.
 * @throws Problem invalid_parameter, missing_parameter; the details begin with the parameter's name
 */
export function readSearch(query: SearchQuery): PaymentSearch {
  const { page = 1, page_size: pageSize = DEFAULT_PAGE_SIZE } = query;
  return {
    paymentIds: commaList(query.payment_ids, 'payment_ids', { fits: () => true, words: 'identifiers' }),
    currencies: commaList(query.payment_currency, 'payment_currency', CURRENCIES),
    amount: amount(query),
    massPaymentId: plain(query.mass_payment_id, 'mass_payment_id'),
    massPaymentReference: plain(query.mass_payment_external_reference_id, 'mass_payment_external_reference_id'),
    reference: plain(query.reference, 'reference'),
    tradeId: plain(query.trade_id, 'trade_id'),
    beneficiaryId: plain(query.beneficiary_id, 'beneficiary_id'),
    paymentDate: days(query.from_payment_date, query.to_payment_date, 'payment_date'),
    created: days(query.from_created_date, query.to_created_date, 'created_date'),
    status: query.status,
    orderBy: query.order_by === 'value_date' ? 'payment_date' : 'created',
    descending: query.order === 'desc',
    offset: (page - 1) * pageSize,
    pageSize,
  };
}

function amount(query: SearchQuery): PaymentSearch['amount'] {
  const { amount: value, amount_range: range } = query;
  if (value === undefined && range === undefined) return undefined;
  if (value === undefined)
    throw new Problem('missing_parameter', { field: 'amount', message: 'is required together with amount_range' });
  if (range === undefined)
    throw new Problem('missing_parameter', {
      field: 'amount_range',
      message: 'is required together with amount (over, below or equal)',
    });
  return { range, value };
}

/** A text that can be compared with stored texts. PostgreSQL's texts cannot contain NUL. */
function plain(input: string | undefined, name: string): string | undefined {
  if (input?.includes('\0'))
    throw new Problem('invalid_parameter', { field: `${name}`, message: 'must not contain a NUL character' });
  return input;
}

function days(from: string | undefined, to: string | undefined, name: string): DayRange | undefined {
  for (const [end, day] of [
    ['from', from],
    ['to', to],
  ] as const) {
    if (day !== undefined && !isCalendarDay(day)) {
      throw new Problem('invalid_parameter', {
        field: `${end}_${name}`,
        message: 'must be a calendar day as YYYY-MM-DD',
      });
    }
  }
  return from === undefined && to === undefined ? undefined : { from, to };
}
