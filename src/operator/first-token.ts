import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import { randomToken } from '../crypto.ts';
import { transaction } from '../database.ts';
import { StartupError } from '../errors.ts';
import { LOCKS } from '../locks.ts';
import { writePrivately } from '../private-file.ts';
import { createOperatorToken } from './token.ts';

/**
 * Makes sure that there is an operator token: the configured one, or one that is valid already, or a new one in the data directory.
 * @returns the token where this process knows it
 * @throws StartupError in production, where a token must be configured or created beforehand
 */
export async function firstOperatorToken(context: Context): Promise<string | undefined> {
  const { config, pool, clock } = context;
  const act = { now: clock.now(), actor: 'service:start', requestId: 'start' };
  return transaction(pool, async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [LOCKS.firstOperatorToken]);
    if (config.operatorToken) {
      const token = config.operatorToken;
      const known = await tx.query(
        "select from operator_tokens where token_sha256 = sha256(convert_to($1, 'UTF8')) and revoked_at is null",
        [token],
      );
      if (known.rows.length === 0) await createOperatorToken(tx, act, { name: 'configured', role: 'admin', token });
      return token;
    }
    const any = await tx.query(
      'select from operator_tokens where revoked_at is null and (expires_at is null or expires_at > $1) limit 1',
      [act.now],
    );
    const path = join(config.dataDir, 'operator-token');
    if (any.rows.length > 0) return (await readFile(path, 'utf8').catch(() => '')).trim() || undefined;
    if (config.environment === 'production') {
      throw new StartupError(
        'LOMBARD_ENVIRONMENT=production refuses to start: LOMBARD_OPERATOR_TOKEN is not set, and the database has no valid token',
      );
    }
    const token = randomToken();
    await createOperatorToken(tx, act, { name: 'first start', role: 'admin', token });
    await writePrivately(path, `${token}\n`);
    return token;
  });
}
