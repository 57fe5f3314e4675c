import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { serverAccount } from '../../src/embedded/account.ts';
import { ENVIRONMENT, run } from '../../src/embedded/command.ts';
import { endWithTests, removeWithTests } from './leftovers.ts';
import { freePort } from './ports.ts';
import { until } from './until.ts';

/** Where Debian and its derivatives install the versions of PostgreSQL. */
const INSTALLED = '/usr/lib/postgresql';
const VERSION = '15';

/** Why a test is skipped if no PostgreSQL 15 is installed besides the embedded one. */
export const NO_DEFAULT_POSTGRESQL = `no PostgreSQL ${VERSION} is installed in ${INSTALLED} (Debian: postgresql-${VERSION})`;

export interface DefaultServer {
  /** The superuser's connection string. */
  url: string;
  port: number;
  /** Sends a signal to every process of the server, to simulate a machine that is lost or hangs. */
  signal(name: NodeJS.Signals): void;
  /** Starts it again on its data, after its processes have ended or been killed. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The folder of the installed programs; undefined if there is none. */
export function defaultPrograms(): string | undefined {
  const folder = join(INSTALLED, VERSION, 'bin');
  return existsSync(INSTALLED) && readdirSync(INSTALLED).includes(VERSION) && existsSync(join(folder, 'initdb'))
    ? folder
    : undefined;
}

/**
 * A temporary cluster of the installed PostgreSQL 15 with initdb's default settings; undefined if it is not installed.
 * @param inside an existing directory for it, such as the mount point of a file system
 */
export async function startDefaultServer(
  settings: Record<string, string> = {},
  inside = tmpdir(),
): Promise<DefaultServer | undefined> {
  const folder = defaultPrograms();
  if (!folder) return undefined;
  return startCluster({ settings, inside }, (directory) => [
    join(folder, 'initdb'),
    ...['-D', directory, '-U', 'postgres', '-A', 'trust', '--no-sync', '--encoding=UTF8', '--locale=C'],
  ]);
}

/** A standby that follows a server until it is promoted. */
export async function startStandby(
  primary: DefaultServer,
  settings: Record<string, string> = {},
  inside = tmpdir(),
): Promise<DefaultServer> {
  const from = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'postgres'];
  return startCluster({ settings, inside }, (directory) => [
    join(defaultPrograms() as string, 'pg_basebackup'),
    ...[...from, '-D', directory, '--write-recovery-conf', '--checkpoint=fast', '--no-sync'],
  ]);
}

/** A server on a copy of a data directory. */
export async function startCopy(data: string, settings: Record<string, string>): Promise<DefaultServer> {
  return startCluster({ settings, inside: tmpdir() }, (directory) => ['cp', '-a', `${data}/.`, directory]);
}

/** Runs an installed program, such as `pg_dump`, as the user that the servers run as. @throws Error with its output */
export async function runProgram(name: string, args: string[]): Promise<void> {
  const account = serverAccount(join(tmpdir(), 'none'));
  const ran = await run(join(defaultPrograms() as string, name), args, { account, cwd: tmpdir() });
  if (!ran.ok) throw new Error(`${name}: ${ran.output}`);
}

/** @param making the command that makes the data directory */
async function startCluster(
  { settings, inside }: { settings: Record<string, string>; inside: string },
  making: (directory: string) => string[],
): Promise<DefaultServer> {
  const directory = removeWithTests(mkdtempSync(join(inside, 'lombard-default-postgresql-')));
  const account = serverAccount(join(directory, 'none'));
  chownSync(directory, account.uid, account.gid);
  const [program = '', ...how] = making(directory);
  const made = await run(program, how, { account, cwd: directory });
  if (!made.ok) throw new Error(made.output);
  const port = await freePort();
  // These settings decide where and how durably it runs; no plan depends on them.
  const options = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off', ...settings };
  const args = ['-D', directory, ...Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  const launch = () => {
    const options: SpawnOptions = { cwd: directory, env: ENVIRONMENT, stdio: 'ignore', ...account.spawn };
    const server = endWithTests(spawn(join(defaultPrograms() as string, 'postgres'), args, options));
    return { server, ended: new Promise<void>((resolve) => server.once('exit', () => resolve())) };
  };
  let running = launch();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await untilReady(url);
  return {
    url,
    port,
    signal: (name) => signalAll(running.server, name),
    restart: async () => {
      signalAll(running.server, 'SIGKILL');
      await running.ended;
      running = launch();
      await untilReady(url);
    },
    stop: async () => {
      running.server.kill('SIGINT');
      await running.ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Sends a signal to the server's processes. They are children of the first one, which gets the signal first, so that it starts no others. */
function signalAll(server: ChildProcess, name: NodeJS.Signals): void {
  const first = server.pid as number;
  const children = readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && parentOf(entry) === first)
    .map(Number);
  for (const pid of [first, ...children]) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended together with the first one.
    }
  }
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}

async function untilReady(url: string): Promise<void> {
  let refusal = '';
  const connects = async () => {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return true;
    } catch (error) {
      refusal = String(error);
      return false;
    }
  };
  await until(connects, { what: 'PostgreSQL takes a connection', seen: () => refusal });
}
