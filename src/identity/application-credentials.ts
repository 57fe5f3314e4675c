import { BoundedMap } from '../bounded-map.ts';
import type { Clock } from '../calendar.ts';
import { canonicalDistinguishedName } from '../certificates/distinguished-name.ts';
import { equalSecrets, type Vault } from '../crypto.ts';
import { first, type Pool } from '../database.ts';
import type { Freshness } from './freshness.ts';

/** Applications that are remembered. */
const MAX_REMEMBERED = 10_000;
const CLIENT_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** What the authorization server needs of a registered application that is enabled. */
export interface RegisteredApplication {
  id: string;
  name: string;
  redirectUris: string[];
  postLogoutRedirectUris: string[];
  headlessSignIn: boolean;
  requirePkce: boolean;
  /** Subject DNs of certificates that it may use, in their canonical spelling. */
  certificateSubjects: ReadonlySet<string>;
  /** Newest first; the later ones are in their overlap until `expiresAt` (milliseconds since 1970). */
  secrets: { secret: string; expiresAt: number }[];
}

interface Row {
  id: string;
  name: string;
  redirect_uris: string[];
  post_logout_redirect_uris: string[];
  headless_sign_in: boolean;
  require_pkce: boolean;
  certificate_subjects: string[];
  secrets: { secret: string; expires_at: string | null }[] | null;
  version: number;
}

/** Applications and their secrets, remembered as long as the identity version stands. */
export class ApplicationCredentials {
  readonly #pool: Pool;
  readonly #vault: Vault;
  readonly #clock: Clock;
  readonly #freshness: Freshness;
  readonly #remembered = new BoundedMap<string, { application: RegisteredApplication; version: number }>(
    MAX_REMEMBERED,
  );

  constructor(pool: Pool, vault: Vault, clock: Clock, freshness: Freshness) {
    this.#pool = pool;
    this.#vault = vault;
    this.#clock = clock;
    this.#freshness = freshness;
  }

  /** The application of an OAuth client_id, or undefined where there is none that is enabled. */
  async find(clientId: string): Promise<RegisteredApplication | undefined> {
    const known = this.#remembered.get(clientId);
    if (known && this.#freshness.holds(known.version)) return known.application;
    return this.#read(clientId);
  }

  /**
   * The application that a client_id and a secret prove, with that secret (the id_token is signed with it).
   * A secret that is not remembered may be a minute old only: the database has the last word.
   */
  async authenticate(
    clientId: string,
    secret: string,
  ): Promise<{ application: RegisteredApplication; secret: string } | undefined> {
    const known = this.#remembered.get(clientId);
    if (known && this.#freshness.holds(known.version) && this.#proves(known.application, secret)) {
      return { application: known.application, secret };
    }
    const application = await this.#read(clientId);
    return this.#proves(application, secret) && application ? { application, secret } : undefined;
  }

  #proves(application: RegisteredApplication | undefined, secret: string): boolean {
    const now = this.#clock.now().getTime();
    let right = false;
    for (const candidate of application?.secrets ?? [{ secret: '', expiresAt: 0 }]) {
      if (equalSecrets(candidate.secret, secret) && candidate.expiresAt > now) right = true;
    }
    return right;
  }

  async #read(clientId: string): Promise<RegisteredApplication | undefined> {
    if (!CLIENT_ID.test(clientId)) return undefined;
    const row = first(
      await this.#pool.query<Row>({ name: 'application_credentials', text: SELECT, values: [clientId] }),
    );
    this.#remembered.delete(clientId);
    if (!row) return undefined;
    const application: RegisteredApplication = {
      id: row.id,
      name: row.name,
      redirectUris: row.redirect_uris,
      postLogoutRedirectUris: row.post_logout_redirect_uris,
      headlessSignIn: row.headless_sign_in,
      requirePkce: row.require_pkce,
      certificateSubjects: new Set(row.certificate_subjects.flatMap((text) => canonicalDistinguishedName(text) ?? [])),
      secrets: (row.secrets ?? []).map(({ secret, expires_at }) => ({
        secret: this.#vault.open(Buffer.from(secret, 'base64'), 'application_secrets'),
        expiresAt: expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at),
      })),
    };
    this.#remembered.set(clientId, { application, version: row.version });
    return application;
  }
}

const SELECT = `
  select a.client_id as id, a.name, a.redirect_uris, a.post_logout_redirect_uris, a.headless_sign_in, a.require_pkce, v.version,
    array(select c.subject from application_certificates c where c.application_id = a.client_id) as certificate_subjects,
    (select json_agg(json_build_object('secret', encode(s.secret, 'base64'), 'expires_at', s.expires_at) order by s.id desc)
      from application_secrets s where s.application_id = a.client_id) as secrets
  from applications a cross join identity_version v
  where a.client_id = $1 and a.status = 'enabled'`;
