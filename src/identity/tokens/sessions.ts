import { UnknownCell } from '../../database/cells/client-moves.ts';
import { hasSeveralCells } from '../../database/cells/pool.ts';
import { first, type Pool, type Transaction } from '../../database/database.ts';
import { SharedReads } from '../../database/shared-reads.ts';
import type { Logger } from '../../process/log.ts';
import { BoundedMap } from '../../values/bounded-map.ts';
import type { Clock } from '../../values/calendar.ts';
import { sha256 } from '../../values/crypto.ts';
import { Problem } from '../../values/errors.ts';
import { PERMISSIONS, type Permissions } from '../people/permission.ts';
import { IdentityVersion, subject, type Versioned } from './identity-version.ts';

/** A session takes about 1 kB for a contact with one client. */
const MAX_CACHED_SESSIONS = 50_000;
/** A token is 256 bits in base64url. No other text is looked up. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** What an access token grants. */
export interface Session {
  contactId: string;
  applicationId: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
  /** The certificate (SHA-256, base64url) to which the token is bound, or null (RFC 8705). */
  thumbprint: string | null;
  /** The hash by which the token is stored. */
  tokenSha256: Buffer;
  /** Whether the contact has a second factor. */
  secondFactor: boolean;
  /** The contact's clients by client_id. */
  clients: Map<string, SessionClient>;
}

/** What a session grants for one client. */
export interface SessionClient {
  name: string;
  enabled: boolean;
  /** The number of the cell that it lives in. */
  cell: number;
  /** Whether it is being moved to another cell now. */
  moving: boolean;
  /** Whether approvals of its payments need a verification code. */
  stepUp: boolean;
  permissions: Permissions;
}

interface CachedSession extends Versioned {
  session: Session;
}

interface Row {
  contact_id: string;
  application_id: string;
  expires_at: Date;
  thumbprint: string | null;
  second_factor: boolean;
  clients:
    | (Omit<SessionClient, 'permissions' | 'stepUp'> & { client_id: string; step_up: boolean } & Permissions)[]
    | null;
  version: number;
}

/**
 * The sessions of access tokens, cached. A recently used token costs no query and less than 1 us. Every process sees a revocation, or a
 * change of the contact, its clients or the application, within a second (identity-version.ts).
 */
export class Sessions {
  readonly identityVersion: IdentityVersion;
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #cache = new BoundedMap<string, CachedSession>(MAX_CACHED_SESSIONS);
  readonly #reads = new SharedReads<Session>();

  constructor(pool: Pool, clock: Clock, log: Logger) {
    this.#pool = pool;
    this.#clock = clock;
    this.identityVersion = new IdentityVersion(pool, log);
  }

  async start(): Promise<void> {
    await this.identityVersion.start();
  }

  async stop(): Promise<void> {
    await this.identityVersion.stop();
  }

  /**
   * The session of an access token.
   * @param bearer the token as the caller sent it
   * @returns the session if it is cached, otherwise a promise of it
   * @throws Problem authentication_failed, token_expired
   */
  find(bearer: string): Session | Promise<Session> {
    const cached = this.#cache.get(bearer);
    if (cached !== undefined && this.identityVersion.isCurrent(cached, () => subjectsOf(cached.session)))
      return unexpired(cached.session, this.#clock);
    return this.#lookUp(bearer, TOKEN.test(bearer) ? sha256(bearer) : undefined);
  }

  /** The session of an access token of which only the hash is known: that of a browser on the pages. @throws Problem like `find` */
  findStored(tokenSha256: Buffer): Session | Promise<Session> {
    // No bearer text has this form.
    const key = `# ${tokenSha256.toString('base64')}`;
    const cached = this.#cache.get(key);
    if (cached !== undefined && this.identityVersion.isCurrent(cached, () => subjectsOf(cached.session)))
      return unexpired(cached.session, this.#clock);
    return this.#lookUp(key, tokenSha256);
  }

  #lookUp(bearer: string, hash: Buffer | undefined): Promise<Session> {
    return this.#reads.read(bearer, () => this.#read(bearer, hash));
  }

  async #read(bearer: string, hash: Buffer | undefined): Promise<Session> {
    const row = hash
      ? first(await this.#pool.query<Row>({ name: 'session', text: sessionStatement(), values: [hash] }))
      : undefined;
    this.#cache.delete(bearer);
    const session = sessionOf(row, hash ?? Buffer.alloc(0), this.#clock);
    if (!hasSeveralCells(this.#pool)) refuseOtherCells(session);
    if (row) this.#cache.set(bearer, { session, version: row.version });
    return session;
  }
}

/**
 * Checks a session again, within the transaction of a change.
 * @returns what it grants for the client now, and whether the contact has a second factor; no client if the contact no longer belongs to it
 * @throws Problem authentication_failed, token_expired
 */
export async function confirmSession(
  tx: Transaction,
  clock: Clock,
  { session: { tokenSha256 }, clientId }: { session: Session; clientId: string },
): Promise<{ client: SessionClient | undefined; secondFactor: boolean }> {
  const values = [tokenSha256, clientId];
  const row = first(
    await tx.query<Row>({ name: 'session-confirm', text: sessionStatement('and p.client_id = $2'), values }),
  );
  const { clients, secondFactor } = sessionOf(row, tokenSha256, clock);
  return { client: clients.get(clientId), secondFactor };
}

/** A process that knows only one cell must not look there for a client of another one. @throws UnknownCell */
function refuseOtherCells({ clients }: Session): void {
  for (const { cell } of clients.values()) if (cell !== 0) throw new UnknownCell();
}

/** What a session depends on. */
function* subjectsOf({ contactId, applicationId, clients }: Session): Generator<string> {
  yield subject('contact', contactId);
  yield subject('application', applicationId);
  for (const clientId of clients.keys()) yield subject('client', clientId);
}

/** @throws Problem authentication_failed, token_expired */
function sessionOf(row: Row | undefined, tokenSha256: Buffer, clock: Clock): Session {
  if (!row)
    throw new Problem('authentication_failed', {
      field: 'Authorization',
      message: 'the access token is unknown or has been revoked',
    });
  const session: Session = {
    contactId: row.contact_id,
    applicationId: row.application_id,
    expiresAt: row.expires_at.getTime(),
    thumbprint: row.thumbprint,
    tokenSha256,
    secondFactor: row.second_factor,
    clients: new Map(
      (row.clients ?? []).map(({ client_id, name, enabled, cell, moving, step_up: stepUp, ...permissions }) => [
        client_id,
        { name, enabled, cell, moving, stepUp, permissions },
      ]),
    ),
  };
  return unexpired(session, clock);
}

function unexpired(session: Session, clock: Clock): Session {
  if (session.expiresAt > clock.now().getTime()) return session;
  throw new Problem('token_expired', {
    field: 'Authorization',
    message: 'the access token has expired; use the refresh token',
  });
}

/**
 * A valid token, with the version of the same instant: the token and its grant are not revoked, and its contact and application are
 * enabled. A trusted grant covers only the clients for which the application may act.
 * @param condition on the contact's clients `p`, if not all of them matter
 */
const sessionStatement = (condition = '') => `
  select t.contact_id, t.application_id, t.expires_at, t.thumbprint, k.second_factor <> 'none' as second_factor, v.version,
    (select json_agg(json_build_object('client_id', c.client_id, 'name', c.client_name, 'enabled', c.status = 'enabled', 'cell', c.cell,
        'moving', c.moves_to is not null, 'step_up', c.approval_step_up,
        ${PERMISSIONS.map((name) => `'${name}', p.${name}`).join(', ')}) order by c.client_id)
      from contact_clients p join clients c on c.client_id = p.client_id
      where p.contact_id = t.contact_id ${condition} and (not g.trusted or exists (
        select from application_trusted_clients a
        where a.application_id = t.application_id and a.client_id = p.client_id))) as clients
  from access_tokens t
  join grants g on g.id = t.grant_id and g.revoked_at is null
  join contacts k on k.contact_id = t.contact_id and k.status = 'enabled' and (not g.trusted or k.trusted_access)
  join applications b on b.client_id = t.application_id and b.status = 'enabled'
  cross join identity_version v
  where t.token_sha256 = $1 and t.revoked_at is null`;
