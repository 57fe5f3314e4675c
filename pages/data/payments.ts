import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { ApprovalExplanation, Payment } from '../../sdk/src/generated/api.ts';
import type { OwnAct } from '../../src/approvals/acts.ts';
import type { Setback } from '../../src/orders/setbacks.ts';
import type { Activity } from '../../src/payments/views/activity.ts';
import type { Figures } from '../../src/payments/views/figures.ts';
import type { Marks } from '../../src/payments/views/marks.ts';
import type { PaymentNews } from '../../src/payments/views/news.ts';
import type { Outlook } from '../../src/payments/views/outlook.ts';
import type { Outcome, PaymentSteps } from '../../src/payments/views/steps.ts';
import { type CallOptions, call, callFile, type FileAnswer } from './call.ts';
import { callClient } from './client-api.ts';

/** A value as it arrives in JSON: timestamps are texts. */
type Arrived<T> = T extends Date ? string : T extends object ? { [K in keyof T]: Arrived<T[K]> } : T;

export type { Payment };
export type PaymentMarks = Arrived<Marks>;
export type RecentActivity = Arrived<Activity>;
export type PaymentOutcome = Arrived<Outcome>;
/** What is to come, and what went wrong: payments, and what else is in the client's way. */
export type PaymentOutlook = Arrived<Outlook> & { setbacks: Arrived<Setback>[] };

/** A payment of a list, with marks for what deserves a second look. */
export interface Listed {
  payment: Payment;
  marks: PaymentMarks | undefined;
}

export interface Page<Row> {
  rows: Row[];
  total: number;
  /** Counted from 1. While another page is fetched, the previous one stays here. */
  page: number;
}

/** Everything that the page of a payment shows. */
export interface PaymentView extends Listed {
  explanation: ApprovalExplanation;
  way: Arrived<PaymentSteps> & { outcome: PaymentOutcome; notifications: Arrived<PaymentNews>[] };
}

/** The person's own decision, with the payment in its current state. */
export type Decision = Arrived<Omit<OwnAct, 'payment_id'>> & { payment: Payment };

/** The outcome of approving several payments. */
export interface BulkOutcome {
  approved: string[];
  failed: { payment_id: string; code: string; details: string; outcome: PaymentOutcome | null }[];
}

/** The key of everything that may change with a client's payments: the live poll refetches it (live.ts). */
export const liveKey = (clientId: string) => ['live', clientId] as const;

/** Calls the service for a client's data that only the pages need. */
async function callPage<Body>(method: string, path: string, clientId: string, options: CallOptions = {}) {
  const query = { client_id: clientId, ...options.query };
  return call<Body>(method, `/app/data/${path}`, { ...options, query });
}

async function marksOf(clientId: string, payments: Payment[], signal: AbortSignal): Promise<Map<string, PaymentMarks>> {
  const ids = payments.filter(({ status }) => status === PENDING).map(({ payment_id: id }) => id);
  if (ids.length === 0) return new Map();
  const { body } = await callPage<PaymentMarks[]>('POST', 'marks', clientId, { body: { payment_ids: ids }, signal });
  return new Map(body.map((marks) => [marks.payment_id, marks]));
}

const PENDING = 'Payment pending of authorization';

/** Payments per page of a list: as many as can be approved at once. */
export const LIST_SIZE = 200;

/** The payments that wait for an approval, most urgent first. */
export const waitingQuery = (clientId: string, whose: 'your' | 'others', page: number) =>
  queryOptions({
    queryKey: [...liveKey(clientId), 'waiting', whose, page],
    queryFn: async ({ signal }): Promise<Page<Listed>> => {
      const status = whose === 'your' ? ('pending_your_approval' as const) : ('pending_others_approval' as const);
      const query = { status, page, page_size: LIST_SIZE, order_by: 'value_date' as const };
      const { body, total = 0 } = await callClient('GET /payments', clientId, { query, signal });
      const marks = await marksOf(clientId, body, signal);
      return { rows: body.map((payment) => ({ payment, marks: marks.get(payment.payment_id) })), total, page };
    },
    placeholderData: keepPreviousData,
  });

/** The next payment that waits for the person; null if there is none. */
export const nextWaitingQuery = (clientId: string) =>
  queryOptions({
    queryKey: [...liveKey(clientId), 'next'],
    queryFn: async ({ signal }): Promise<Payment | null> => {
      const query = { status: 'pending_your_approval' as const, page_size: 1, order_by: 'value_date' as const };
      return (await callClient('GET /payments', clientId, { query, signal })).body[0] ?? null;
    },
  });

export const DECISIONS_SIZE = 50;

export const decisionsQuery = (clientId: string, page: number) =>
  queryOptions({
    queryKey: [...liveKey(clientId), 'decisions', page],
    queryFn: async ({ signal }): Promise<Page<Decision>> => {
      const query = { page, page_size: DECISIONS_SIZE };
      const { body, total = 0 } = await callPage<Decision[]>('GET', 'decisions', clientId, { query, signal });
      return { rows: body, total, page };
    },
    placeholderData: keepPreviousData,
  });

/** The parameters of a search, as texts under the API's names. */
export type SearchTexts = Record<string, string>;

/** Not live: rows that move while a person reads are worse than rows that are a moment old. */
export const searchQuery = (clientId: string, search: SearchTexts) =>
  queryOptions({
    queryKey: ['search', clientId, search],
    refetchOnWindowFocus: false,
    queryFn: async ({ signal }): Promise<Omit<Page<Payment>, 'page'>> => {
      const { body, total = 0 } = await callClient('GET /payments', clientId, { query: search as object, signal });
      return { rows: body, total };
    },
    placeholderData: keepPreviousData,
  });

/** The longest time that the service takes for an export. */
const EXPORT_TIMEOUT_MS = 600_000;

/** Everything that a search matches, as a file. */
export function exportPayments(clientId: string, search: SearchTexts): Promise<FileAnswer> {
  return callFile('/app/data/payments.csv', {
    query: { client_id: clientId, ...search },
    headers: { accept: 'text/csv' },
    timeoutMs: EXPORT_TIMEOUT_MS,
  });
}

export const paymentQuery = (clientId: string, id: string) =>
  queryOptions({
    queryKey: [...liveKey(clientId), 'payment', id],
    queryFn: async ({ signal }): Promise<PaymentView> => {
      const given = { path: { payment_id: id }, signal };
      const [{ body: payment }, { body: explanation }, { body: way }] = await Promise.all([
        callClient('GET /payments/{payment_id}', clientId, given),
        callClient('GET /payments/{payment_id}/approvals', clientId, given),
        callPage<PaymentView['way']>('GET', `payments/${encodeURIComponent(id)}`, clientId, { signal }),
      ]);
      const marks = (await marksOf(clientId, [payment], signal)).get(id);
      return { payment, explanation, way, marks };
    },
  });

export const homeQuery = (clientId: string) =>
  queryOptions({
    queryKey: [...liveKey(clientId), 'home'],
    queryFn: async ({ signal }) =>
      (await callPage<Figures & { today: string; activity: RecentActivity[] }>('GET', 'home', clientId, { signal }))
        .body,
  });

/** What leaves in the next days, and what failed in the last ones. */
export const outlookQuery = (clientId: string) =>
  queryOptions({
    queryKey: [...liveKey(clientId), 'outlook'],
    queryFn: async ({ signal }) => (await callPage<PaymentOutlook>('GET', 'outlook', clientId, { signal })).body,
  });

/** A number that grows with every change of the client's payments. */
export async function changePosition(clientId: string, signal: AbortSignal): Promise<number> {
  return (await callPage<{ position: number }>('GET', 'changes', clientId, { signal })).body.position;
}

/** Approves several payments, each one separately. */
export async function approveAll(
  clientId: string,
  approval: { payment_ids: string[]; reason: string | undefined } & Proof,
): Promise<BulkOutcome> {
  return (await callPage<BulkOutcome>('POST', 'approvals', clientId, { body: approval })).body;
}

/** What an approval carries if the client requires a code. */
export interface Proof {
  challenge_id?: string | undefined;
  verification_code?: string | undefined;
}
