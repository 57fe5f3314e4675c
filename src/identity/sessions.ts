import { BoundedMap } from '../bounded-map.ts';
import { type Clock, monotonic } from '../calendar.ts';
import { sha256 } from '../crypto.ts';
import { first, type Pool } from '../database.ts';
import { Problem } from '../errors.ts';
import type { Logger } from '../log.ts';
import { Freshness } from './freshness.ts';

/** Tokens that are remembered: about 1 kB each for a contact with one client. Past it the oldest goes. */
const MAX_REMEMBERED = 50_000;
/** Milliseconds: who asks for a token that is just being looked up shares that look-up, unless it began longer ago. */
const MAX_SHARED = 300;
/** A token has 256 bits in base64url; anything else is not worth a query. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** What a contact may do for one of its clients (docs/decisions.md, 1, Who may do what). */
export interface Permissions {
  can_authorise_payments: boolean;
  can_manage_payments: boolean;
  can_manage_multipayments: boolean;
  can_manage_permissions: boolean;
  can_manage_webhooks: boolean;
}

/** What an access token stands for. */
export interface Session {
  contactId: string;
  applicationId: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
  /** The certificate (SHA-256, base64url) that must come with the token, or null (RFC 8705). */
  thumbprint: string | null;
  /** The contact's clients by client_id. */
  clients: Map<string, { name: string; enabled: boolean; permissions: Permissions }>;
}

interface Remembered {
  session: Session;
  version: number;
}

interface Row {
  contact_id: string;
  application_id: string;
  expires_at: Date;
  thumbprint: string | null;
  clients: ({ client_id: string; name: string; enabled: boolean } & Permissions)[] | null;
  version: number;
}

/**
 * Access tokens and what they stand for. A token that was seen lately costs no query and less than 1 us; a revocation, and a change
 * of its contact, clients or application, is seen by every process within a second (freshness.ts).
 */
export class Sessions {
  readonly freshness: Freshness;
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #remembered = new BoundedMap<string, Remembered>(MAX_REMEMBERED);
  readonly #underWay = new Map<string, { began: number; session: Promise<Session> }>();

  constructor(pool: Pool, clock: Clock, log: Logger) {
    this.#pool = pool;
    this.#clock = clock;
    this.freshness = new Freshness(pool, log);
  }

  async start(): Promise<void> {
    await this.freshness.start();
  }

  async stop(): Promise<void> {
    await this.freshness.stop();
  }

  /**
   * The session of an access token.
   * @param bearer the token as it was sent
   * @returns the session itself where the token was seen lately, else a promise of it
   * @throws Problem authentication_failed, token_expired
   */
  find(bearer: string): Session | Promise<Session> {
    const known = this.#remembered.get(bearer);
    if (known !== undefined && this.freshness.holds(known.version)) return this.#unexpired(known.session);
    return this.#lookUp(bearer);
  }

  #lookUp(bearer: string): Promise<Session> {
    const shared = this.#underWay.get(bearer);
    if (shared !== undefined && monotonic() - shared.began < MAX_SHARED) return shared.session;
    const entry = { began: monotonic(), session: this.#read(bearer) };
    this.#underWay.set(bearer, entry);
    const done = () => {
      if (this.#underWay.get(bearer) === entry) this.#underWay.delete(bearer);
    };
    entry.session.then(done, done);
    return entry.session;
  }

  async #read(bearer: string): Promise<Session> {
    const row = TOKEN.test(bearer)
      ? first(await this.#pool.query<Row>({ name: 'session', text: SESSION, values: [sha256(bearer)] }))
      : undefined;
    this.#remembered.delete(bearer);
    if (!row)
      throw new Problem('authentication_failed', {
        field: 'Authorization',
        message: 'the access token is unknown or revoked',
      });
    const session: Session = {
      contactId: row.contact_id,
      applicationId: row.application_id,
      expiresAt: row.expires_at.getTime(),
      thumbprint: row.thumbprint,
      clients: new Map(
        (row.clients ?? []).map(({ client_id, name, enabled, ...permissions }) => [
          client_id,
          { name, enabled, permissions },
        ]),
      ),
    };
    this.#unexpired(session);
    this.#remembered.set(bearer, { session, version: row.version });
    return session;
  }

  #unexpired(session: Session): Session {
    if (session.expiresAt > this.#clock.now().getTime()) return session;
    throw new Problem('token_expired', {
      field: 'Authorization',
      message: 'the access token has expired; use the refresh token',
    });
  }
}

/**
 * A token, unless it, its grant, its contact or its application is out of force; with the version of the same instant. A token that
 * an application got for a contact by its certificate reaches only the clients that the application may act for.
 */
const SESSION = `
  select t.contact_id, t.application_id, t.expires_at, t.thumbprint, v.version,
    (select json_agg(json_build_object('client_id', c.client_id, 'name', c.client_name, 'enabled', c.status = 'enabled',
        'can_authorise_payments', p.can_authorise_payments, 'can_manage_payments', p.can_manage_payments,
        'can_manage_multipayments', p.can_manage_multipayments, 'can_manage_permissions', p.can_manage_permissions,
        'can_manage_webhooks', p.can_manage_webhooks) order by c.client_id)
      from contact_clients p join clients c on c.client_id = p.client_id
      where p.contact_id = t.contact_id and (not g.trusted or exists (
        select from application_trusted_clients a where a.application_id = t.application_id and a.client_id = p.client_id))) as clients
  from access_tokens t
  join grants g on g.id = t.grant_id and g.revoked_at is null
  join contacts k on k.contact_id = t.contact_id and k.status = 'enabled' and (not g.trusted or k.trusted_access)
  join applications b on b.client_id = t.application_id and b.status = 'enabled'
  cross join identity_version v
  where t.token_sha256 = $1 and t.revoked_at is null`;
