import { randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import { type Db, first, type Transaction } from '../database/database.ts';
import { LOCKS } from '../database/locks.ts';
import { type Input, initially, made, RecordKind, required, type Shown } from '../database/record.ts';
import { insertRow } from '../database/rows.ts';
import { OPERATOR_ROLES } from '../settings/staff-settings.ts';
import { randomToken, sha256 } from '../values/crypto.ts';
import { Problem } from '../values/errors.ts';
import { Instant, Moment, Name, Nullable } from '../values/schemas.ts';
import { requireOwnScopes, SCOPES, SCOPES_OF, type Scope } from './scope.ts';

const ROLE = Type.Enum([...OPERATOR_ROLES], { description: 'The scopes that a task needs; or scopes' });
const SCOPE = Type.Enum([...SCOPES]);

/** A token of the operator interface. It has either a role or scopes. */
export const OPERATOR_TOKEN = new RecordKind({
  table: 'operator_tokens',
  id: 'id',
  fields: {
    id: made(Type.String({ format: 'uuid' })),
    name: required(Name('Name', 64)),
    role: initially(ROLE, null, {
      shown: Nullable(Type.Enum([...OPERATOR_ROLES], { description: 'Null where its scopes were given one by one' })),
    }),
    scopes: initially(
      Type.Array(SCOPE, { minItems: 1, uniqueItems: true, description: 'What it may do; in place of a role' }),
      null,
      { shown: Type.Array(SCOPE) },
    ),
    created_at: made(Moment),
    expires_at: initially(Instant('When it stops working'), null, { shown: Nullable(Moment) }),
  },
});
export type OperatorToken = Shown<typeof OPERATOR_TOKEN>;
export type OperatorTokenInput = Omit<Input<typeof OPERATOR_TOKEN>, 'expires_at'> & {
  expiresAt?: Date | undefined;
  /** Its text; by default a random one. */
  token?: string;
};

const LIVING = 'revoked_at is null and (expires_at is null or expires_at > $1)';

/**
 * Creates a token. The answer contains its text, of which only the hash is stored.
 * @param giver the token that creates it, and can give only what it has itself; null: the service or its command line
 * @throws Problem already_exists, invalid_body, permission_denied
 */
export async function createOperatorToken(
  tx: Transaction,
  act: Act,
  input: OperatorTokenInput,
  giver: { scopes: readonly Scope[] } | null,
): Promise<OperatorToken & { token: string }> {
  const scopes = scopesOf(input);
  if (giver) requireOwnScopes(giver, scopes);
  if (input.expiresAt && input.expiresAt <= act.now)
    throw new Problem('invalid_body', { field: 'expires_at', message: 'must be in the future' });
  await tx.query('select pg_advisory_xact_lock($1)', [LOCKS.operatorTokens]);
  if (input.token === undefined && input.name === CONFIGURED_NAME)
    throw new Problem('already_exists', { field: 'name', message: 'is kept for the token of LOMBARD_OPERATOR_TOKEN' });
  await checkName(tx, act.now, input.name);
  const token = input.token ?? randomToken();
  const record = {
    id: randomUUID(),
    name: input.name,
    role: input.role ?? null,
    scopes,
    created_at: act.now,
    expires_at: input.expiresAt ?? null,
  };
  await insertRow(tx, OPERATOR_TOKEN.table, { ...record, token_sha256: sha256(token) }, { returning: 'id' });
  audit(tx, act, { action: 'create', entity: 'operator_token', entityId: record.id, after: record });
  return { ...record, token };
}

/** The scopes, in the order of the catalogue. @throws Problem invalid_body unless there is either a role or scopes */
function scopesOf({ role, scopes }: OperatorTokenInput): Scope[] {
  if (role && scopes)
    throw new Problem('invalid_body', { field: 'scopes', message: 'must be left out where role is given' });
  const given = role ? SCOPES_OF[role] : scopes;
  if (!given) throw new Problem('invalid_body', { field: 'role', message: 'is required, or scopes in its place' });
  return SCOPES.filter((scope) => given.includes(scope));
}

/** The name of the token from LOMBARD_OPERATOR_TOKEN. Only a start creates it, and finds it by this name. */
export const CONFIGURED_NAME = 'configured';

/** Expired tokens free their names, so a unique index cannot check this. @throws Problem already_exists */
async function checkName(tx: Transaction, now: Date, name: string): Promise<void> {
  const taken = await tx.query(`select from operator_tokens where name = $2 and ${LIVING} limit 1`, [now, name]);
  if (taken.rows.length > 0)
    throw new Problem('already_exists', { field: 'name', message: 'is the name of another token' });
}

/** The valid tokens, newest first. */
export async function listOperatorTokens(db: Db, now: Date): Promise<OperatorToken[]> {
  const { rows } = await db.query<OperatorToken>(
    `select ${OPERATOR_TOKEN.select} from operator_tokens where ${LIVING} order by created_at desc, id`,
    [now],
  );
  return rows;
}

/** @throws Problem operator_token_not_found */
export async function revokeOperatorToken(tx: Transaction, act: Act, id: string): Promise<void> {
  const { rows } = await tx.query(
    'update operator_tokens set revoked_at = $2 where id = $1 and revoked_at is null returning id, name, role, scopes',
    [id, act.now],
  );
  if (rows.length === 0)
    throw new Problem('operator_token_not_found', { field: 'id', message: 'is not the id of a valid token' });
  audit(tx, act, { action: 'delete', entity: 'operator_token', entityId: id, before: rows[0] });
}

/**
 * Checks, within the transaction of a change, that the token is still valid. A change is refused as soon as the revocation has been
 * answered.
 * @throws Problem authentication_failed, token_expired
 */
export async function confirmOperatorToken(tx: Transaction, id: string, now: Date): Promise<void> {
  const row = first(
    await tx.query<{ expires_at: Date | null; revoked_at: Date | null }>({
      name: 'operator-token-confirm',
      text: 'select expires_at, revoked_at from operator_tokens where id = $1',
      values: [id],
    }),
  );
  requireValid(row, now);
}

/** @throws Problem authentication_failed, token_expired */
export function requireValid<T extends { expires_at: Date | null; revoked_at: Date | null }>(
  row: T | undefined,
  now: Date,
): T {
  if (!row || row.revoked_at)
    throw new Problem('authentication_failed', { field: 'Authorization', message: 'is not a valid operator token' });
  if (row.expires_at && row.expires_at <= now)
    throw new Problem('token_expired', { field: 'Authorization', message: 'the operator token has expired' });
  return row;
}
