import type { Db } from '../database/database.ts';
import type { Vault } from '../values/crypto.ts';
import { openSecret } from './secret.ts';
import type { ExtraHeader } from './subscription-rules.ts';

/** Where and how a subscription's notifications are sent, at one revision of the subscription. The object is replaced as a whole. */
export interface EndpointSettings {
  readonly clientId: string;
  /** 0 until the subscription has been read. */
  readonly revision: number;
  /** Also false for a subscription without types, which counts as disabled (service interface, Moves that are shown). */
  readonly active: boolean;
  readonly deleted: boolean;
  /** False if the secret cannot be opened. Then nothing is sent, not even pings. */
  readonly usable: boolean;
  /** The URL as it was registered, which is signed, and the parsed URL, which is dialled. */
  readonly urlText: string;
  readonly url: URL;
  readonly secret: string;
  /** Former secrets that also sign, each until a moment of service time (milliseconds since 1970). */
  readonly formerSecrets: readonly { secret: string; until: number }[];
  /** Names and values alternating. */
  readonly extraHeaders: readonly string[];
}

/** The settings of an endpoint whose subscription has not been read yet. */
export const UNREAD_SETTINGS: EndpointSettings = {
  clientId: '',
  revision: 0,
  active: false,
  deleted: false,
  usable: true,
  urlText: '',
  url: new URL('https://invalid'),
  secret: '',
  formerSecrets: [],
  extraHeaders: [],
};

/** The secrets that sign at a moment of service time, the current one first. */
export function signingSecrets(settings: EndpointSettings, time: number): string[] {
  const secrets = [settings.secret];
  for (const { secret, until } of settings.formerSecrets) if (time < until) secrets.push(secret);
  return secrets;
}

/** A subscription in the form that the engine reads. */
export interface EndpointRow {
  id: string;
  client_id: string;
  revision: number;
  active: boolean;
  deleted: boolean;
  url: string;
  secret: Buffer | null;
  former_secrets: (Buffer | null)[];
  former_secrets_until: Date[];
  extra_headers: ExtraHeader[];
}

/** Reads subscriptions of any client: the delivery engine works for all of them. */
export async function readEndpointRows(db: Db, ids: readonly string[]): Promise<EndpointRow[]> {
  const { rows } = await db.query<EndpointRow>({
    name: 'webhooks-subscriptions',
    text: `select id, client_id, revision, active and delivery = 'HTTP' and cardinality(types) > 0 as active, deleted_at is not null as deleted,
        url, secret, former_secrets, former_secrets_until, to_json(extra_headers) as extra_headers
      from subscriptions where id = any($1::uuid[])`,
    values: [ids],
  });
  return rows;
}

/**
 * The settings that a row describes.
 * @param reserved names of the service's own headers in lower case. They stay reserved even if the brand has changed since
 * @throws Error if a secret cannot be opened
 */
export function openSettings(row: EndpointRow, vault: Vault, reserved: ReadonlySet<string>): EndpointSettings {
  return {
    clientId: row.client_id,
    revision: row.revision,
    active: row.active,
    deleted: row.deleted,
    usable: true,
    urlText: row.url,
    url: new URL(row.url),
    secret: openSecret(vault, row.secret),
    formerSecrets: row.former_secrets.map((sealed, index) => ({
      secret: openSecret(vault, sealed),
      until: row.former_secrets_until[index]?.getTime() ?? 0,
    })),
    extraHeaders: row.extra_headers
      .filter(({ name }) => !reserved.has(name.toLowerCase()))
      .flatMap(({ name, value }) => [name, value]),
  };
}
