import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { ReceiverHealth } from '../../../src/webhooks/receiver-health.ts';
import { call } from '../../data/call.ts';
import { ask } from './subscriptions.ts';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'cancelled'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** How the last attempt ended: the status of the answer, or why there was none. */
interface LastAttempt {
  statusCode: number | null;
  reason: string | null;
}

/** A notification of a subscription, in the form that the list shows. */
export interface Delivery {
  id: string;
  type: string;
  status: DeliveryStatus;
  createdAt: string;
  attempts: { totalCount: number; nodes: LastAttempt[] };
}

/** One request of the service to the receiver, and its answer. */
export interface Attempt extends LastAttempt {
  attemptNumber: number;
  deliveryId: string;
  startedAt: string;
  durationMs: number;
  headers: Record<string, string | string[]> | null;
  body: string | null;
}

export interface DeliveryDetails {
  body: string | null;
  attempts: Attempt[];
}

/** Attempts shown for one notification: several rounds of the whole schedule. */
const MAX_ATTEMPTS = 50;
/** How often the list is read again: while something is in progress, and otherwise. */
const BUSY_MS = 3_000;
const QUIET_MS = 15_000;
const HEALTH_MS = 5_000;

const LIST = `query ($id: UUID!, $first: Int!, $filter: NotificationFilter) { subscriptions(first: 1, filter: {id: {equalTo: $id}}) { nodes {
  notifications(first: $first, orderBy: CREATED_AT_DESC, filter: $filter) { pageInfo { hasNextPage } nodes {
    id type status createdAt attempts(last: 1, orderBy: ATTEMPT_NUMBER_ASC) { totalCount nodes { statusCode reason } } } } } } }`;
const ONE = `query ($id: UUID!, $notification: UUID!, $attempts: Int!) { subscriptions(first: 1, filter: {id: {equalTo: $id}}) { nodes {
  notifications(first: 1, filter: {id: {equalTo: $notification}}) { nodes {
    body attempts(first: $attempts, orderBy: ATTEMPT_NUMBER_DESC) { nodes {
      attemptNumber deliveryId startedAt durationMs statusCode reason headers body } } } } } } }`;

interface Notifications<Node> {
  subscriptions: { nodes: { notifications: { pageInfo?: { hasNextPage: boolean }; nodes: Node[] } }[] };
}

export interface DeliveryFilter {
  status?: DeliveryStatus | undefined;
  type?: string | undefined;
}

/** What was sent to a receiver, newest first; the list refreshes itself. */
export const deliveriesQuery = (clientId: string, id: string, filter: DeliveryFilter, first: number) =>
  queryOptions({
    queryKey: ['deliveries', clientId, id, filter, first],
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.rows.some(({ status }) => status === 'pending') ? BUSY_MS : QUIET_MS),
    queryFn: async () => {
      const equal = Object.entries(filter).flatMap(([name, value]) => (value ? [[name, { equalTo: value }]] : []));
      const variables = { id, first, filter: Object.fromEntries(equal) };
      const data = await ask<Notifications<Delivery>>(clientId, LIST, variables);
      const [found] = data.subscriptions.nodes;
      return {
        rows: found?.notifications.nodes ?? [],
        hasMore: found?.notifications.pageInfo?.hasNextPage ?? false,
      };
    },
  });

/** A notification's body, and every attempt to deliver it, newest first. @param seen number of attempts that the list knows of */
export const deliveryQuery = (clientId: string, id: string, notification: string, seen: number) =>
  queryOptions({
    queryKey: ['delivery', clientId, id, notification, seen],
    placeholderData: keepPreviousData,
    queryFn: async (): Promise<DeliveryDetails> => {
      const variables = { id, notification, attempts: MAX_ATTEMPTS };
      const data = await ask<Notifications<{ body: string | null; attempts: { nodes: Attempt[] } }>>(
        clientId,
        ONE,
        variables,
      );
      const found = data.subscriptions.nodes[0]?.notifications.nodes[0];
      return { body: found?.body ?? null, attempts: found?.attempts.nodes ?? [] };
    },
  });

/** How the receiver answered in the last hours. */
export const healthQuery = (clientId: string, subscriptionId: string) =>
  queryOptions({
    queryKey: ['receiver-health', clientId, subscriptionId],
    refetchInterval: HEALTH_MS,
    queryFn: async ({ signal }) => {
      const query = { client_id: clientId, subscription_id: subscriptionId };
      return (await call<ReceiverHealth>('GET', '/app/data/receiver-health', { query, signal })).body;
    },
  });
