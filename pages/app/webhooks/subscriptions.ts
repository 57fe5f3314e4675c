import { queryOptions } from '@tanstack/react-query';
import { CallError } from '../../data/call-error.ts';
import { callClient } from '../../data/client-api.ts';

/** What the page asks of the GraphQL endpoint (docs/graphql.md), and how it reads the answers. */

export interface ExtraHeader {
  name: string;
  value: string;
}

export interface Subscription {
  id: string;
  url: string;
  delivery: 'HTTP' | 'STREAM';
  active: boolean;
  types: string[];
  createdAt: string;
  disabledReason: 'gone' | 'failing' | null;
  disabledAt: string | null;
  /** The values are empty without `can_manage_webhooks`. */
  extraHeaders: ExtraHeader[];
}

/** What a person writes into the form of a subscription. */
export interface SubscriptionFields {
  url: string;
  types: string[];
  active: boolean;
  extraHeaders: ExtraHeader[];
}

/** Subscriptions that the page shows. */
const MAX_SUBSCRIPTIONS = 100;

const LIST = `query ($first: Int!) { webhookTypes subscriptions(first: $first, orderBy: CREATED_AT_DESC) { nodes {
  id url delivery active types createdAt disabledReason disabledAt extraHeaders { name value } } } }`;
const CREATE =
  'mutation ($input: CreateSubscriptionInput!) { createSubscription(input: $input) { subscription { id } } }';
const UPDATE =
  'mutation ($input: UpdateSubscriptionInput!) { updateSubscription(input: $input) { subscription { id } } }';
const DELETE =
  'mutation ($input: DeleteSubscriptionInput!) { deleteSubscription(input: $input) { subscription { id } } }';
const RESEND = 'mutation ($input: RedeliverNotificationInput!) { redeliverNotification(input: $input) { count } }';
const REPLAY = 'mutation ($input: ReplayNotificationsInput!) { replayNotifications(input: $input) { count } }';

/** Asks the GraphQL endpoint. @throws CallError, even if only a part of the answer failed */
export async function ask<Data>(clientId: string, query: string, variables: Record<string, unknown>): Promise<Data> {
  const { body } = await callClient('POST /webhooks/graphql', clientId, { body: { query, variables } });
  const [error] = body.errors ?? [];
  if (error) {
    const { code } = (error as { extensions?: { code?: string } }).extensions ?? {};
    throw new CallError(400, { ...(code === undefined ? {} : { code }), details: error.message });
  }
  return body.data as Data;
}

/** The client's subscriptions, newest first, and the types to choose from. */
export const subscriptionsQuery = (clientId: string) =>
  queryOptions({
    queryKey: ['webhooks', clientId],
    queryFn: async () => {
      const { webhookTypes, subscriptions } = await ask<{
        webhookTypes: string[];
        subscriptions: { nodes: Subscription[] };
      }>(clientId, LIST, { first: MAX_SUBSCRIPTIONS });
      return { types: webhookTypes, subscriptions: subscriptions.nodes };
    },
  });

/** @returns the new subscription's id */
export async function createSubscription(
  clientId: string,
  subscription: SubscriptionFields & { secret: string },
): Promise<string> {
  const data = await ask<{ createSubscription: { subscription: { id: string } } }>(clientId, CREATE, {
    input: { subscription },
  });
  return data.createSubscription.subscription.id;
}

export async function updateSubscription(
  clientId: string,
  id: string,
  patch: Partial<SubscriptionFields> & { secret?: string; previousSecretSeconds?: number },
): Promise<void> {
  await ask(clientId, UPDATE, { input: { id, patch } });
}

export async function deleteSubscription(clientId: string, id: string): Promise<void> {
  await ask(clientId, DELETE, { input: { id } });
}

export async function ping(clientId: string, id: string): Promise<void> {
  await callClient('POST /webhooks/ping/{subscription_id}', clientId, { path: { subscription_id: id } });
}

/** Sends one notification again. */
export async function resend(clientId: string, id: string): Promise<void> {
  await ask(clientId, RESEND, { input: { id } });
}

/** Sends what happened since a given time again. @returns how many notifications */
export async function replay(
  clientId: string,
  wanted: { subscriptionId: string; since: string; onlyFailed: boolean },
): Promise<number> {
  const data = await ask<{ replayNotifications: { count: number } }>(clientId, REPLAY, { input: wanted });
  return data.replayNotifications.count;
}

const SECRET_BYTES = 32;

/** A new signing key in the format of Standard Webhooks. */
export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}
