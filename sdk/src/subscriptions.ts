import type { Api, CallOptions } from './api.ts';
import { graphql, type Tolerated } from './graphql.ts';
import type { WebhookType } from './notification.ts';

export interface ExtraHeader {
  name: string;
  value: string;
}

/** An address that receives notifications of a client. */
export interface Subscription {
  id: string;
  clientId: string;
  contactId: string;
  url: string;
  active: boolean;
  /** The signing key, empty if none is set; null for a contact without `can_manage_webhooks`. */
  secret: string | null;
  types: WebhookType[];
  /** Their values are empty for a contact without `can_manage_webhooks`. */
  extraHeaders: ExtraHeader[];
  createdAt: string;
  /** Why the service switched it off: `gone` (the receiver answered 410) or `failing`. */
  disabledReason: string | null;
}

export interface NewSubscription {
  url: string;
  types: readonly WebhookType[];
  /** If omitted, the subscription is inactive. */
  active?: boolean;
  secret?: string;
  extraHeaders?: readonly ExtraHeader[];
}

/** The changes. Omitted fields stay as they are. Lists replace the whole list. */
export interface SubscriptionPatch {
  url?: string;
  types?: readonly WebhookType[];
  active?: boolean;
  /** Null or the empty text removes the secret. */
  secret?: string | null;
  extraHeaders?: readonly ExtraHeader[];
  /** How long the former secret also signs notifications; requires a new secret. */
  previousSecretSeconds?: number;
}

const FIELDS = 'id clientId contactId url active secret types extraHeaders { name value } createdAt disabledReason';
/** Subscriptions per request: as many as the endpoint's cost limit allows with all their fields. */
const PAGE_ROWS = 100;

const LIST = `query ($first: Int!, $after: Cursor) {
  subscriptions(first: $first, after: $after) { nodes { ${FIELDS} } pageInfo { hasNextPage endCursor } }
}`;
const CREATE = `mutation ($subscription: SubscriptionInput!) {
  createSubscription(input: {subscription: $subscription}) { subscription { ${FIELDS} } }
}`;
const UPDATE = `mutation ($id: UUID!, $patch: SubscriptionPatch!) {
  updateSubscription(input: {id: $id, patch: $patch}) { subscription { ${FIELDS} } }
}`;
const DELETE = 'mutation ($id: UUID!) { deleteSubscription(input: {id: $id}) { subscription { id } } }';

interface ListData {
  subscriptions: { nodes: Subscription[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } };
}

interface CreateData {
  createSubscription: { subscription: Subscription };
}

interface UpdateData {
  updateSubscription: { subscription: Subscription };
}

/** Not everybody who may see a subscription may see its secret. */
const hiddenSecret: Tolerated = ({ path, extensions }) =>
  path?.at(-1) === 'secret' && extensions?.code === 'permission_denied';

/** The client's webhook subscriptions. */
export class Subscriptions {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** All of them, in the order of their creation. */
  async list({ signal }: CallOptions = {}): Promise<Subscription[]> {
    const all: Subscription[] = [];
    for (let after: string | null = null; ; ) {
      const variables: Record<string, unknown> = { first: PAGE_ROWS, after };
      const { subscriptions }: ListData = await graphql(this.#api, LIST, variables, {
        signal,
        tolerated: hiddenSecret,
      });
      all.push(...subscriptions.nodes);
      after = subscriptions.pageInfo.endCursor;
      if (!subscriptions.pageInfo.hasNextPage) return all;
    }
  }

  async create(subscription: NewSubscription, { signal }: CallOptions = {}): Promise<Subscription> {
    return (await graphql<CreateData>(this.#api, CREATE, { subscription }, { signal })).createSubscription.subscription;
  }

  async update(id: string, patch: SubscriptionPatch, { signal }: CallOptions = {}): Promise<Subscription> {
    return (await graphql<UpdateData>(this.#api, UPDATE, { id, patch }, { signal })).updateSubscription.subscription;
  }

  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await graphql(this.#api, DELETE, { id }, { signal });
  }

  /** Sends a Ping notification, even if the subscription is inactive. */
  async ping(id: string, options: CallOptions = {}): Promise<void> {
    await this.#api.call('POST /webhooks/ping/{subscription_id}', { ...options, path: { subscription_id: id } });
  }
}
