import type { Act } from '../audit/act.ts';
import { noteChange } from '../audit/change.ts';
import { audit } from '../audit/record.ts';
import { first, one, type Transaction } from '../database/database.ts';
import type { Vault } from '../values/crypto.ts';
import { Problem } from '../values/errors.ts';
import { isUuid } from '../values/identifiers.ts';
import { announceSubscription } from './announcement.ts';
import { type FormerTypes, formerTypesOf } from './former-types.ts';
import { readSubscriptions } from './history.ts';
import type { WebhookType } from './notification.ts';
import { makeWaitingDue } from './recovery.ts';
import { type FormerSecret, openSecret, rotateSecrets, sealSecret } from './secret.ts';
import { createStream } from './stream.ts';
import {
  checkExtraHeaders,
  checkSecret,
  checkTypes,
  checkUrl,
  type ExtraHeader,
  MAX_OVERLAP_SECONDS,
} from './subscription-rules.ts';

/** The most subscriptions of a client. Each adds work to every event of its types. */
const MAX_SUBSCRIPTIONS = 1_000;

/** What writing a subscription needs in addition to the subscription. */
export interface SubscriptionSettings {
  /** Whether http URLs are accepted. */
  sandbox: boolean;
  /** LOMBARD_BRAND, which is part of the names of the service's own headers. */
  brand: string;
  /** Seals secrets. */
  vault: Vault;
  /** The address for which a stream's notifications are signed: `{base_url}/webhooks/stream`. */
  streamUrl: string;
}

export interface NewSubscription {
  clientId: string;
  contactId: string;
  /** HTTP by default: the service sends to the url. STREAM: the client reads. */
  delivery?: 'HTTP' | 'STREAM' | null | undefined;
  /** Required, except for a stream. */
  url?: string | null | undefined;
  types: readonly string[];
  active?: boolean | null | undefined;
  secret?: string | null | undefined;
  extraHeaders?: readonly ExtraHeader[] | null | undefined;
}

/** The changes of a subscription. An undefined member stays unchanged. */
export interface SubscriptionPatch {
  url?: string | null | undefined;
  types?: readonly string[] | null | undefined;
  active?: boolean | null | undefined;
  secret?: string | null | undefined;
  extraHeaders?: readonly ExtraHeader[] | null | undefined;
  /** Seconds for which the replaced secret still signs (Standard Webhooks signatures): 0 to 30 days. */
  previousSecretSeconds?: number | null | undefined;
}

/**
 * Creates a subscription. It is inactive unless `active` is true (service interface, POST /webhooks/graphql).
 * @returns its id
 * @throws Problem invalid_body
 */
export async function createSubscription(
  tx: Transaction,
  act: Act,
  input: NewSubscription,
  settings: SubscriptionSettings,
): Promise<string> {
  const delivery = input.delivery ?? 'HTTP';
  const url = urlOf(delivery, input.url, settings);
  const types = checkTypes(input.types);
  const secret = checkSecret(input.secret);
  const extraHeaders = checkExtraHeaders(input.extraHeaders ?? [], settings.brand);
  const counted = first(
    await tx.query<{ count: number }>(
      'select count(*) as count from subscriptions where client_id = $1 and deleted_at is null',
      [input.clientId],
    ),
  );
  if ((counted?.count ?? 0) >= MAX_SUBSCRIPTIONS) {
    throw new Problem('invalid_body', {
      field: 'subscription',
      message: `a client has at most ${MAX_SUBSCRIPTIONS} subscriptions`,
    });
  }
  const created = await tx.query<{ id: string }>(
    `insert into subscriptions (client_id, contact_id, url, active, secret, types, extra_headers, created_at, updated_at, delivery)
     select $1, $2, $3, $4::boolean, $5::bytea, $6::webhook_type[], ${HEADERS_FROM_JSON('$7')}, ${NEXT_MOMENT}, $8::timestamptz, $9::subscription_delivery
     returning id`,
    [
      input.clientId,
      input.contactId,
      url,
      input.active ?? false,
      sealSecret(settings.vault, secret),
      types,
      JSON.stringify(extraHeaders),
      act.now,
      delivery,
    ],
  );
  const { id } = one(created);
  await announceSubscription(tx, { id, clientId: input.clientId, change: 'created', active: input.active ?? false });
  if (delivery === 'STREAM') await createStream(tx, { clientId: input.clientId, subscriptionId: id }, act.now);
  audit(tx, act, {
    action: 'create',
    entity: 'subscription',
    entityId: id,
    clientId: input.clientId,
    after: { delivery, url, active: input.active ?? false, types, secret, extraHeaders },
  });
  return id;
}

/** The address of a subscription: its own, or for a stream the stream's, which is signed too. */
function urlOf(delivery: 'HTTP' | 'STREAM', url: string | null | undefined, settings: SubscriptionSettings): string {
  if (delivery === 'HTTP') {
    if (url == null)
      throw new Problem('invalid_body', { field: 'url', message: 'is required, except with delivery STREAM' });
    return checkUrl(url, settings);
  }
  if (url != null)
    throw new Problem('invalid_body', { field: 'url', message: 'must be left out with delivery STREAM' });
  return settings.streamUrl;
}

/** The moment of creation. Subscriptions that one request creates are a microsecond apart, so that they keep their order. */
const NEXT_MOMENT = `coalesce((select max(created_at) + interval '1 microsecond' from subscriptions
  where client_id = $1 and created_at >= $8 and created_at < $8::timestamptz + interval '1 millisecond'), $8::timestamptz)`;

const HEADERS_FROM_JSON = (parameter: string) =>
  `array(select row(h->>'name', h->>'value')::extra_header from json_array_elements(${parameter}::json) h)`;

interface LockedSubscription {
  delivery: 'HTTP' | 'STREAM';
  url: string;
  active: boolean;
  types: WebhookType[];
  secret: Buffer | null;
  extraHeaders: ExtraHeader[];
  disabledReason: string | null;
  former: FormerSecret[];
  formerTypes: FormerTypes[];
  createdAt: Date;
}

function notFound(): Problem {
  return new Problem('subscription_not_found', { field: 'id', message: 'does not name a subscription of this client' });
}

async function lockSubscription(tx: Transaction, clientId: string, id: string): Promise<LockedSubscription> {
  if (!isUuid(id)) throw notFound();
  const row = first(
    await tx.query<LockedSubscription & { formerSecrets: Buffer[]; formerUntil: Date[] }>(
      `select delivery, url, active, types::text[] as types, secret, to_json(extra_headers) as "extraHeaders",
         disabled_reason as "disabledReason",
         former_types as "formerTypes", created_at as "createdAt", former_secrets as "formerSecrets", former_secrets_until as "formerUntil"
       from subscriptions where client_id = $1 and id = $2 and deleted_at is null for update`,
      [clientId, id],
    ),
  );
  if (!row) throw notFound();
  const { formerSecrets, formerUntil, ...subscription } = row;
  const former = formerSecrets.flatMap((secret, at) => {
    const until = formerUntil[at];
    return until ? [{ secret, until }] : [];
  });
  return { ...subscription, former };
}

function checkOverlap(patch: SubscriptionPatch): number {
  const seconds = patch.previousSecretSeconds ?? 0;
  const refuse = (message: string) => new Problem('invalid_body', { field: 'previousSecretSeconds', message });
  if (!Number.isInteger(seconds) || seconds < 0 || seconds > MAX_OVERLAP_SECONDS)
    throw refuse(`must be a whole number from 0 to ${MAX_OVERLAP_SECONDS}`);
  if (seconds > 0 && patch.secret === undefined) throw refuse('needs a new secret');
  return seconds;
}

/**
 * Changes a subscription. `types` replaces the whole list. A new secret is used at once, and the former one still signs for
 * `previousSecretSeconds`. Activating a subscription that the service switched off clears its failures.
 * @throws Problem subscription_not_found, invalid_body
 */
export async function updateSubscription(
  tx: Transaction,
  act: Act,
  input: { clientId: string; id: string; patch: SubscriptionPatch },
  settings: SubscriptionSettings,
): Promise<void> {
  const { clientId, id, patch } = input;
  const { vault } = settings;
  const present = await lockSubscription(tx, clientId, id);
  const url = patch.url == null ? present.url : urlOf(present.delivery, patch.url, settings);
  const types = patch.types == null ? present.types : checkTypes(patch.types);
  const extraHeaders =
    patch.extraHeaders === undefined
      ? present.extraHeaders
      : checkExtraHeaders(patch.extraHeaders ?? [], settings.brand);
  const active = patch.active ?? present.active;
  const overlapSeconds = checkOverlap(patch);
  const secret = patch.secret === undefined ? undefined : checkSecret(patch.secret);
  const rotates = secret !== undefined && (secret ?? '') !== openSecret(vault, present.secret);
  const sealed = rotates ? sealSecret(vault, secret) : present.secret;
  const former = rotates ? rotateSecrets(present, act.now, overlapSeconds) : present.former;
  await tx.query(
    `update subscriptions set url = $3, active = $4, types = $5::webhook_type[],
       extra_headers = ${HEADERS_FROM_JSON('$6')}, secret = $7, updated_at = $8,
       former_secrets = $9::bytea[], former_secrets_until = $10::timestamptz[], former_types = $11::jsonb,
       disabled_reason = case when $4 then null else disabled_reason end,
       disabled_at = case when $4 then null else disabled_at end
     where client_id = $1 and id = $2`,
    [
      clientId,
      id,
      url,
      active,
      types,
      JSON.stringify(extraHeaders),
      sealed,
      act.now,
      former.map((one) => one.secret),
      former.map((one) => one.until),
      JSON.stringify(formerTypesOf(present, types, act.now)),
    ],
  );
  await announceSubscription(tx, { id, clientId, change: 'updated', active });
  if (active && !present.active) {
    await tx.query('delete from webhook_endpoints where subscription_id = $1', [id]);
    await makeWaitingDue(tx, { clientId, subscriptionId: id }, act.now);
  }
  audit(tx, act, {
    action: 'update',
    entity: 'subscription',
    entityId: id,
    clientId,
    before: { url: present.url, active: present.active, types: present.types, extraHeaders: present.extraHeaders },
    after: { url, active, types, extraHeaders, ...(rotates ? { secret: 'replaced' } : {}) },
  });
}

/**
 * Deletes a subscription. Nothing more is sent, the delivery engine cancels pending notifications, and the history stays for the operator
 * (docs/decisions.md, 6).
 * @throws Problem subscription_not_found
 */
export async function deleteSubscription(
  tx: Transaction,
  act: Act,
  key: { clientId: string; id: string },
): Promise<void> {
  const { url } = await lockSubscription(tx, key.clientId, key.id);
  const [record] = await readSubscriptions(tx, key.clientId, [key.id]);
  await tx.query(
    'update subscriptions set active = false, deleted_at = $3, updated_at = $3 where client_id = $1 and id = $2',
    [key.clientId, key.id, act.now],
  );
  await announceSubscription(tx, { ...key, change: 'deleted', active: false });
  audit(tx, act, {
    action: 'delete',
    entity: 'subscription',
    entityId: key.id,
    clientId: key.clientId,
    before: { url },
  });
  const deleted = JSON.stringify(record);
  noteChange(tx, act, { entity: 'subscription', id: key.id, clientId: key.clientId, action: 'delete', deleted });
}

/**
 * Switches a subscription off because its receiver is gone (410) or has only failed for days.
 * @param input `revision`: if given, only if the subscription has not changed since
 * @returns false if it stays unchanged
 */
export async function disableSubscription(
  tx: Transaction,
  act: Act,
  input: { id: string; reason: 'gone' | 'failing'; revision?: number | undefined },
): Promise<boolean> {
  const { id, reason, revision } = input;
  const row = first(
    await tx.query<{ client_id: string }>(
      `update subscriptions set active = false, disabled_reason = $2, disabled_at = $3, updated_at = $3
       where id = $1 and active and deleted_at is null and revision = coalesce($4, revision) returning client_id`,
      [id, reason, act.now, revision],
    ),
  );
  if (!row) return false;
  await announceSubscription(tx, { id, clientId: row.client_id, change: 'updated', active: false });
  audit(tx, act, {
    action: 'update',
    entity: 'subscription',
    entityId: id,
    clientId: row.client_id,
    before: { active: true },
    after: { active: false, disabled_reason: reason },
  });
  return true;
}
