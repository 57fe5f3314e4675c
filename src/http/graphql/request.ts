import type { Act } from '../../audit/act.ts';
import type { Pool, Transaction } from '../../database/database.ts';
import { Problem } from '../../values/errors.ts';
import type { SubscriptionSettings } from '../../webhooks/subscription.ts';
import type { TextLimit } from './limits.ts';
import type { WithReadClient } from './read-only.ts';

/** The caller, and the means that an operation may use. */
export interface GraphqlCaller {
  clientId: string;
  contactId: string;
  /** The contact's permission can_manage_webhooks. */
  mayManage: boolean;
  act: Act;
  /** PostGraphile's access to the database, which can only read, and only as the client. */
  withPgClient: WithReadClient;
  /** The service's own connections, for secrets. */
  pool: Pool;
  /** Makes a change in one transaction, which begins by checking the caller's rights again. */
  change<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  settings: SubscriptionSettings;
}

/** The `contextValue` of an operation. */
export interface GraphqlRequest extends GraphqlCaller {
  /** Bytes that the answer may still take, for each limit. */
  textBytes: Record<TextLimit, number>;
  /** Resolves after the last statement that reads texts, because they run one after the other. */
  reading: Promise<unknown>;
  /** How often the operation names each field with long texts (`Type.field`). */
  copies: ReadonlyMap<string, number>;
}

declare global {
  namespace Grafast {
    /** What plans get from `context()`, besides PostGraphile's own members. */
    interface Context {
      request: GraphqlRequest;
    }
  }
}

/** @throws Problem permission_denied unless the contact may change the client's subscriptions (docs/decisions.md, 1) */
export function needsManage(request: GraphqlRequest, what: string): void {
  if (!request.mayManage)
    throw new Problem('permission_denied', `${what}: the contact needs can_manage_webhooks for this client`);
}
