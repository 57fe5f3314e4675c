import type { Act } from '../context.ts';
import type { Vault } from '../crypto.ts';
import type { Pool } from '../database.ts';
import { Problem } from '../errors.ts';
import type { SubscriptionRules } from '../webhooks/subscription.ts';
import type { WithReadClient } from './read-only.ts';

/** Who asks, and what its plans may use; the `contextValue` of an operation. */
export interface GraphqlRequest {
  clientId: string;
  contactId: string;
  /** The contact's permission can_manage_webhooks. */
  mayManage: boolean;
  act: Act;
  /** PostGraphile's way to the database: reads as the client, and nothing else. */
  withPgClient: WithReadClient;
  pgSettings: null;
  /** The service's own way, for changes and for secrets. */
  pool: Pool;
  vault: Vault;
  rules: SubscriptionRules;
  /** Bytes of bodies that the answer may still take. */
  bodyBytes: number;
}

/** @throws Problem permission_denied unless the contact may change the client's subscriptions (docs/decisions.md, 1) */
export function needsManage(request: GraphqlRequest, what: string): void {
  if (!request.mayManage)
    throw new Problem('permission_denied', `${what}: the contact needs can_manage_webhooks for this client`);
}
