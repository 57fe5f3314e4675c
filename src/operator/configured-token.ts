import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import { first, type Transaction } from '../database/database.ts';
import { sha256 } from '../values/crypto.ts';
import { CONFIGURED_NAME, createOperatorToken } from './token.ts';

/**
 * The token from LOMBARD_OPERATOR_TOKEN. A process accepts the value with which it was started until the token is revoked, even if another
 * process has been started with another value meanwhile.
 */
export interface ConfiguredToken {
  id: string;
  sha256: Buffer;
}

/**
 * Gives the token `configured` this value, which ends the former value.
 * @returns undefined if this very value has been revoked: it stays revoked
 */
export async function configureOperatorToken(
  tx: Transaction,
  act: Act,
  token: string,
): Promise<ConfiguredToken | undefined> {
  const hash = sha256(token);
  const known = first(
    await tx.query<{ id: string; revoked: boolean }>(
      'select id, revoked_at is not null as revoked from operator_tokens where token_sha256 = $1',
      [hash],
    ),
  );
  if (known) return known.revoked ? undefined : { id: known.id, sha256: hash };
  const former = first(
    await tx.query<{ id: string }>(
      'update operator_tokens set token_sha256 = $2 where name = $1 and revoked_at is null returning id',
      [CONFIGURED_NAME, hash],
    ),
  );
  if (former) {
    const after = { name: CONFIGURED_NAME, value: 'replaced' };
    audit(tx, act, { action: 'update', entity: 'operator_token', entityId: former.id, after });
    return { id: former.id, sha256: hash };
  }
  const { id } = await createOperatorToken(tx, act, { name: CONFIGURED_NAME, role: 'admin', token }, null);
  return { id, sha256: hash };
}
