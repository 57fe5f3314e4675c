import { randomUUID } from 'node:crypto';
import { audit } from '../audit.ts';
import type { Act } from '../context.ts';
import { randomToken, sha256 } from '../crypto.ts';
import type { Db, Transaction } from '../database.ts';
import { Problem } from '../errors.ts';

/** `admin` may do everything, `core` feeds data, `support` reads and redelivers (docs/operator-interface.md, tokens). */
export const OPERATOR_ROLES = ['admin', 'core', 'support'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

export interface OperatorToken {
  id: string;
  name: string;
  role: OperatorRole;
  created_at: Date;
  expires_at: Date | null;
}

/** Creates a token. Its text is in the answer and is stored nowhere; only its hash is stored. */
export async function createOperatorToken(
  tx: Transaction,
  act: Act,
  input: { name: string; role: OperatorRole; expiresAt?: Date | undefined; token?: string },
): Promise<OperatorToken & { token: string }> {
  const token = input.token ?? randomToken();
  const record = {
    id: randomUUID(),
    name: input.name,
    role: input.role,
    created_at: act.now,
    expires_at: input.expiresAt ?? null,
  };
  await tx.query(
    'insert into operator_tokens (id, name, role, token_sha256, created_at, expires_at) values ($1, $2, $3, $4, $5, $6)',
    [record.id, record.name, record.role, sha256(token), record.created_at, record.expires_at],
  );
  await audit(tx, act, { action: 'create', entity: 'operator_token', entityId: record.id, after: record });
  return { ...record, token };
}

/** The valid tokens, newest first. */
export async function listOperatorTokens(db: Db, now: Date): Promise<OperatorToken[]> {
  const { rows } = await db.query<OperatorToken>(
    `select id, name, role, created_at, expires_at from operator_tokens
     where revoked_at is null and (expires_at is null or expires_at > $1) order by created_at desc, id`,
    [now],
  );
  return rows;
}

/** @throws Problem operator_token_not_found */
export async function revokeOperatorToken(tx: Transaction, act: Act, id: string): Promise<void> {
  const { rows } = await tx.query(
    'update operator_tokens set revoked_at = $2 where id = $1 and revoked_at is null returning id, name, role',
    [id, act.now],
  );
  if (rows.length === 0)
    throw new Problem('operator_token_not_found', { field: 'id', message: 'is not the id of a valid token' });
  await audit(tx, act, { action: 'delete', entity: 'operator_token', entityId: id, before: rows[0] });
}

/**
 * @param configured the token that this process was started with: found by its id, because its value may have been replaced
 * @throws Problem authentication_failed, token_expired
 */
export async function findOperatorToken(
  db: Db,
  token: string,
  now: Date,
  configured?: { id: string; sha256: Buffer },
): Promise<OperatorToken> {
  const hash = sha256(token);
  const { rows } = await db.query<OperatorToken & { revoked_at: Date | null }>({
    name: 'operator-token',
    text: `select id, name, role, created_at, expires_at, revoked_at from operator_tokens
      where token_sha256 = $1 or id = $2 order by id = $2 desc nulls last limit 1`,
    values: [hash, configured?.sha256.equals(hash) ? configured.id : null],
  });
  const row = rows[0];
  if (!row || row.revoked_at)
    throw new Problem('authentication_failed', { field: 'Authorization', message: 'is not a valid operator token' });
  if (row.expires_at && row.expires_at <= now)
    throw new Problem('token_expired', { field: 'Authorization', message: 'the operator token has expired' });
  return row;
}
