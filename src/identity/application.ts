import { audit } from '../audit.ts';
import { canonicalDistinguishedName } from '../certificates/distinguished-name.ts';
import type { Act } from '../context.ts';
import { randomToken, type Vault } from '../crypto.ts';
import type { Db, Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import { nextId, updateRow } from '../rows.ts';

const DEFAULT_REFRESH_TOKEN_DAYS = 28;
export const MAX_REDIRECT_URIS = 50;
export const MAX_CERTIFICATE_SUBJECTS = 100;
export const MAX_TRUSTED_CLIENTS = 10_000;
export const MAX_URI = 2_048;
/** Seconds that a replaced secret may live on. */
export const MAX_SECRET_OVERLAP = 30 * 86_400;

/** A program that signs contacts in: an OpenID Connect client. */
export interface Application {
  client_id: string;
  name: string;
  redirect_uris: string[];
  post_logout_redirect_uris: string[];
  refresh_token_days: number;
  headless_sign_in: boolean;
  require_pkce: boolean;
  status: 'enabled' | 'disabled';
  certificate_subjects: string[];
  trusted_clients: string[];
}

export type ApplicationGiven = Partial<Application> & { name: string; redirect_uris: string[] };

/** Registers an application; its secret is in the answer and afterwards only encrypted. @throws Problem already_exists, invalid_body */
export async function createApplication(
  tx: Transaction,
  act: Act,
  vault: Vault,
  given: ApplicationGiven,
): Promise<Application & { client_secret: string }> {
  checkUris(given);
  const clientId = given.client_id ?? (await nextId(tx, 'application_numbers', 'APP'));
  await tx.query(
    `insert into applications (client_id, name, redirect_uris, post_logout_redirect_uris, refresh_token_days,
       headless_sign_in, require_pkce, status, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      clientId,
      given.name,
      given.redirect_uris,
      given.post_logout_redirect_uris ?? [],
      given.refresh_token_days ?? DEFAULT_REFRESH_TOKEN_DAYS,
      given.headless_sign_in ?? true,
      given.require_pkce ?? false,
      given.status ?? 'enabled',
      act.now,
    ],
  );
  await setLists(tx, clientId, given);
  const secret = await newSecret(tx, act, vault, clientId);
  const application = await findApplication(tx, clientId);
  await audit(tx, act, { action: 'create', entity: 'application', entityId: clientId, after: application });
  return { ...application, client_secret: secret };
}

/** Changes the given fields; lists are replaced whole. @throws Problem application_not_found, invalid_body */
export async function updateApplication(
  tx: Transaction,
  act: Act,
  clientId: string,
  patch: Partial<ApplicationGiven>,
): Promise<Application> {
  checkUris(patch);
  const before = await findApplication(tx, clientId);
  await updateRow(
    tx,
    'applications',
    { client_id: clientId },
    {
      name: patch.name,
      redirect_uris: patch.redirect_uris,
      post_logout_redirect_uris: patch.post_logout_redirect_uris,
      refresh_token_days: patch.refresh_token_days,
      headless_sign_in: patch.headless_sign_in,
      require_pkce: patch.require_pkce,
      status: patch.status,
    },
    'client_id',
  );
  await setLists(tx, clientId, patch);
  const after = await findApplication(tx, clientId);
  await audit(tx, act, { action: 'update', entity: 'application', entityId: clientId, before, after });
  return after;
}

/**
 * Makes a new secret; the present one lives on for the overlap.
 * @param overlapSeconds 0 to MAX_SECRET_OVERLAP
 */
export async function rotateSecret(
  tx: Transaction,
  act: Act,
  vault: Vault,
  clientId: string,
  overlapSeconds: number,
): Promise<string> {
  await findApplication(tx, clientId);
  const until = new Date(act.now.getTime() + overlapSeconds * 1_000);
  await tx.query('delete from application_secrets where application_id = $1 and expires_at is not null', [clientId]);
  await tx.query('update application_secrets set expires_at = $2 where application_id = $1', [clientId, until]);
  const secret = await newSecret(tx, act, vault, clientId);
  await audit(tx, act, {
    action: 'update',
    entity: 'application',
    entityId: clientId,
    after: { secret: 'rotated', overlap_seconds: overlapSeconds },
  });
  return secret;
}

async function newSecret(tx: Transaction, act: Act, vault: Vault, clientId: string): Promise<string> {
  const secret = randomToken();
  await tx.query('insert into application_secrets (application_id, secret, created_at) values ($1, $2, $3)', [
    clientId,
    vault.seal(secret, 'application_secrets'),
    act.now,
  ]);
  return secret;
}

async function setLists(tx: Transaction, clientId: string, given: Partial<ApplicationGiven>): Promise<void> {
  if (given.certificate_subjects) {
    const subjects = given.certificate_subjects.map((subject, index) => {
      const canonical = canonicalDistinguishedName(subject);
      if (canonical) return canonical;
      throw new Problem('invalid_body', {
        field: `certificate_subjects[${index}]`,
        message:
          'must be a distinguished name as RFC 4514 writes it, most specific part first, as CN=acme,O=Acme Ltd,C=GB',
      });
    });
    await tx.query('delete from application_certificates where application_id = $1', [clientId]);
    await tx.query(
      'insert into application_certificates (application_id, subject) select distinct $1, unnest($2::text[])',
      [clientId, subjects],
    );
  }
  if (given.trusted_clients) {
    const known = await tx.query<{ client_id: string }>('select client_id from clients where client_id = any($1)', [
      given.trusted_clients,
    ]);
    const unknown = given.trusted_clients.findIndex((id) => !known.rows.some((row) => row.client_id === id));
    if (unknown >= 0)
      throw new Problem('client_not_found', { field: `trusted_clients[${unknown}]`, message: 'is no client' });
    await tx.query('delete from application_trusted_clients where application_id = $1', [clientId]);
    await tx.query(
      'insert into application_trusted_clients (application_id, client_id) select distinct $1, unnest($2::text[])',
      [clientId, given.trusted_clients],
    );
  }
}

/** Absolute, without a fragment (RFC 6749, 3.1.2); schemes of native applications are allowed, those that run script are not. */
function checkUris(given: Partial<ApplicationGiven>): void {
  for (const list of ['redirect_uris', 'post_logout_redirect_uris'] as const) {
    given[list]?.forEach((uri, index) => {
      const parsed = URL.canParse(uri) ? new URL(uri) : undefined;
      const scriptable = /^(javascript|data|vbscript|file|blob|about):/i.test(uri);
      if (!parsed || parsed.hash || uri.includes('#') || scriptable || /[\s\\]/.test(uri) || parsed.username) {
        throw new Problem('invalid_body', {
          field: `${list}[${index}]`,
          message: 'must be an absolute address without fragment and user',
        });
      }
    });
  }
}

const SELECT = `select a.client_id, a.name, a.redirect_uris, a.post_logout_redirect_uris, a.refresh_token_days, a.headless_sign_in, a.require_pkce, a.status,
  array(select c.subject from application_certificates c where c.application_id = a.client_id order by c.subject) as certificate_subjects,
  array(select t.client_id from application_trusted_clients t where t.application_id = a.client_id order by t.client_id) as trusted_clients
  from applications a`;

/** @throws Problem application_not_found */
export async function findApplication(db: Db, clientId: string): Promise<Application> {
  const { rows } = await db.query<Application>(`${SELECT} where a.client_id = $1`, [clientId]);
  if (!rows[0]) throw new Problem('application_not_found', { field: 'client_id', message: 'is no application' });
  return rows[0];
}

export async function listApplications(
  db: Db,
  page: number,
  pageSize: number,
): Promise<{ rows: Application[]; total: number }> {
  const { rows } = await db.query<Application>(`${SELECT} order by a.client_id limit $1 offset $2`, [
    pageSize,
    (page - 1) * pageSize,
  ]);
  const total = await db.query<{ total: number }>('select count(*) as total from applications');
  return { rows, total: total.rows[0]?.total ?? 0 };
}
