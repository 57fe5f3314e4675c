import { Type } from 'typebox';
import type { Act } from '../../audit/act.ts';
import { audit } from '../../audit/record.ts';
import { canonicalDistinguishedName } from '../../certificates/distinguished-name.ts';
import { type Db, first, type Transaction } from '../../database/database.ts';
import {
  chosen,
  type Input,
  initially,
  made,
  type Patch,
  RecordKind,
  required,
  type Shown,
} from '../../database/record.ts';
import { insertRow, type List, nextId, shownTotal, updateRow } from '../../database/rows.ts';
import { randomToken, type Vault } from '../../values/crypto.ts';
import { Problem } from '../../values/errors.ts';
import { formed, Id, Name } from '../../values/schemas.ts';
import { textArray } from '../../values/text-array.ts';
import { parseUri } from '../uri.ts';
import { OWN_APPLICATIONS } from './own-applications.ts';

const DEFAULT_REFRESH_TOKEN_DAYS = 28;
const MAX_REDIRECT_URIS = 50;
const MAX_CERTIFICATE_SUBJECTS = 100;
const MAX_TRUSTED_CLIENTS = 10_000;
const MAX_URI_LENGTH = 2_048;
/** The most seconds for which a replaced secret stays valid. */
export const MAX_SECRET_OVERLAP_SECONDS = 30 * 86_400;
/** The most replaced secrets that are valid in addition to the current one. Each authentication compares with all of them. */
const MAX_FORMER_SECRETS = 10;

const URI = Type.String({
  minLength: 1,
  maxLength: MAX_URI_LENGTH,
  description: 'Absolute, without a fragment or a user',
  ...formed({ type: 'string', format: 'uri', maxLength: MAX_URI_LENGTH }),
});
const REDIRECTS = Type.Array(URI, { minItems: 1, maxItems: MAX_REDIRECT_URIS, description: 'Compared exactly' });
const SUBJECTS = Type.Array(Type.String({ minLength: 3, maxLength: 1_024 }), {
  maxItems: MAX_CERTIFICATE_SUBJECTS,
  description: 'Subject DNs, RFC 4514, most specific part first',
});
const TRUSTED = Type.Array(Type.String(), {
  maxItems: MAX_TRUSTED_CLIENTS,
  description: 'Clients whose contacts it may act for over mutual TLS',
});
const texts = { shown: Type.Array(Type.String()) };
/** Stored as a PostgreSQL array. */
const array = { ...texts, normal: textArray };

/** A program that signs contacts in: an OpenID Connect client. */
export const APPLICATION = new RecordKind({
  table: 'applications a',
  id: 'client_id',
  fields: {
    client_id: chosen(Id('OAuth client_id; default: a new one'), {
      shown: Type.String({ description: 'OAuth client_id' }),
    }),
    name: required(Name('Name')),
    redirect_uris: required(REDIRECTS, array),
    post_logout_redirect_uris: initially(Type.Array(URI, { maxItems: MAX_REDIRECT_URIS }), '{}', array),
    refresh_token_days: initially(Type.Integer({ minimum: 1, maximum: 3_650 }), DEFAULT_REFRESH_TOKEN_DAYS, {
      shown: Type.Integer(),
    }),
    headless_sign_in: initially(
      Type.Boolean({ description: 'It may post email and password itself; default: true' }),
      true,
    ),
    require_pkce: initially(Type.Boolean(), false),
    /** Only `lombard-cli` and the service's own pages are public; the institution cannot register public clients. */
    public_client: made(Type.Boolean({ description: 'It has no secret, and must use PKCE' })),
    status: initially(Type.Enum(['enabled', 'disabled']), 'enabled'),
    certificate_subjects: initially(SUBJECTS, '{}', {
      ...texts,
      elsewhere: `array(select c.subject from application_certificates c where c.application_id = a.client_id order by c.subject)`,
    }),
    trusted_clients: initially(TRUSTED, '{}', {
      ...texts,
      elsewhere: `array(select t.client_id from application_trusted_clients t where t.application_id = a.client_id order by t.client_id)`,
    }),
  },
});
export type Application = Shown<typeof APPLICATION>;
export type ApplicationInput = Input<typeof APPLICATION>;
type ApplicationPatch = Patch<typeof APPLICATION>;

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
  const clientId = input.client_id ?? (await nextId(tx, 'application'));
  const row = { ...APPLICATION.stored(input), client_id: clientId, created_at: act.now };
  await insertRow(tx, 'applications', row, { returning: 'client_id' });
  await setLists(tx, clientId, input);
  const secret = await newSecret(tx, act, { vault, clientId });
  const application = await findApplication(tx, clientId);
  audit(tx, act, { action: 'create', entity: 'application', entityId: clientId, after: application });
  return { ...application, client_secret: secret };
}

/** Changes the fields in the patch. A list is replaced as a whole. @throws Problem application_not_found, client_not_found, invalid_body */
export async function updateApplication(
  tx: Transaction,
  act: Act,
  clientId: string,
  patch: ApplicationPatch,
): Promise<Application> {
  checkUris(patch);
  const before = await findApplication(tx, clientId);
  await updateRow(tx, 'applications', {
    key: { client_id: clientId },
    values: APPLICATION.changes(patch),
    returning: 'client_id',
  });
  await setLists(tx, clientId, patch);
  const after = await findApplication(tx, clientId);
  audit(tx, act, { action: 'update', entity: 'application', entityId: clientId, before, after });
  return after;
}

/**
 * Creates a new secret. The current secret stays valid for the overlap, and earlier ones until their own overlaps end. A rotation without an
 * overlap ends all overlaps: from then on only the new secret is valid.
 * @param rotation `overlapSeconds`: 0 to MAX_SECRET_OVERLAP_SECONDS
 * @returns the new secret
 * @throws Problem application_not_found; invalid_parameter for a public application; invalid_body if MAX_FORMER_SECRETS are valid already
 */
export async function rotateSecret(
  tx: Transaction,
  act: Act,
  vault: Vault,
  { clientId, overlapSeconds }: { clientId: string; overlapSeconds: number },
): Promise<string> {
  // Of two rotations at once, the second sees the secret of the first.
  await tx.query('select from applications where client_id = $1 for no key update', [clientId]);
  if ((await findApplication(tx, clientId)).public_client)
    throw new Problem('invalid_parameter', {
      field: 'client_id',
      message: 'is a public application, which has no secret',
    });
  const until = new Date(act.now.getTime() + overlapSeconds * 1_000);
  await tx.query('update application_secrets set expires_at = $2 where application_id = $1 and expires_at is null', [
    clientId,
    until,
  ]);
  await tx.query('delete from application_secrets where application_id = $1 and (expires_at <= $2 or $3 = 0)', [
    clientId,
    act.now,
    overlapSeconds,
  ]);
  await checkFormerSecrets(tx, clientId);
  const secret = await newSecret(tx, act, { vault, clientId });
  audit(tx, act, {
    action: 'update',
    entity: 'application',
    entityId: clientId,
    after: { secret: 'rotated', overlap_seconds: overlapSeconds },
  });
  return secret;
}

/** @throws Problem invalid_body */
async function checkFormerSecrets(tx: Transaction, clientId: string): Promise<void> {
  const { rows } = await tx.query('select from application_secrets where application_id = $1', [clientId]);
  if (rows.length <= MAX_FORMER_SECRETS) return;
  throw new Problem('invalid_body', {
    field: 'overlap_seconds',
    message: `${MAX_FORMER_SECRETS} former secrets live already; wait until one has ended, or make a secret without an overlap`,
  });
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

async function setLists(tx: Transaction, clientId: string, input: ApplicationPatch): Promise<void> {
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

/** Requires absolute addresses without a fragment (RFC 6749, 3.1.2). Schemes of native applications are allowed, scripts are not. */
function checkUris(input: ApplicationPatch): void {
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

const SELECT = `select ${APPLICATION.select} from ${APPLICATION.table}`;

/** An application. @throws Problem application_not_found */
export async function findApplication(db: Db, clientId: string): Promise<Application> {
  const application = first(await db.query<Application>(`${SELECT} where a.client_id = $1`, [clientId]));
  if (!application) throw new Problem('application_not_found', { field: 'client_id', message: 'does not exist' });
  return application;
}

/** A page of the registered applications and the command line's, in the order of their identifiers, and their total number up to 10,000. */
export async function listApplications(
  db: Db,
  { page, pageSize, status }: { page: number; pageSize: number; status?: string | undefined },
): Promise<List<Application>> {
  const { rows } = await db.query<Application>(
    `${SELECT} where a.client_id <> all($3) and ($4::text is null or a.status = $4) order by a.client_id limit $1 offset $2`,
    [pageSize, (page - 1) * pageSize, OWN_APPLICATIONS, status ?? null],
  );
  const counted = first(
    await db.query<{ total: number }>(
      'select count(*) as total from applications where client_id <> all($1) and ($2::text is null or status = $2)',
      [OWN_APPLICATIONS, status ?? null],
    ),
  );
  return { rows, total: shownTotal(counted?.total ?? 0, true) };
}

/** Applications in the form that the operator reads, for the change feed. */
export async function readApplications(db: Db, ids: readonly string[]): Promise<Application[]> {
  return (await db.query<Application>(`${SELECT} where a.client_id = any($1)`, [ids])).rows;
}
