import pg from 'pg';

/** The workers of a Citus cluster with the given coordinator: the same database on each. Empty if the server is not part of a cluster. */
export async function workersOf(coordinator: string): Promise<string[]> {
  return onServer(coordinator, async (client) => {
    const known = await client.query("select to_regclass('pg_dist_node') is not null as known");
    if (!known.rows[0].known) return [];
    const { rows } = await client.query(
      'select nodename, nodeport from pg_dist_node where groupid <> 0 order by nodeid',
    );
    return rows.map(({ nodename, nodeport }) =>
      Object.assign(new URL(coordinator), { hostname: nodename, port: String(nodeport) }).toString(),
    );
  });
}

/** Joins a new database, which exists on every server of a cluster, into a cluster. */
export async function joinDatabases(coordinator: string, workers: readonly string[]): Promise<void> {
  for (const url of [coordinator, ...workers])
    await onServer(url, (client) => client.query('create extension if not exists citus'));
  await onServer(coordinator, async (client) => {
    const { hostname, port } = new URL(coordinator);
    await client.query(`select citus_set_coordinator_host('${hostname}', ${port || 5432})`);
    for (const worker of workers.map((url) => new URL(url)))
      await client.query(`select citus_add_node('${worker.hostname}', ${worker.port || 5432})`);
  });
}

/** Runs some work in its own session. */
export async function onServer<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The same server with another database. */
export function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.toString();
}
