import type { Act } from '../../audit/act.ts';
import { audit } from '../../audit/record.ts';
import { canonicalDistinguishedName } from '../../certificates/distinguished-name.ts';
import { type Db, first, type Transaction } from '../../database/database.ts';
import { nextId, updateRow } from '../../database/rows.ts';
import { randomToken, type Vault } from '../../values/crypto.ts';
import { Problem } from '../../values/errors.ts';
import { parseUri } from '../uri.ts';
import { PAGES_APPLICATION } from './application-credentials.ts';

const DEFAULT_REFRESH_TOKEN_DAYS = 28;
export const MAX_REDIRECT_URIS = 50;
export const MAX_CERTIFICATE_SUBJECTS = 100;
export const MAX_TRUSTED_CLIENTS = 10_000;
export const MAX_URI_LENGTH = 2_048;
/** The longest time for which a replaced secret stays valid. */
export const MAX_SECRET_OVERLAP_SECONDS = 30 * 86_400;

/** A program that signs contacts in: an OpenID Connect client. */
export interface Application {
  client_id: string;
  name: string;
  redirect_uris: string[];
  post_logout_redirect_uris: string[];
  refresh_token_days: number;
  headless_sign_in: boolean;
  require_pkce: boolean;
  /** It has no secret, and always uses PKCE. `lombard-cli` is the only one; the institution registers none. */
  public_client: boolean;
  status: 'enabled' | 'disabled';
  certificate_subjects: string[];
  trusted_clients: string[];
}

export interface ApplicationInput extends Partial<Omit<Application, 'public_client'>> {
  name: string;
  redirect_uris: string[];
}

/**
 * Registers an application.
 * @returns the application with its secret, which is stored encrypted and never shown again
 * @throws Problem already_exists, client_not_found, invalid_body
 */
export async function createApplication(
  tx: Transaction,
  act: Act,
  vault: Vault,
  input: ApplicationInput,
): Promise<Application & { client_secret: string }> {
  checkUris(input);
  const clientId = input.client_id ?? (await nextId(tx, 'application_numbers', 'APP'));
  await tx.query(
    `insert into applications (client_id, name, redirect_uris, post_logout_redirect_uris, refresh_token_days,
       headless_sign_in, require_pkce, status, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      clientId,
      input.name,
      input.redirect_uris,
      input.post_logout_redirect_uris ?? [],
      input.refresh_token_days ?? DEFAULT_REFRESH_TOKEN_DAYS,
      input.headless_sign_in ?? true,
      input.require_pkce ?? false,
      input.status ?? 'enabled',
      act.now,
    ],
  );
  await setLists(tx, clientId, input);
  const secret = await newSecret(tx, act, { vault, clientId });
  const application = await findApplication(tx, clientId);
  await audit(tx, act, { action: 'create', entity: 'application', entityId: clientId, after: application });
  return { ...application, client_secret: secret };
}

/** Changes the fields of the patch. A list is replaced as a whole. @throws Problem application_not_found, client_not_found, invalid_body */
export async function updateApplication(
  tx: Transaction,
  act: Act,
  clientId: string,
  patch: Partial<ApplicationInput>,
): Promise<Application> {
  checkUris(patch);
  const before = await findApplication(tx, clientId);
  await updateRow(tx, 'applications', {
    key: { client_id: clientId },
    values: {
      name: patch.name,
      redirect_uris: patch.redirect_uris,
      post_logout_redirect_uris: patch.post_logout_redirect_uris,
      refresh_token_days: patch.refresh_token_days,
      headless_sign_in: patch.headless_sign_in,
      require_pkce: patch.require_pkce,
      status: patch.status,
    },
    returning: 'client_id',
  });
  await setLists(tx, clientId, patch);
  const after = await findApplication(tx, clientId);
  await audit(tx, act, { action: 'update', entity: 'application', entityId: clientId, before, after });
  return after;
}

/**
 * Creates a new secret. The present secret stays valid for the overlap.
 * @param rotation `overlapSeconds`: 0 to MAX_SECRET_OVERLAP_SECONDS
 * @returns the new secret
 * @throws Problem application_not_found, invalid_parameter for a public application
 */
export async function rotateSecret(
  tx: Transaction,
  act: Act,
  vault: Vault,
  { clientId, overlapSeconds }: { clientId: string; overlapSeconds: number },
): Promise<string> {
  if ((await findApplication(tx, clientId)).public_client)
    throw new Problem('invalid_parameter', {
      field: 'client_id',
      message: 'is a public application, which has no secret',
    });
  const until = new Date(act.now.getTime() + overlapSeconds * 1_000);
  await tx.query('delete from application_secrets where application_id = $1 and expires_at is not null', [clientId]);
  await tx.query('update application_secrets set expires_at = $2 where application_id = $1', [clientId, until]);
  const secret = await newSecret(tx, act, { vault, clientId });
  await audit(tx, act, {
    action: 'update',
    entity: 'application',
    entityId: clientId,
    after: { secret: 'rotated', overlap_seconds: overlapSeconds },
  });
  return secret;
}

async function newSecret(
  tx: Transaction,
  act: Act,
  { vault, clientId }: { vault: Vault; clientId: string },
): Promise<string> {
  const secret = randomToken();
  await tx.query('insert into application_secrets (application_id, secret, created_at) values ($1, $2, $3)', [
    clientId,
    vault.seal(secret, 'application_secrets'),
    act.now,
  ]);
  return secret;
}

async function setLists(tx: Transaction, clientId: string, input: Partial<ApplicationInput>): Promise<void> {
  if (input.certificate_subjects) {
    const subjects = input.certificate_subjects.map((subject, index) => {
      const canonical = canonicalDistinguishedName(subject);
      if (canonical) return canonical;
      throw new Problem('invalid_body', {
        field: `certificate_subjects[${index}]`,
        message:
          'must be a distinguished name in the format of RFC 4514, most specific part first, for example CN=acme,O=Acme Ltd,C=GB',
      });
    });
    await tx.query('delete from application_certificates where application_id = $1', [clientId]);
    await tx.query(
      'insert into application_certificates (application_id, subject) select distinct $1, unnest($2::text[])',
      [clientId, subjects],
    );
  }
  if (input.trusted_clients) {
    const known = await tx.query<{ client_id: string }>('select client_id from clients where client_id = any($1)', [
      input.trusted_clients,
    ]);
    const unknown = input.trusted_clients.findIndex((id) => !known.rows.some((row) => row.client_id === id));
    if (unknown >= 0)
      throw new Problem('client_not_found', { field: `trusted_clients[${unknown}]`, message: 'does not exist' });
    await tx.query('delete from application_trusted_clients where application_id = $1', [clientId]);
    await tx.query(
      'insert into application_trusted_clients (application_id, client_id) select distinct $1, unnest($2::text[])',
      [clientId, input.trusted_clients],
    );
  }
}

/** Addresses must be absolute and without a fragment (RFC 6749, 3.1.2). Schemes of native applications are allowed, scripts are not. */
function checkUris(input: Partial<ApplicationInput>): void {
  for (const list of ['redirect_uris', 'post_logout_redirect_uris'] as const) {
    input[list]?.forEach((uri, index) => {
      const parsed = parseUri(uri);
      const scriptable = /^(javascript|data|vbscript|file|blob|about):/i.test(uri);
      if (!parsed || parsed.hash || uri.includes('#') || scriptable || parsed.username) {
        throw new Problem('invalid_body', {
          field: `${list}[${index}]`,
          message: 'must be an absolute address without a fragment or a user, percent-encoded (RFC 3986)',
        });
      }
    });
  }
}

const SELECT = `select a.client_id, a.name, a.redirect_uris, a.post_logout_redirect_uris, a.refresh_token_days, a.headless_sign_in, a.require_pkce,
  a.public_client, a.status,
  array(select c.subject from application_certificates c where c.application_id = a.client_id order by c.subject) as certificate_subjects,
  array(select t.client_id from application_trusted_clients t where t.application_id = a.client_id order by t.client_id) as trusted_clients
  from applications a`;

/** An application. @throws Problem application_not_found */
export async function findApplication(db: Db, clientId: string): Promise<Application> {
  const application = first(await db.query<Application>(`${SELECT} where a.client_id = $1`, [clientId]));
  if (!application) throw new Problem('application_not_found', { field: 'client_id', message: 'does not exist' });
  return application;
}

/** A page of the applications that the institution registers, and the command line's, in the order of their identifiers, and their number. */
export async function listApplications(
  db: Db,
  { page, pageSize }: { page: number; pageSize: number },
): Promise<{ rows: Application[]; total: number }> {
  const { rows } = await db.query<Application>(
    `${SELECT} where a.client_id <> $3 order by a.client_id limit $1 offset $2`,
    [pageSize, (page - 1) * pageSize, PAGES_APPLICATION],
  );
  const counted = first(
    await db.query<{ total: number }>('select count(*) as total from applications where client_id <> $1', [
      PAGES_APPLICATION,
    ]),
  );
  return { rows, total: counted?.total ?? 0 };
}

/** Applications as the operator reads them, for the change feed. */
export async function readApplications(db: Db, ids: readonly string[]): Promise<Application[]> {
  return (await db.query<Application>(`${SELECT} where a.client_id = any($1)`, [ids])).rows;
}
