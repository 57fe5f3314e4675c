import type { Vault } from '../crypto.ts';
import type { Db } from '../database.ts';
import type { Delivery } from './queue.ts';
import { openSecret } from './subscription.ts';
import type { ExtraHeader } from './subscription-rules.ts';

/** Failures in a row after which an endpoint is no longer tried as fast as it fails, and the milliseconds between its attempts then. */
export const PACED_AFTER = 50;
export const PACE = 50;

/** What a worker knows and holds of one subscription. */
export class Endpoint {
  readonly id: string;
  /** Empty until its subscription has been read. */
  clientId: string;
  revision = 0;
  active = false;
  deleted = false;
  /** False where its secret cannot be opened: nothing is sent to it then, whatever it is. */
  usable = true;
  /** The URL as registered, which is signed, and parsed, which is dialled. */
  urlText = '';
  url = new URL('https://invalid');
  secret = '';
  /** Signed with beside it until a moment of service time (milliseconds since 1970). */
  formerSecrets: { secret: string; until: number }[] = [];
  /** Names and values in turns. */
  extraHeaders: string[] = [];

  /** Leased and waiting for a slot, first in, first out. */
  ready: Delivery[] = [];
  underWay = 0;
  /** Whether, or from when on (service time), there may be something in the queue for it. */
  backlog = false;
  nextDue = Number.POSITIVE_INFINITY;
  /** Failures since the last success, in this worker. */
  failures = 0;
  /** Milliseconds that its attempts take, about. */
  pace = 100;
  /** Monotonic milliseconds before which a paced endpoint is not tried again. */
  notBefore = 0;
  /** Monotonic milliseconds: when it was last used. */
  lastUsed = 0;
  /** What was last written of its failing or not, and when (milliseconds of service time). */
  failingKnown: boolean | undefined;
  failingWritten = Number.NEGATIVE_INFINITY;

  constructor(id: string, clientId: string) {
    this.id = id;
    this.clientId = clientId;
  }

  get held(): number {
    return this.ready.length + this.underWay;
  }

  /** Whether a delivery may be sent now. Pings go to inactive subscriptions too (the service interface, POST /webhooks/ping). */
  takes(delivery: Delivery): boolean {
    return !this.deleted && this.usable && (this.active || delivery.type === 'PING');
  }

  /** The secrets that are signed with at a moment of service time, the present one first. */
  secretsAt(time: number): string[] {
    const secrets = [this.secret];
    for (const { secret, until } of this.formerSecrets) if (time < until) secrets.push(secret);
    return secrets;
  }
}

/** A subscription, as the engine reads it. */
export interface SubscriptionRow {
  id: string;
  client_id: string;
  revision: number;
  /** False also for one without types: the same as disabled (the service interface, Moves that are shown). */
  active: boolean;
  deleted: boolean;
  url: string;
  secret: Buffer | null;
  former_secrets: (Buffer | null)[];
  former_secrets_until: Date[];
  extra_headers: ExtraHeader[];
}

/** Reads subscriptions, whoever's they are: the delivery engine works for every client. */
export async function readSubscriptions(db: Db, ids: readonly string[]): Promise<SubscriptionRow[]> {
  const { rows } = await db.query<SubscriptionRow>({
    name: 'webhooks-subscriptions',
    text: `select id, client_id, revision, active and cardinality(types) > 0 as active, deleted_at is not null as deleted, url, secret, former_secrets, former_secrets_until,
      to_json(extra_headers) as extra_headers from webhooks.subscriptions where id = any($1::uuid[])`,
    values: [ids],
  });
  return rows;
}

/**
 * Brings an endpoint to what its row says. Throws, and changes nothing, where its secret cannot be opened.
 * @param reserved names of the service's own headers, in small letters: they stay its own also where the brand has changed since
 */
export function update(endpoint: Endpoint, row: SubscriptionRow, vault: Vault, reserved: ReadonlySet<string>): void {
  // First what may fail: an endpoint is changed as a whole or not at all.
  const url = new URL(row.url);
  const secret = openSecret(vault, row.secret);
  const formerSecrets = row.former_secrets.map((sealed, index) => ({
    secret: openSecret(vault, sealed),
    until: row.former_secrets_until[index]?.getTime() ?? 0,
  }));
  const extraHeaders = row.extra_headers
    .filter(({ name }) => !reserved.has(name.toLowerCase()))
    .flatMap(({ name, value }) => [name, value]);
  Object.assign(endpoint, { url, secret, formerSecrets, extraHeaders, usable: true });
  endpoint.revision = row.revision;
  endpoint.clientId = row.client_id;
  endpoint.active = row.active;
  endpoint.deleted = row.deleted;
  endpoint.urlText = row.url;
}
