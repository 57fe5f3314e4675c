import type { Api, CallOptions } from './api.ts';
import { LombardError } from './error.ts';
import { graphql } from './graphql.ts';
import type { WebhookType } from './notification.ts';

/** `pending`: it waits for its first or next attempt. `failed`: the last attempt failed. `cancelled`: it will not be sent again. */
export type NotificationStatus = 'pending' | 'delivered' | 'failed' | 'cancelled';

/** The receiver's answer, or why there was none. */
export interface DeliveryAttempt {
  /** Counted from 1. */
  attemptNumber: number;
  startedAt: string;
  durationMs: number;
  /** Null if there was no answer. */
  statusCode: number | null;
  /** Why there was no answer: `dns`, `connect`, `tls`, `timeout` and others; otherwise null. */
  reason: string | null;
}

/** A notification for a subscription, and its delivery. */
export interface SentNotification {
  id: string;
  subscriptionId: string;
  type: WebhookType | 'PING';
  status: NotificationStatus;
  createdAt: string;
  /** The body, byte for byte as sent. */
  body: string;
  /** Null before the first attempt. */
  lastAttempt: DeliveryAttempt | null;
}

/** Selects notifications; if empty, all of them. */
export interface NotificationQuery {
  subscriptionId?: string;
  status?: NotificationStatus;
  type?: WebhookType | 'PING';
  /** Only events from this time on ... */
  since?: Date | string;
  /** ... and before this time. */
  until?: Date | string;
}

/** Selects what to replay. */
export interface ReplayQuery {
  /** Only events from this time on ... */
  since: Date | string;
  /** ... and before this time; the default is now. */
  until?: Date | string;
  /** Only notifications whose attempts have failed. */
  onlyFailed?: boolean;
}

/** Notifications, and subscriptions, per request. */
const PAGE_ROWS = 50;

const SUBSCRIPTIONS = `query ($first: Int!, $after: Cursor) {
  subscriptions(first: $first, after: $after, orderBy: CREATED_AT_DESC) { nodes { id } pageInfo { hasNextPage endCursor } }
}`;
const NOTIFICATIONS = `query ($id: UUID!, $first: Int!, $after: Cursor, $filter: NotificationFilter) {
  subscriptions(first: 1, filter: {id: {equalTo: $id}}) { nodes {
    notifications(first: $first, after: $after, orderBy: CREATED_AT_DESC, filter: $filter) {
      nodes { id type status createdAt body
        attempts(last: 1) { nodes { attemptNumber startedAt durationMs statusCode reason } } }
      pageInfo { hasNextPage endCursor } } } }
}`;
const REDELIVER = 'mutation ($id: UUID!) { redeliverNotification(input: {id: $id}) { count } }';
const REPLAY = 'mutation ($input: ReplayNotificationsInput!) { replayNotifications(input: $input) { count } }';

interface Connection<T> {
  nodes: T[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}
type Row = Omit<SentNotification, 'subscriptionId' | 'lastAttempt'> & { attempts: { nodes: DeliveryAttempt[] } };

/** The notifications sent to the client's subscriptions, and how to send them again. */
export class Webhooks {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /**
   * Lists notifications lazily: iterate the result (again). The newest subscription comes first, and within each the newest notification.
   * @throws LombardError `subscription_not_found` during iteration
   */
  notifications(query: NotificationQuery = {}, { signal }: CallOptions = {}): AsyncIterable<SentNotification> {
    return { [Symbol.asyncIterator]: () => this.#read(query, signal) };
  }

  /**
   * Sends a notification again with the same id and body; requires `can_manage_webhooks`.
   * @throws LombardError `notification_not_found`, or `subscription_not_found` if its subscription was deleted
   */
  async redeliver(id: string, { signal }: CallOptions = {}): Promise<void> {
    await graphql(this.#api, REDELIVER, { id }, { signal });
  }

  /**
   * Sends a subscription its notifications of a period again: those sent, those waiting, and those missed while it was inactive. Requires
   * `can_manage_webhooks`.
   * @returns how many notifications are sent
   * @throws LombardError `subscription_not_found`
   */
  async replay(
    subscriptionId: string,
    { since, until, onlyFailed = false }: ReplayQuery,
    { signal }: CallOptions = {},
  ): Promise<number> {
    const input = { subscriptionId, since: moment(since), until: moment(until), onlyFailed };
    const data = await graphql<{ replayNotifications: { count: number } }>(this.#api, REPLAY, { input }, { signal });
    return data.replayNotifications.count;
  }

  async *#read(query: NotificationQuery, signal: AbortSignal | undefined): AsyncGenerator<SentNotification, void> {
    const { subscriptionId, status, type, since, until } = query;
    const filter = {
      ...(status === undefined ? {} : { status: { equalTo: status } }),
      ...(type === undefined ? {} : { type: { equalTo: type } }),
      createdAt: { greaterThanOrEqualTo: moment(since), lessThan: moment(until) },
    };
    if (subscriptionId !== undefined) return yield* this.#ofOne(subscriptionId, filter, signal);
    const subscriptions = this.#pages(async (after) => {
      const variables = { first: PAGE_ROWS, after };
      const data = await graphql<{ subscriptions: Connection<{ id: string }> }>(this.#api, SUBSCRIPTIONS, variables, {
        signal,
      });
      return data.subscriptions;
    });
    for await (const { id } of subscriptions) yield* this.#ofOne(id, filter, signal);
  }

  async *#ofOne(
    subscriptionId: string,
    filter: object,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<SentNotification, void> {
    const rows = this.#pages(async (after) => {
      const variables = { id: subscriptionId, first: PAGE_ROWS, after, filter };
      const { subscriptions } = await graphql<{ subscriptions: { nodes: { notifications: Connection<Row> }[] } }>(
        this.#api,
        NOTIFICATIONS,
        variables,
        { signal },
      );
      const [found] = subscriptions.nodes;
      if (found) return found.notifications;
      const details = 'subscriptionId: does not name a subscription of this client';
      throw new LombardError({ code: 'subscription_not_found', details });
    });
    for await (const { attempts, ...row } of rows)
      yield { ...row, subscriptionId, lastAttempt: attempts.nodes[0] ?? null };
  }

  /** The entries of a connection, page after page. */
  async *#pages<T>(read: (after: string | null) => Promise<Connection<T>>): AsyncGenerator<T, void> {
    for (let after: string | null = null; ; ) {
      const { nodes, pageInfo }: Connection<T> = await read(after);
      yield* nodes;
      if (!pageInfo.hasNextPage) return;
      after = pageInfo.endCursor;
    }
  }
}

function moment(given: Date | string | undefined): string | undefined {
  return given instanceof Date ? given.toISOString() : given;
}
