import { audit } from '../audit.ts';
import type { Act } from '../context.ts';
import type { Vault } from '../crypto.ts';
import { type Db, first, type Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import { isUuid } from '../uuid.ts';
import type { WebhookType } from './notification.ts';
import {
  checkExtraHeaders,
  checkSecret,
  checkTypes,
  checkUrl,
  type ExtraHeader,
  MAX_OVERLAP,
} from './subscription-rules.ts';

/** Subscriptions of a client at most: each is work for every event of its types. */
export const MAX_SUBSCRIPTIONS = 1_000;
const SECRET_PURPOSE = 'webhook_secret';

/** What the rules depend on. */
export interface SubscriptionRules {
  sandbox: boolean;
  brand: string;
}

export interface NewSubscription {
  clientId: string;
  contactId: string;
  url: string;
  types: readonly string[];
  active?: boolean | null | undefined;
  secret?: string | null | undefined;
  extraHeaders?: readonly ExtraHeader[] | null | undefined;
}

/** What of a subscription is to change; what is left out (undefined) stays as it is. */
export interface SubscriptionPatch {
  url?: string | null | undefined;
  types?: readonly string[] | null | undefined;
  active?: boolean | null | undefined;
  secret?: string | null | undefined;
  extraHeaders?: readonly ExtraHeader[] | null | undefined;
  /** Seconds for which the secret that is replaced is still signed with (Standard Webhooks signatures): 0 to 30 days. */
  previousSecretSeconds?: number | null | undefined;
}

/** Opens a sealed secret of a subscription; the empty text where none is set. */
export function openSecret(vault: Vault, sealed: Buffer | null): string {
  return sealed === null ? '' : vault.open(sealed, SECRET_PURPOSE);
}

function sealSecret(vault: Vault, secret: string | null): Buffer | null {
  return secret === null ? null : vault.seal(secret, SECRET_PURPOSE);
}

/** Creates a subscription: inactive unless `active` is true (the service interface, POST /webhooks/graphql). Gives its id. */
export async function createSubscription(
  tx: Transaction,
  vault: Vault,
  rules: SubscriptionRules,
  act: Act,
  given: NewSubscription,
): Promise<string> {
  const url = checkUrl(given.url, rules);
  const types = checkTypes(given.types);
  const secret = checkSecret(given.secret);
  const extraHeaders = checkExtraHeaders(given.extraHeaders ?? [], rules.brand);
  const { rows: counted } = await tx.query<{ count: number }>(
    'select count(*) as count from webhooks.subscriptions where client_id = $1 and deleted_at is null',
    [given.clientId],
  );
  if ((counted[0]?.count ?? 0) >= MAX_SUBSCRIPTIONS) {
    throw new Problem('invalid_body', `subscription: a client has at most ${MAX_SUBSCRIPTIONS} subscriptions`);
  }
  const { rows } = await tx.query<{ id: string }>(
    `insert into webhooks.subscriptions (client_id, contact_id, url, active, secret, types, extra_headers, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6::webhooks.webhook_type[], ${HEADERS_FROM_JSON('$7')}, ${NEXT_MOMENT}, $8) returning id`,
    [
      given.clientId,
      given.contactId,
      url,
      given.active ?? false,
      sealSecret(vault, secret),
      types,
      JSON.stringify(extraHeaders),
      act.now,
    ],
  );
  const id = rows[0]?.id as string;
  await audit(tx, act, {
    action: 'create',
    entity: 'subscription',
    entityId: id,
    clientId: given.clientId,
    after: { url, active: given.active ?? false, types, secret, extraHeaders },
  });
  return id;
}

/** Several that one request creates have their order: a microsecond lies between them. */
const NEXT_MOMENT = `coalesce((select max(created_at) + interval '1 microsecond' from webhooks.subscriptions
  where client_id = $1 and created_at >= $8 and created_at < $8::timestamptz + interval '1 millisecond'), $8)`;

const HEADERS_FROM_JSON = (parameter: string) =>
  `array(select row(h->>'name', h->>'value')::webhooks.extra_header from json_array_elements(${parameter}::json) h)`;

interface SubscriptionRow {
  url: string;
  active: boolean;
  types: WebhookType[];
  secret: Buffer | null;
  extraHeaders: ExtraHeader[];
  disabledReason: string | null;
  former: FormerSecret[];
}

/** A sealed secret that was replaced and is signed with until a moment. */
interface FormerSecret {
  secret: Buffer;
  until: Date;
}

/** Secrets that are signed with beside the present one at most. */
const MAX_FORMER_SECRETS = 3;

/**
 * What is still signed with after a rotation. One without an overlap ends all overlaps: only the new secret is good from now on.
 * @param overlap seconds
 */
function formerSecrets(present: SubscriptionRow, now: Date, overlap: number): FormerSecret[] {
  if (overlap === 0) return [];
  const former = present.former.filter(({ until }) => until > now);
  if (present.secret !== null)
    former.unshift({ secret: present.secret, until: new Date(now.getTime() + overlap * 1_000) });
  if (former.length > MAX_FORMER_SECRETS) {
    throw new Problem(
      'invalid_body',
      `previousSecretSeconds: ${MAX_FORMER_SECRETS} former secrets are signed with already; wait until one has ended, or replace the secret without an overlap`,
    );
  }
  return former;
}

function notFound(): Problem {
  return new Problem('subscription_not_found', 'id: is not a subscription of this client');
}

async function lockSubscription(tx: Transaction, clientId: string, id: string): Promise<SubscriptionRow> {
  if (!isUuid(id)) throw notFound();
  const row = first(
    await tx.query<SubscriptionRow & { formerSecrets: Buffer[]; formerUntil: Date[] }>(
      `select url, active, types::text[] as types, secret, to_json(extra_headers) as "extraHeaders", disabled_reason as "disabledReason",
         former_secrets as "formerSecrets", former_secrets_until as "formerUntil"
       from webhooks.subscriptions where client_id = $1 and id = $2 and deleted_at is null for update`,
      [clientId, id],
    ),
  );
  if (!row) throw notFound();
  const { formerSecrets, formerUntil, ...subscription } = row;
  return { ...subscription, former: formerSecrets.map((secret, at) => ({ secret, until: formerUntil[at] as Date })) };
}

/**
 * Changes a subscription. `types` replaces the whole list. A new secret is used at once; the one before it is signed with for
 * `previousSecretSeconds` more. Activating one that the service switched off begins anew.
 * @throws Problem subscription_not_found
 */
export async function updateSubscription(
  tx: Transaction,
  vault: Vault,
  rules: SubscriptionRules,
  act: Act,
  key: { clientId: string; id: string },
  patch: SubscriptionPatch,
): Promise<void> {
  const present = await lockSubscription(tx, key.clientId, key.id);
  const url = patch.url == null ? present.url : checkUrl(patch.url, rules);
  const types = patch.types == null ? present.types : checkTypes(patch.types);
  const extraHeaders =
    patch.extraHeaders === undefined ? present.extraHeaders : checkExtraHeaders(patch.extraHeaders ?? [], rules.brand);
  const active = patch.active ?? present.active;
  const overlap = patch.previousSecretSeconds ?? 0;
  if (!Number.isInteger(overlap) || overlap < 0 || overlap > MAX_OVERLAP) {
    throw new Problem('invalid_body', `previousSecretSeconds: must be a whole number from 0 to ${MAX_OVERLAP}`);
  }
  if (overlap > 0 && patch.secret === undefined) {
    throw new Problem('invalid_body', 'previousSecretSeconds: goes with a new secret');
  }
  const secret = patch.secret === undefined ? undefined : checkSecret(patch.secret);
  const rotates = secret !== undefined && (secret ?? '') !== openSecret(vault, present.secret);
  const sealed = rotates ? sealSecret(vault, secret) : present.secret;
  const former = rotates ? formerSecrets(present, act.now, overlap) : present.former;
  await tx.query(
    `update webhooks.subscriptions set url = $3, active = $4, types = $5::webhooks.webhook_type[], extra_headers = ${HEADERS_FROM_JSON('$6')},
       secret = $7, updated_at = $8,
       former_secrets = $9::bytea[], former_secrets_until = $10::timestamptz[],
       disabled_reason = case when $4 then null else disabled_reason end,
       disabled_at = case when $4 then null else disabled_at end
     where client_id = $1 and id = $2`,
    [
      key.clientId,
      key.id,
      url,
      active,
      types,
      JSON.stringify(extraHeaders),
      sealed,
      act.now,
      former.map((one) => one.secret),
      former.map((one) => one.until),
    ],
  );
  if (active && !present.active) await tx.query('delete from delivery.endpoints where subscription_id = $1', [key.id]);
  await audit(tx, act, {
    action: 'update',
    entity: 'subscription',
    entityId: key.id,
    clientId: key.clientId,
    before: { url: present.url, active: present.active, types: present.types, extraHeaders: present.extraHeaders },
    after: { url, active, types, extraHeaders, ...(rotates ? { secret: 'replaced' } : {}) },
  });
}

/**
 * Deletes a subscription: nothing more is sent, what was pending is cancelled by the delivery engine, the history stays for the
 * operator (docs/decisions.md, 6).
 * @throws Problem subscription_not_found
 */
export async function deleteSubscription(
  tx: Transaction,
  act: Act,
  key: { clientId: string; id: string },
): Promise<void> {
  const { url } = await lockSubscription(tx, key.clientId, key.id);
  await tx.query(
    'update webhooks.subscriptions set active = false, deleted_at = $3, updated_at = $3 where client_id = $1 and id = $2',
    [key.clientId, key.id, act.now],
  );
  await audit(tx, act, {
    action: 'delete',
    entity: 'subscription',
    entityId: key.id,
    clientId: key.clientId,
    before: { url },
  });
}

/**
 * Switches a subscription off because its receiver is gone (410) or has only failed for days; false where it was off already, or has changed
 * since the `revision` that is given.
 */
export async function disableSubscription(
  tx: Db,
  act: Act,
  id: string,
  reason: 'gone' | 'failing',
  revision?: number,
): Promise<boolean> {
  const row = first(
    await tx.query<{ client_id: string }>(
      `update webhooks.subscriptions set active = false, disabled_reason = $2, disabled_at = $3, updated_at = $3
       where id = $1 and active and deleted_at is null and revision = coalesce($4, revision) returning client_id`,
      [id, reason, act.now, revision],
    ),
  );
  if (!row) return false;
  await audit(tx, act, {
    action: 'update',
    entity: 'subscription',
    entityId: id,
    clientId: row.client_id,
    before: { active: true },
    after: { active: false, disabled_reason: reason },
  });
  return true;
}
