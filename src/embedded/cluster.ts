import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { embeddedUrl, replaceFile, URL_FILE } from '../settings/data-directory.ts';
import { reachablePath } from './account.ts';
import type { Binaries } from './binaries.ts';
import { run, type ServerAccount } from './command.ts';
import { reason } from './failure.ts';
import { accessFile, configurationFile } from './settings.ts';

const MAJOR_VERSION = '18';
const SUPERUSER = 'postgres';
const DATABASE = 'lombard';
/** Milliseconds after which a removal is tried again; the wait grows each time. */
const RETRY_DELAY_MS = 50;
const PASSWORD_BYTES = 24;
const UNFINISHED = 'postgres.initializing-';
/** The beginning of the names of PostgreSQL's sockets and their locks; and the most bytes of a socket's path, without the final zero. */
const SOCKETS = '.s.PGSQL.';
const MAX_SOCKET_PATH = process.platform === 'linux' ? 107 : 103;

/** How clients reach the database. The file `postgres-url` stores both, so that they stay the same over restarts. */
export interface Access {
  password: string;
  port: number;
}

/** What is needed to create a cluster. */
export interface ClusterTools {
  binaries: Binaries;
  account: ServerAccount;
  /** Whether the cluster is synchronised to disk. */
  durable: boolean;
}

/** The directory of the cluster in the service's data directory. */
export function clusterDirectory(dataDir: string): string {
  return join(dataDir, 'postgres');
}

/** The superuser's connection string of the service's database. @param host an address, or the encoded directory of a unix socket */
export function connectionString(access: Access, host = '127.0.0.1'): string {
  return `postgres://${SUPERUSER}:${access.password}@${host}:${access.port}/${DATABASE}`;
}

/** The same through the unix socket, which takes half of the processor time. It uses TCP if the path of the socket is too long. */
export function socketString(cluster: string, access: Access): string {
  const path = join(cluster, `${SOCKETS}${access.port}`);
  return connectionString(access, Buffer.byteLength(path) > MAX_SOCKET_PATH ? undefined : encodeURIComponent(cluster));
}

/** Removes the sockets of a server that was killed. The process ids in their locks may belong to other programs by now. */
export function removeSockets(cluster: string): void {
  for (const name of readdirSync(cluster)) if (name.startsWith(SOCKETS)) rmSync(join(cluster, name), { force: true });
}

/** The contents of `postgres-url`, or undefined if it does not exist or is damaged. */
export function readAccess(dataDir: string): Access | undefined {
  const url = URL.parse(embeddedUrl(dataDir) ?? '');
  return url?.password ? { password: url.password, port: Number(url.port) } : undefined;
}

/** Writes `postgres-url`, readable by its owner only. */
export function writeAccess(dataDir: string, access: Access): void {
  replaceFile(join(dataDir, URL_FILE), `${connectionString(access)}\n`);
}

/**
 * Creates the cluster, its database and its superuser's password, if there is none. It has a temporary name until it is complete, so an
 * interrupted one is created again. An existing cluster is left alone, except for its two configuration files and, if `postgres-url` was
 * lost, a new password.
 * @returns the password
 * @throws Error if the directory contains something else, or a cluster of another major version
 */
export async function prepareCluster(dataDir: string, tools: ClusterTools): Promise<string> {
  const { account } = tools;
  const cluster = clusterDirectory(dataDir);
  for (const name of readdirSync(dataDir)) {
    // An initdb whose service was killed may still write into it for a moment.
    if (name.startsWith(UNFINISHED))
      rmSync(join(dataDir, name), { recursive: true, force: true, maxRetries: 10, retryDelay: RETRY_DELAY_MS });
  }
  const known = readAccess(dataDir)?.password;
  const password = known ?? randomBytes(PASSWORD_BYTES).toString('hex');
  if (isNew(cluster)) {
    await createCluster(dataDir, tools, password);
    return password;
  }
  checkCluster(cluster, account);
  writeConfiguration(cluster);
  if (known === undefined) await singleUser(cluster, tools, [setPassword(password)]);
  return password;
}

function isNew(cluster: string): boolean {
  return !existsSync(cluster) || readdirSync(cluster).length === 0;
}

function checkCluster(cluster: string, account: ServerAccount): void {
  const versionFile = join(cluster, 'PG_VERSION');
  if (!existsSync(versionFile)) {
    throw new Error(
      `${cluster} is not a PostgreSQL cluster: move it away, or set LOMBARD_DATA_DIR to another directory`,
    );
  }
  const version = readFileSync(versionFile, 'utf8').trim();
  if (version !== MAJOR_VERSION) {
    throw new Error(
      `${cluster} was made by PostgreSQL ${version}, this is ${MAJOR_VERSION}: dump it with the version that made it and restore it`,
    );
  }
  const owner = lstatSync(cluster).uid;
  if (owner === account.uid) return;
  if (process.getuid?.() !== 0) {
    throw new Error(
      `${cluster} belongs to user ${owner}: start the service as that user, or set LOMBARD_DATA_DIR to another directory`,
    );
  }
  chownAll(cluster, account);
}

async function createCluster(dataDir: string, tools: ClusterTools, password: string): Promise<void> {
  const { binaries, account, durable } = tools;
  const unfinished = join(dataDir, UNFINISHED + randomBytes(6).toString('hex'));
  mkdirSync(unfinished, { mode: 0o700 });
  chownSync(unfinished, account.uid, account.gid);
  try {
    const path = await reachablePath(unfinished, account);
    const initdb = async (...args: string[]) => {
      const { ok, output } = await run(binaries.initdb, ['-D', path, ...args], { account, cwd: unfinished });
      if (!ok) throw new Error(`initdb failed: ${reason(output)}`);
    };
    // Text is compared by its bytes on every machine, but upper and lower case cover all of Unicode.
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    await initdb('-U', SUPERUSER, '-A', 'reject', '--no-sync', '--no-instructions', ...locale);
    writeConfiguration(unfinished);
    await singleUser(unfinished, tools, [`create database ${DATABASE}`, setPassword(password)]);
    if (durable) await initdb('--sync-only');
    renameSync(unfinished, clusterDirectory(dataDir));
    const directory = openSync(dataDir, 'r');
    fsyncSync(directory);
    closeSync(directory);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw error;
  }
}

/** Runs statements without a server, so that nobody can ever connect without a password. */
async function singleUser(cluster: string, { binaries, account }: ClusterTools, statements: string[]): Promise<void> {
  const path = await reachablePath(cluster, account);
  const args = ['--single', '-D', path, '-c', 'exit_on_error=true', 'template1'];
  const input = statements.map((sql) => `${sql}\n`).join('');
  const { ok, output } = await run(binaries.postgres, args, { account, cwd: cluster, input });
  if (!ok) throw new Error(`the database could not be prepared: ${reason(output)}`);
}

function setPassword(password: string): string {
  return `alter role ${SUPERUSER} password '${password}'`;
}

function writeConfiguration(cluster: string): void {
  replaceFile(join(cluster, 'postgresql.conf'), configurationFile());
  replaceFile(join(cluster, 'pg_hba.conf'), accessFile());
}

function chownAll(directory: string, account: ServerAccount): void {
  chownSync(directory, account.uid, account.gid);
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    if (!entry.isSymbolicLink()) chownSync(join(entry.parentPath, entry.name), account.uid, account.gid);
  }
}
