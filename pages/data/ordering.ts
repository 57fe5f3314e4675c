import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { OrderedPayment, PaymentOrder } from '../../sdk/src/generated/api.ts';
import type { ReviewedPayment } from '../../src/payments/orders/review.ts';
import type { PaidBefore, PayableDays, PayablePayee, PaymentSources } from '../../src/payments/views/payable.ts';
import { call } from './call.ts';
import { callClient } from './client-api.ts';
import { payeesKey } from './payees.ts';

export type { PaidBefore, PayableDays, PayablePayee, PaymentOrder, PaymentSources };

/** Maximum payments of one order. */
export const MAX_PAYMENTS = 50;

/** A payment as it would be created. */
export type Reviewed = Omit<OrderedPayment, 'status'> &
  Pick<ReviewedPayment, 'status' | 'approvals_needed' | 'approved_by_creator' | 'approvers' | 'duplicates'>;

/** The key of all queries about sources of funds. */
export const sourcesKey = (clientId: string) => ['payment-sources', clientId];

/** Accounts and trades, with their available amounts. */
export const sourcesQuery = (clientId: string) =>
  queryOptions({
    queryKey: sourcesKey(clientId),
    queryFn: async ({ signal }) =>
      (await call<PaymentSources>('GET', '/app/data/payment-sources', { query: { client_id: clientId }, signal })).body,
  });

/** Payees that are offered. If there are more, one more is read. */
export const PAYEES_OFFERED = 8;

/** The payees whose names contain a text, most recently used first. */
export const payeesByUseQuery = (clientId: string, text: string) =>
  queryOptions({
    queryKey: [...payeesKey(clientId), 'by use', text],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const given = { query: { client_id: clientId }, body: { q: text }, signal };
      return (await call<PayablePayee[]>('POST', '/app/data/payees', given)).body;
    },
  });

/** The facts of an earlier payment, for a new one like it. */
export const paidBeforeQuery = (clientId: string, id: string) =>
  queryOptions({
    queryKey: ['paid-before', clientId, id],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const path = `/app/data/payments/${encodeURIComponent(id)}/again`;
      return (await call<PaidBefore>('GET', path, { query: { client_id: clientId }, signal })).body;
    },
  });

/** What decides on which days a payment can leave. */
export interface DaysOf {
  beneficiary_id: string;
  currency: string;
  amount: string;
  trade_id?: string | undefined;
  /** The day on which the exchange that it needs settles. */
  not_before?: string | undefined;
}

/** The days on which a payment can leave. */
export const daysQuery = (clientId: string, of: DaysOf | undefined) =>
  queryOptions({
    queryKey: ['payment-days', clientId, of],
    enabled: of !== undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { client_id: clientId, ...of };
      return (await call<PayableDays>('GET', '/app/data/payment-days', { query, signal })).body;
    },
  });

/** What an order would create and require; nothing is saved. @throws CallError with all faults */
export async function reviewOrder(clientId: string, order: PaymentOrder): Promise<Reviewed[]> {
  const given = { query: { client_id: clientId }, body: order };
  return (await call<Reviewed[]>('POST', '/app/data/payment-review', given)).body;
}

/**
 * Orders payments.
 * @param key the same for every retry of one order.
 * @throws CallError
 */
export async function orderPayments(clientId: string, order: PaymentOrder, key: string): Promise<OrderedPayment[]> {
  const given = { body: order, headers: { 'idempotency-key': key } };
  return (await callClient('POST /payments', clientId, given)).body;
}
