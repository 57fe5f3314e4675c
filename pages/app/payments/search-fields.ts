import type { SearchTexts } from '../../data/payments.ts';
import { firstOf, type Search } from '../../frame/search.ts';

/** The parameters of GET /payments that the page has fields for, in the order of the form. */
const TEXT_FIELDS = ['payment_ids', 'reference', 'beneficiary_id', 'trade_id'] as const;
export const DAY_FIELDS = ['from_created_date', 'to_created_date', 'from_payment_date', 'to_payment_date'] as const;
const MORE_FIELDS = ['mass_payment_id', 'mass_payment_external_reference_id'] as const;
export const STATUSES = [
  'pending',
  'pending_to_authorise',
  'pending_your_approval',
  'pending_others_approval',
  'authorised',
  'complete',
  'rejected',
  'cancelled',
] as const;
export const RANGES = ['equal', 'over', 'below'] as const;

const FILTERS = [...TEXT_FIELDS, ...DAY_FIELDS, ...MORE_FIELDS, 'status', 'payment_currency', 'amount', 'amount_range'];
const PLACES = ['order', 'order_by', 'page', 'page_size'];

/** Payments on a page, unless the address says otherwise. */
export const PAGE_SIZE = 50;

/** The search in an address: its filters, order and page, and nothing else from the address. */
export function searchOf(search: Search): SearchTexts {
  const texts: SearchTexts = {};
  for (const name of [...FILTERS, ...PLACES]) {
    const value = firstOf(search[name])?.trim();
    if (value) texts[name] = value;
  }
  return texts;
}

/** The search in the form: the filters that are filled in. A new search starts at page one and keeps the order. */
export function searchOfForm(form: HTMLFormElement, before: SearchTexts): SearchTexts {
  const filled = new FormData(form);
  const texts: SearchTexts = {};
  for (const name of FILTERS) {
    const value = String(filled.get(name) ?? '').trim();
    if (value) texts[name] = value;
  }
  if (texts.payment_currency) texts.payment_currency = texts.payment_currency.toUpperCase();
  // The service accepts the two only together.
  if (!texts.amount) delete texts.amount_range;
  for (const name of ['order', 'order_by', 'page_size']) if (before[name]) texts[name] = before[name];
  return texts;
}

/** The filters of a search in a fixed order, so that equal searches have equal texts. */
export function filtersText(search: SearchTexts): string {
  return JSON.stringify(FILTERS.map((name) => search[name] ?? ''));
}

/** The number of filters in a search. */
export function filtersOf(search: SearchTexts): number {
  return FILTERS.filter((name) => name !== 'amount_range' && search[name]).length;
}
