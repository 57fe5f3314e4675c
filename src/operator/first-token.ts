import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import { transaction } from '../database/database.ts';
import { LOCKS } from '../database/locks.ts';
import { replaceFile } from '../settings/data-directory.ts';
import { randomToken } from '../values/crypto.ts';
import { StartupError } from '../values/errors.ts';
import { type ConfiguredToken, configureOperatorToken } from './configured-token.ts';
import { createOperatorToken } from './token.ts';

/** What a start learns about the operator's tokens. */
export interface FirstToken {
  /** The token's text, if this process knows it. */
  token: string | undefined;
  /** The token `configured`, if LOMBARD_OPERATOR_TOKEN is set and has not been revoked. */
  configured: ConfiguredToken | undefined;
}

/**
 * Makes sure that there is an operator token: the configured one, an existing valid one, or a new one in the data directory.
 * @throws StartupError in production, where a token must be configured or created beforehand; if the configured one is less than an admin
 */
export async function firstOperatorToken(context: Context): Promise<FirstToken> {
  const { config, pool, clock, log } = context;
  const act = { now: clock.now(), actor: 'service:start', requestId: 'start' };
  return transaction(pool, async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [LOCKS.operatorTokens]);
    if (config.operatorToken) {
      const { configured, warning } = await configureOperatorToken(tx, act, config.operatorToken);
      if (warning !== undefined) log.warn(warning);
      return { token: config.operatorToken, configured };
    }
    const any = await tx.query(
      'select from operator_tokens where revoked_at is null and (expires_at is null or expires_at > $1) limit 1',
      [act.now],
    );
    const path = join(config.dataDir, 'operator-token');
    if (any.rows.length > 0)
      return { token: (await readFile(path, 'utf8').catch(() => '')).trim() || undefined, configured: undefined };
    if (config.environment === 'production') {
      throw new StartupError(
        'LOMBARD_ENVIRONMENT=production refuses to start: LOMBARD_OPERATOR_TOKEN is not set, and the database has no valid token',
      );
    }
    const token = randomToken();
    await createOperatorToken(tx, act, { name: 'first start', role: 'admin', token }, null);
    replaceFile(path, `${token}\n`);
    return { token, configured: undefined };
  });
}
