import type { Db } from '../database.ts';
import type { Configuration } from './ruleset.ts';

/** The client's configuration in force, with its version; undefined while it has none, and its eyes workflow governs. */
export async function configurationInForce(
  db: Db,
  clientId: string,
): Promise<(Configuration & { version: number }) | undefined> {
  const { rows } = await db.query<{ version: number; configuration: Configuration }>(
    'select version, configuration from approval_configurations where client_id = $1 order by version desc limit 1',
    [clientId],
  );
  return rows[0] && { ...rows[0].configuration, version: rows[0].version };
}
