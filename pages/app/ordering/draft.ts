import { amountField, readAmount } from '../../data/amount.ts';
import type { CallError } from '../../data/call-error.ts';
import type { DaysOf, PaidBefore, PayablePayee, PaymentOrder, PaymentSources } from '../../data/ordering.ts';
import type { Beneficiary } from '../../data/payees.ts';
import type { WantedExchange } from '../../data/quotes.ts';
import { addDecimals } from '../../data/sums.ts';
import type { SayRefusal } from '../../design/refusal.ts';
import type { TextKey } from '../../texts/keys.ts';

/** An order of payments while the person writes it. */

/** What the order is paid from. */
export interface Source {
  kind: 'account' | 'trade';
  id: string;
  currency: string;
  /** A decimal text. */
  available: string;
}

/** One payment, as texts. */
export interface Line {
  /** Unique within the order while it is written. */
  key: string;
  payee: PayablePayee | undefined;
  amount: string;
  /** Empty means the first possible day. */
  date: string;
  /** The first possible day; empty while unknown. */
  first: string;
  reference: string;
  charges: 'SHA' | 'OUR';
}

export interface Draft {
  /** The key of a source; empty if none is chosen. */
  source: string;
  reason: string;
  lines: Line[];
}

/** What is wrong, by field name: `source`, `reason`, or `1.amount` for the second payment. */
export type Faults = ReadonlyMap<string, string>;

export function newLine(fields: Partial<Line> = {}): Line {
  return {
    ...{ key: crypto.randomUUID(), payee: undefined, amount: '', date: '', first: '', reference: '', charges: 'SHA' },
    ...fields,
  };
}

/** Sources by the key that the form uses: an account number or a trade id. */
export function sourcesOf({ accounts, trades }: PaymentSources): Map<string, Source> {
  const sources = new Map<string, Source>();
  for (const { account_id: id, currency, available } of accounts)
    sources.set(String(id), { kind: 'account', id: String(id), currency, available });
  for (const { trade_id: id, currency, available } of trades)
    sources.set(sources.has(id) ? `trade ${id}` : id, { kind: 'trade', id, currency, available });
  return sources;
}

/** A payee, as the form needs it. */
export function payableOf({ beneficiary_id: id, name, bank_accounts: [account] }: Beneficiary): PayablePayee {
  return {
    ...{ beneficiary_id: id ?? '', name, currency: account?.bank_currency_code ?? null },
    ...{ iban: account?.iban ?? null, account_number: account?.account_number ?? null },
  };
}

/** The key of the account that a payee is paid from, if only one has the payee's currency; else empty. */
export function sourceFor(payee: PayablePayee | undefined, sources: ReadonlyMap<string, Source>): string {
  const own = [...sources].filter(([, { kind, currency }]) => kind === 'account' && currency === payee?.currency);
  return own.length === 1 ? (own[0]?.[0] ?? '') : '';
}

/** The draft with changed fields of one line. The first payee also settles what is paid from, where that leaves one account only. */
export function withLine(
  draft: Draft,
  key: string,
  fields: Partial<Line>,
  sources: ReadonlyMap<string, Source>,
): Draft {
  const lines = draft.lines.map((line) => (line.key === key ? { ...line, ...fields } : line));
  return { ...draft, source: draft.source || sourceFor(fields.payee, sources), lines };
}

/** The draft of a payment like an earlier one. @param write formats an amount for the person's locale */
export function draftAgain(
  before: PaidBefore,
  sources: ReadonlyMap<string, Source>,
  write: (amount: string) => string,
): Draft {
  const { payee, amount, reference, charges, reason, funding_account_id: account, trade_id: trade } = before;
  const kind = account === null ? 'trade' : 'account';
  const id = account === null ? trade : String(account);
  const source = [...sources].find(([, each]) => each.kind === kind && each.id === id)?.[0];
  const line = newLine({
    ...{ payee: payee ?? undefined, amount: write(amount), reference: reference ?? '' },
    charges: charges === 'OUR' ? 'OUR' : 'SHA',
  });
  return { source: source ?? '', reason: reason ?? '', lines: [line] };
}

/** The currency of the payments: that of the trade, or of the first payee with a currency, or of the account. */
export function currencyOf({ lines }: Draft, source: Source | undefined): string | undefined {
  if (source?.kind === 'trade') return source.currency;
  return lines.find(({ payee }) => payee?.currency)?.payee?.currency ?? source?.currency;
}

/** Whether the payments need an exchange, as far as the currencies are known. */
export function needsExchange(draft: Draft, source: Source | undefined): boolean {
  const currency = currencyOf(draft, source);
  return source?.kind === 'account' && currency !== undefined && currency !== source.currency;
}

/** The exchange that the payments need; undefined if they need none, or if it is not known yet. */
export function exchangeOf(draft: Draft, source: Source | undefined, locale: string): WantedExchange | undefined {
  const currency = currencyOf(draft, source);
  if (!source || currency === undefined || !needsExchange(draft, source)) return undefined;
  const amounts = draft.lines.map(({ amount }) => readAmount(amount, locale));
  const read = amounts.filter((amount) => amount !== undefined);
  if (read.length < amounts.length || !read.some((amount) => /[1-9]/.test(amount))) return undefined;
  return {
    ...{ sell_currency: source.currency, buy_currency: currency, operation: 'buy', amount: addDecimals(read) },
    ...{ trade_type: 'spot', value_date: '' },
  };
}

/** Minimum characters of a reference. */
const MIN_REFERENCE_LENGTH = 3;

/** What is missing or impossible, as far as the page can tell. */
export function faultsOfDraft(
  draft: Draft,
  source: Source | undefined,
  { locale, mayTrade }: { locale: string; mayTrade: boolean },
): Map<string, TextKey> {
  const faults = new Map<string, TextKey>();
  if (!source) faults.set('source', 'fault.required');
  if (draft.reason === '' && source?.kind !== 'trade') faults.set('reason', 'fault.required');
  const currency = currencyOf(draft, source);
  for (const [index, { payee, amount, date, first, reference }] of draft.lines.entries()) {
    const refuse = (field: string, key: TextKey) => faults.set(`${index}.${field}`, key);
    if (!payee) refuse('payee', 'order.fault.payee');
    else if (payee.currency !== currency) refuse('payee', 'order.fault.currency');
    else if (source?.kind === 'account' && payee.currency !== source.currency && !mayTrade)
      refuse('payee', 'order.fault.trade');
    if (amount.trim() === '') refuse('amount', 'fault.required');
    else if (readAmount(amount, locale) === undefined) refuse('amount', 'trades.fault.amount');
    if (date === '' && first === '') refuse('date', 'fault.required');
    if (reference.trim().length < MIN_REFERENCE_LENGTH) refuse('reference', 'order.fault.reference');
  }
  return faults;
}

/** The body that orders the draft. @param draft has no faults */
export function orderOf(
  draft: Draft,
  source: Source,
  { locale, quoteId }: { locale: string; quoteId?: string },
): PaymentOrder {
  const paidFrom = source.kind === 'trade' ? { trade_id: source.id } : { funding_account_id: Number(source.id) };
  return {
    ...paidFrom,
    ...(quoteId === undefined ? {} : { quote_id: quoteId }),
    ...(draft.reason === '' ? {} : { reason: draft.reason as NonNullable<PaymentOrder['reason']> }),
    payments: draft.lines.map(({ payee, amount, date, first, reference, charges }) =>
      Object.assign(amountField('amount', readAmount(amount, locale) ?? ''), {
        ...{
          beneficiary_id: payee?.beneficiary_id ?? '',
          payment_date: date || first,
          reference: reference.trim(),
          charges,
        },
      }),
    ),
  };
}

/** What decides on which days a payment can leave. @param settles the day on which the exchange that it needs settles */
export function daysOf(
  { payee, amount }: Line,
  {
    currency,
    source,
    locale,
    settles,
  }: { currency: string | undefined; source: Source | undefined; locale: string; settles: string | undefined },
): DaysOf | undefined {
  if (!payee || currency === undefined) return undefined;
  return {
    ...{ beneficiary_id: payee.beneficiary_id, currency, amount: readAmount(amount, locale) ?? '0' },
    ...{ trade_id: source?.kind === 'trade' ? source.id : undefined, not_before: settles },
  };
}

/** The form's name for each field of the body. */
const NAMES: Readonly<Record<string, string>> = {
  ...{ trade_id: 'source', funding_account_id: 'source', beneficiary_id: 'payee', account_id: 'payee' },
  payment_date: 'date',
};
/** Refusals that name no field but are about the source of funds. */
const OF_SOURCE = new Set([
  'insufficient_funds',
  'trade_amount_exceeded',
  'currency_not_allowed',
  'limit_exceeded',
  'exchange_rate_missing',
]);

/** The service's refusals, by the form field that each is about. */
export function faultsOfRefusal({ code, details, errors }: CallError, say: SayRefusal): Map<string, string> {
  const faults = new Map<string, string>();
  if (OF_SOURCE.has(code)) faults.set('source', say({ code, details }));
  for (const each of [...errors, { code, details }]) {
    const [place, index, field = ''] = /^body\.(?:payments\[(\d+)\]\.?)?(\w*)/.exec(each.details) ?? [];
    if (place === undefined) continue;
    const name = NAMES[field] ?? (field || 'payee');
    const key = index === undefined ? name : `${index}.${name}`;
    if (faults.has(key)) continue;
    faults.set(key, say({ code: each.code, details: each.details.slice(each.details.indexOf(': ') + 1).trim() }));
  }
  return faults;
}
