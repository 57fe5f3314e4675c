import { canonicalDistinguishedName } from '../../certificates/distinguished-name.ts';
import { first, type Pool } from '../../database/database.ts';
import type { Config } from '../../settings/config.ts';
import { BoundedMap } from '../../values/bounded-map.ts';
import type { Clock } from '../../values/calendar.ts';
import { equalSecrets, type Vault } from '../../values/crypto.ts';
import { OAuthError } from '../oauth-error.ts';
import { type IdentityVersion, subject, type Versioned } from '../tokens/identity-version.ts';
import { ownRedirects } from './own-applications.ts';

const MAX_CACHED_APPLICATIONS = 10_000;
const CLIENT_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** What the authorization server needs to know about an enabled application. */
export interface RegisteredApplication {
  id: string;
  name: string;
  redirectUris: string[];
  postLogoutRedirectUris: string[];
  headlessSignIn: boolean;
  requirePkce: boolean;
  /** Whether it is a public client, which has no secret (RFC 6749, 2.1). */
  publicClient: boolean;
  /** Subject DNs of the certificates that it may use, in their canonical spelling. */
  certificateSubjects: ReadonlySet<string>;
  /** Newest first. Older ones remain valid until `expiresAt` (milliseconds since 1970). */
  secrets: { secret: string; expiresAt: number }[];
}

interface Row {
  id: string;
  name: string;
  redirect_uris: string[];
  post_logout_redirect_uris: string[];
  headless_sign_in: boolean;
  require_pkce: boolean;
  public_client: boolean;
  certificate_subjects: string[];
  secrets: { secret: string; expires_at: string | null }[] | null;
  version: number;
}

interface CachedApplication extends Versioned {
  application: RegisteredApplication;
}

/** Applications and their secrets, cached until they change. */
export class ApplicationCredentials {
  readonly #pool: Pool;
  readonly #vault: Vault;
  readonly #clock: Clock;
  readonly #identityVersion: IdentityVersion;
  readonly #cache = new BoundedMap<string, CachedApplication>(MAX_CACHED_APPLICATIONS);

  readonly #apiUrl: () => string;
  readonly #environment: Config['environment'];

  /** @param parts `apiUrl`: {base_url}; called each time, because it is final only once the client API listens */
  constructor(
    pool: Pool,
    parts: {
      vault: Vault;
      clock: Clock;
      identityVersion: IdentityVersion;
      apiUrl: () => string;
      environment: Config['environment'];
    },
  ) {
    this.#pool = pool;
    this.#vault = parts.vault;
    this.#clock = parts.clock;
    this.#identityVersion = parts.identityVersion;
    this.#apiUrl = parts.apiUrl;
    this.#environment = parts.environment;
  }

  /**
   * The application of an OAuth client_id.
   * @throws OAuthError invalid_request if it is unknown or disabled. This error must never be answered by a redirect (docs/decisions.md, 7)
   */
  async require(clientId: string): Promise<RegisteredApplication> {
    const application = await this.find(clientId);
    if (!application) throw new OAuthError('invalid_request', 'client_id: is not a registered application');
    return application;
  }

  /** Like `require`; undefined if it is unknown or disabled. */
  async find(clientId: string): Promise<RegisteredApplication | undefined> {
    return this.#cached(clientId) ?? (await this.#read(clientId));
  }

  /**
   * Authenticates an application. The result includes the secret, which signs the id_token. A secret that is not cached may be new, so the
   * database decides.
   * @returns undefined if the application is unknown or disabled, or the secret is wrong
   */
  async authenticate(
    clientId: string,
    secret: string,
  ): Promise<{ application: RegisteredApplication; secret: string } | undefined> {
    const cached = this.#cached(clientId);
    if (cached && this.#matches(cached, secret)) return { application: cached, secret };
    const application = await this.#read(clientId);
    return this.#matches(application, secret) && application ? { application, secret } : undefined;
  }

  /**
   * Like `authenticate`, but does not look up a secret that does not match the cache, so wrong guesses cost no query. A secret that was
   * just made is recognised within a second.
   */
  async recognise(
    clientId: string,
    secret: string,
  ): Promise<{ application: RegisteredApplication; secret: string } | undefined> {
    const application = this.#cached(clientId) ?? (await this.#read(clientId));
    return this.#matches(application, secret) && application ? { application, secret } : undefined;
  }

  #cached(clientId: string): RegisteredApplication | undefined {
    const entry = this.#cache.get(clientId);
    return entry && this.#identityVersion.isCurrent(entry, () => [subject('application', clientId)])
      ? entry.application
      : undefined;
  }

  /** Takes about as long for an unknown application as for a wrong secret. */
  #matches(application: RegisteredApplication | undefined, secret: string): boolean {
    const now = this.#clock.now().getTime();
    let matches = false;
    for (const candidate of application?.secrets ?? [{ secret: '', expiresAt: 0 }]) {
      if (equalSecrets(candidate.secret, secret) && candidate.expiresAt > now) matches = true;
    }
    return matches;
  }

  async #read(clientId: string): Promise<RegisteredApplication | undefined> {
    if (!CLIENT_ID.test(clientId)) return undefined;
    const row = first(
      await this.#pool.query<Row>({ name: 'application_credentials', text: SELECT, values: [clientId] }),
    );
    this.#cache.delete(clientId);
    if (!row) return undefined;
    const application: RegisteredApplication = {
      id: row.id,
      name: row.name,
      redirectUris:
        ownRedirects(row.id, { apiUrl: this.#apiUrl(), environment: this.#environment }) ?? row.redirect_uris,
      postLogoutRedirectUris: row.post_logout_redirect_uris,
      headlessSignIn: row.headless_sign_in,
      requirePkce: row.require_pkce || row.public_client,
      publicClient: row.public_client,
      certificateSubjects: new Set(row.certificate_subjects.flatMap((text) => canonicalDistinguishedName(text) ?? [])),
      secrets: (row.secrets ?? []).map(({ secret, expires_at }) => ({
        secret: this.#vault.open(Buffer.from(secret, 'base64'), 'application_secrets'),
        expiresAt: expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at),
      })),
    };
    this.#cache.set(clientId, { application, version: row.version });
    return application;
  }
}

const SELECT = `
  select a.client_id as id, a.name, a.redirect_uris, a.post_logout_redirect_uris, a.headless_sign_in, a.require_pkce, a.public_client,
    v.version,
    array(select c.subject from application_certificates c where c.application_id = a.client_id) as certificate_subjects,
    (select json_agg(json_build_object('secret', encode(s.secret, 'base64'), 'expires_at', s.expires_at) order by s.id desc)
      from application_secrets s where s.application_id = a.client_id) as secrets
  from applications a cross join identity_version v
  where a.client_id = $1 and a.status = 'enabled'`;
