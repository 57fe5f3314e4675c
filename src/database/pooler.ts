import { StartupError } from '../values/errors.ts';
import { DatabaseClient } from './client.ts';

/** Milliseconds to wait for each answer. A pooler in session mode with a single connection never gives out a second one. */
const ANSWER_TIMEOUT_MS = 3_000;
/** A pooler may give the same connection twice by chance, so it is tested several times. */
const ROUNDS = 3;
const BACKEND = 'select pg_backend_pid() as pid';

/**
 * Refuses an address that leads through a pooler in transaction mode. LISTEN, advisory locks and migrations need a session of their own.
 * @throws StartupError
 */
export async function refusePooler(url: string, variable = 'DATABASE_URL'): Promise<void> {
  if (!(await poolsTransactions(url))) return;
  const needed =
    variable === 'DATABASE_URL'
      ? 'LOMBARD_SESSION_DATABASE_URL must name the server itself'
      : 'it must name the server itself';
  throw new StartupError(
    `${variable} leads through a pooler in transaction mode: ${needed} (LISTEN, advisory locks, migrations)`,
  );
}

/**
 * Whether the address leads to a pooler in transaction mode: transactions of one client use changing server connections, or two clients
 * share one. If the address does not answer, others report that.
 */
async function poolsTransactions(url: string): Promise<boolean> {
  const config = {
    connectionString: url,
    application_name: 'lombard-start',
    connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
  };
  const [one, other] = [new DatabaseClient(config), new DatabaseClient(config)];
  try {
    await Promise.all([one.connect(), other.connect()]);
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = await backend(one);
      await other.query('begin');
      const shared = (await backend(other)) === before;
      // While the other client holds its connection, this one gets a different one if connections change.
      const moved = !shared && (await backend(one)) !== before;
      await other.query('rollback');
      if (shared || moved) return true;
    }
    return false;
  } catch {
    return false;
  } finally {
    await Promise.allSettled([one.end(), other.end()]);
  }
}

async function backend(client: DatabaseClient): Promise<number> {
  const { rows } = await client.query<{ pid: number }>(BACKEND);
  return rows[0]?.pid ?? 0;
}
