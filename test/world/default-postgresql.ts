import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { serverAccount } from '../../src/embedded/account.ts';
import { ENVIRONMENT, run } from '../../src/embedded/command.ts';
import { freePort } from '../../src/embedded/port.ts';

/** Where Debian and its relatives install the versions of PostgreSQL. */
const INSTALLED = '/usr/lib/postgresql';
const VERSION = '15';
const READY_ATTEMPTS = 200;
const READY_INTERVAL_MS = 50;

/** The reason to skip a test, where no PostgreSQL 15 is installed beside the embedded one. */
export const NO_DEFAULT_POSTGRESQL = `no PostgreSQL ${VERSION} is installed in ${INSTALLED} (Debian: postgresql-${VERSION})`;

export interface DefaultServer {
  /** The superuser's connection string. */
  url: string;
  stop(): Promise<void>;
}

function programs(): string | undefined {
  const folder = join(INSTALLED, VERSION, 'bin');
  return existsSync(INSTALLED) && readdirSync(INSTALLED).includes(VERSION) && existsSync(join(folder, 'initdb'))
    ? folder
    : undefined;
}

/** A temporary cluster of the installed PostgreSQL 15 with the settings that initdb writes; undefined where none is installed. */
export async function startDefaultServer(settings: Record<string, string> = {}): Promise<DefaultServer | undefined> {
  const folder = programs();
  if (!folder) return undefined;
  const directory = mkdtempSync(join(tmpdir(), 'lombard-default-postgresql-'));
  const account = serverAccount(join(directory, 'none'));
  chownSync(directory, account.uid, account.gid);
  const made = await run(
    join(folder, 'initdb'),
    ['-D', directory, '-U', 'postgres', '-A', 'trust', '--no-sync', '--encoding=UTF8', '--locale=C'],
    { account, cwd: directory },
  );
  if (!made.ok) throw new Error(made.output);
  const port = await freePort();
  // Where and how durably it runs; nothing that a plan depends on.
  const options = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off', ...settings };
  const server = spawn(
    join(folder, 'postgres'),
    ['-D', directory, ...Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { cwd: directory, env: ENVIRONMENT, stdio: 'ignore', ...account.spawn },
  );
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  const end = () => void server.kill('SIGQUIT');
  process.once('exit', end);
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await untilReady(url);
  return {
    url,
    stop: async () => {
      server.kill('SIGINT');
      await ended;
      process.off('exit', end);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function untilReady(url: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (attempt === READY_ATTEMPTS) throw error;
      await pause(READY_INTERVAL_MS);
    }
  }
}
