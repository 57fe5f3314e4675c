import { DatabaseClient } from '../database/client.ts';
import { type Config, examineConfig, refuseUnsafe } from '../settings/config.ts';
import { embeddedUrl } from '../settings/data-directory.ts';

/** Milliseconds that a database gets to connect and answer. */
const MAX_ANSWER_MS = 2_000;

/**
 * Reads the settings for a start. Where production refuses it anyway, the line says too that no operator token is there: the start itself
 * could only tell that after the other faults are mended.
 * @throws StartupError as `readConfig`
 */
export async function readStartConfig(): Promise<Config> {
  const { config, unsafe } = examineConfig();
  if (unsafe.length > 0 && config.operatorToken === undefined && !(await mayHaveToken(config)))
    unsafe.push('LOMBARD_OPERATOR_TOKEN is not set, and no valid token was found in the database');
  refuseUnsafe(unsafe);
  return config;
}

/** Whether the database has a valid token. One that cannot be asked has none; an embedded one that does not run may have one. */
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
