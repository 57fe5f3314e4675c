import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { serverAccount } from '../../src/embedded/account.ts';
import { endWithTests, removeWithTests } from './leftovers.ts';
import { freePort } from './ports.ts';
import { until } from './until.ts';

const PGBOUNCER = '/usr/sbin/pgbouncer';

/** The server connections that the pooler opens for one user of one database. */
export const POOL_CONNECTIONS = 5;

/** Why a test is skipped if PgBouncer is missing. */
export const NO_POOLER = `PgBouncer is not installed as ${PGBOUNCER} (Debian: pgbouncer)`;

export function hasPooler(): boolean {
  return existsSync(PGBOUNCER);
}

export interface Pooler {
  url: string;
  /** Kills it with SIGKILL, and starts a new one at the same address. */
  restart(): void;
  stop(): Promise<void>;
}

/** Starts PgBouncer in front of a database. @param mode its pool_mode */
export async function startPooler(url: string, mode: string): Promise<Pooler> {
  const directory = removeWithTests(mkdtempSync(join(tmpdir(), 'lombard-pgbouncer-')));
  const account = serverAccount(join(directory, 'none'));
  const server = new URL(url);
  const port = await freePort();
  const file = join(directory, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
* = host=${server.hostname} port=${server.port} user=${server.username}${server.password && ` password=${server.password}`}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${POOL_CONNECTIONS}
`,
  );
  chownSync(directory, account.uid, account.gid);
  chownSync(file, account.uid, account.gid);
  const launch = () => endWithTests(spawn(PGBOUNCER, ['-q', file], { stdio: 'ignore', ...account.spawn }));
  let child = launch();
  const pooled = new URL(url);
  pooled.port = String(port);
  await until(async () => {
    const client = new pg.Client({ connectionString: pooled.toString() });
    client.on('error', () => {});
    const reached = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end().catch(() => {});
    return reached;
  });
  return {
    url: pooled.toString(),
    restart: () => {
      child.once('exit', () => {
        child = launch();
      });
      child.kill('SIGKILL');
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
