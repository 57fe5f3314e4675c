import { DatabaseClient } from '../database/client.ts';
import { type Config, examineConfig, refuseUnsafe } from '../settings/config.ts';
import { embeddedUrl } from '../settings/data-directory.ts';

/** Milliseconds that a database has to connect and answer. */
const MAX_ANSWER_MS = 2_000;

/**
 * Reads the settings for a start. If production refuses them anyway, the message also says that there is no operator token. The start
 * itself could report that only after the other faults are fixed.
 * @throws StartupError like `readConfig`
 */
export async function readStartConfig(): Promise<Config> {
  const { config, unsafe } = examineConfig();
  if (unsafe.length > 0 && config.operatorToken === undefined && !(await mayHaveToken(config)))
    unsafe.push('LOMBARD_OPERATOR_TOKEN is not set, and no valid token was found in the database');
  refuseUnsafe(unsafe);
  return config;
}

/**
 * Whether the database may have a valid token. One that cannot be queried counts as having none; an embedded one that does not run counts
 * as possibly having one.
 */
async function mayHaveToken({ databaseUrl, dataDir }: Config): Promise<boolean> {
  if (databaseUrl === undefined) return embeddedUrl(dataDir) !== undefined;
  const client = new DatabaseClient({
    connectionString: databaseUrl,
    connectionTimeoutMillis: MAX_ANSWER_MS,
    query_timeout: MAX_ANSWER_MS,
  });
  try {
    await client.connect();
    const { rows } = await client.query(
      'select from operator_tokens where revoked_at is null and (expires_at is null or expires_at > now()) limit 1',
    );
    return rows.length > 0;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
