import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import { first, type Transaction } from '../database/database.ts';
import { sha256 } from '../values/crypto.ts';
import { StartupError } from '../values/errors.ts';
import { SCOPES } from './scope.ts';
import { CONFIGURED_NAME, createOperatorToken, OPERATOR_TOKEN, type OperatorToken } from './token.ts';

/**
 * The token from LOMBARD_OPERATOR_TOKEN. A process accepts the value with which it was started until the token is revoked, even if another
 * process has been started with another value meanwhile.
 */
export interface ConfiguredToken {
  id: string;
  sha256: Buffer;
}

/** The token with the configured value. */
interface Configured {
  /** Undefined if this very value has been revoked: it stays revoked. */
  configured: ConfiguredToken | undefined;
  /** What the person who starts the service should know. */
  warning?: string | undefined;
}

/**
 * Gives the token `configured` this value, which ends the former value. If it is the value of an admin token of the institution, that one
 * is used as it is.
 * @throws StartupError if it is the value of a token that is less than an admin token
 */
export async function configureOperatorToken(tx: Transaction, act: Act, token: string): Promise<Configured> {
  const hash = sha256(token);
  const known = first(
    await tx.query<OperatorToken & { revoked: boolean }>(
      `select ${OPERATOR_TOKEN.select}, revoked_at is not null as revoked from operator_tokens where token_sha256 = $1`,
      [hash],
    ),
  );
  if (known?.revoked)
    return {
      configured: undefined,
      warning: 'LOMBARD_OPERATOR_TOKEN has been revoked: it stays revoked, set another one',
    };
  if (known) return { configured: { id: known.id, sha256: hash }, warning: sharedValue(known) };
  const former = first(
    await tx.query<{ id: string }>(
      'update operator_tokens set token_sha256 = $2 where name = $1 and revoked_at is null returning id',
      [CONFIGURED_NAME, hash],
    ),
  );
  if (former) {
    const after = { name: CONFIGURED_NAME, value: 'replaced' };
    audit(tx, act, { action: 'update', entity: 'operator_token', entityId: former.id, after });
    return { configured: { id: former.id, sha256: hash } };
  }
  const { id } = await createOperatorToken(tx, act, { name: CONFIGURED_NAME, role: 'admin', token }, null);
  return { configured: { id, sha256: hash } };
}

/**
 * What the start says about a value that belongs to a token of the institution.
 * @returns undefined if it is the token `configured` itself
 * @throws StartupError
 */
function sharedValue({ name, scopes, expires_at: expires }: OperatorToken): string | undefined {
  if (name === CONFIGURED_NAME) return undefined;
  const named = `that of the token ${JSON.stringify(name)}`;
  const less = SCOPES.some((scope) => !scopes.includes(scope));
  if (less || expires) {
    const why = less ? 'may do less than an admin' : `expires on ${expires?.toISOString().slice(0, 10)}`;
    throw new StartupError(`LOMBARD_OPERATOR_TOKEN: must be a value of its own, not ${named}, which ${why}`);
  }
  return `LOMBARD_OPERATOR_TOKEN is ${named}: changes are recorded under that name, and no token "${CONFIGURED_NAME}" is made`;
}
