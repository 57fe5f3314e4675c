import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { monotonic } from '../calendar.ts';
import { reachablePath, serverAccount } from './account.ts';
import { findBinaries } from './binaries.ts';
import { type Access, clusterDirectory, connectionString, prepareCluster, readAccess, writeAccess } from './cluster.ts';
import { startFailure } from './failure.ts';
import { lockDirectory } from './lock.ts';
import { freePort } from './port.ts';
import { endLeftovers } from './processes.ts';
import { type Server, startServer } from './server.ts';
import { serverArguments } from './settings.ts';

/** Waits before the first, second, ... attempt to start a server that ended by itself; the last one repeats (ms). */
const RESTART_AFTER_MS = [50, 250, 1_000, 2_000, 5_000];
/** A run this long counts as healthy: the next failure waits the shortest time again (ms). */
const HEALTHY_RUN_MS = 30_000;
const PORT_ATTEMPTS = 5;

/** A running embedded PostgreSQL. */
export interface EmbeddedPostgres {
  /** Superuser connection string of database "lombard"; stays the same until stop(). */
  url: string;
  /** Fast shutdown, immediate after five seconds; the data directory is free afterwards. */
  stop(): Promise<void>;
}

interface Log {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** See `startEmbedded`. */
export interface EmbeddedOptions {
  dataDir: string;
  log: Log;
  port?: number;
  durable?: boolean;
  settings?: Record<string, string>;
}

/**
 * Starts PostgreSQL on `dataDir`/postgres (made on the first start) and keeps it running until stop(): when it
 * dies, it is started again on the same port; when this process is killed, it ends (docs/embedded-postgresql.md).
 * `port` 0 takes the port of the last time, or a free one. `durable` false (tests) gives up crash safety for speed.
 * `settings` are further PostgreSQL settings. Throws one clear Error when the directory is in use by another
 * process (which it names), full, read-only, out of reach or not a cluster of this version.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  let release = () => {};
  try {
    mkdirSync(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
    release = lockDirectory(dataDir);
    return await startLocked({ ...options, dataDir }, release);
  } catch (error) {
    try {
      release();
    } catch {
      // The first error is the one to report; the lock of a process that ended counts for nothing.
    }
    throw startFailure(dataDir, error);
  }
}

async function startLocked(options: EmbeddedOptions, release: () => void): Promise<EmbeddedPostgres> {
  const { dataDir, log, port = 0, durable = true, settings = {} } = options;
  const cluster = clusterDirectory(dataDir);
  await endOrphans(cluster, log);
  const account = serverAccount(cluster);
  const binaries = await findBinaries(dataDir, account);
  const password = await prepareCluster(dataDir, binaries, account, durable);
  const path = await reachablePath(cluster, account);
  const start = (on: number) => {
    // No postmaster of ours is alive here, so that its file is stale, whoever has its process id now.
    rmSync(join(cluster, 'postmaster.pid'), { force: true });
    const args = serverArguments(on, durable, settings);
    return startServer(binaries.postgres, cluster, path, args, account, (line) => forward(line, log));
  };
  const { server, access } = await startOnFreePort(start, password, port, readAccess(dataDir)?.port);
  try {
    writeAccess(dataDir, access);
  } catch (error) {
    await server.stop();
    throw error;
  }
  const supervisor = supervise(server, () => start(access.port), cluster, log);
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= supervisor.stop().finally(release);
    return stopped;
  };
  return { url: connectionString(access), stop };
}

/** A port can be taken between being found free and being used: then with another one, unless it was asked for. */
async function startOnFreePort(
  start: (port: number) => Server,
  password: string,
  asked: number,
  last: number | undefined,
): Promise<{ server: Server; access: Access }> {
  for (let attempt = 1; ; attempt++) {
    const port = asked || (await freePort(attempt === 1 ? last : undefined));
    const server = start(port);
    try {
      await server.ready;
      return { server, access: { password, port } };
    } catch (error) {
      await server.stop();
      const taken = /could not bind|Address already in use/.test(String(error));
      if (taken && asked) throw new Error(`port ${asked} of the embedded PostgreSQL is taken by another program`);
      if (!taken || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

/** Starts the server again whenever it ends by itself, with growing waits, until stopped. */
function supervise(first: Server, start: () => Server, cluster: string, log: Log): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let server = first;
  const watch = async () => {
    let failures = 0;
    for (;;) {
      const began = monotonic();
      const how = await server.ended;
      if (stopping.signal.aborted) return;
      if (monotonic() - began > HEALTHY_RUN_MS) failures = 0;
      const wait = RESTART_AFTER_MS[Math.min(failures++, RESTART_AFTER_MS.length - 1)];
      log.error({ how, wait_ms: wait }, 'the embedded PostgreSQL has ended; it is started again');
      await pause(wait, undefined, { signal: stopping.signal }).catch(() => undefined);
      try {
        await endLeftovers(cluster);
        if (stopping.signal.aborted) return;
        server = start();
        await server.ready;
        log.info({ pid: server.pid }, 'the embedded PostgreSQL runs again');
      } catch (error) {
        if (!stopping.signal.aborted) log.error({ err: error }, 'the embedded PostgreSQL could not be started again');
      }
    }
  };
  const watching = watch();
  return {
    async stop() {
      stopping.abort();
      await server.stop();
      await watching;
    },
  };
}

/** A server whose service was killed normally ends through its watchdog; this is for when it has not ended yet. */
async function endOrphans(cluster: string, log: Log): Promise<void> {
  let postmaster: number | undefined;
  try {
    postmaster = Number(readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0]);
  } catch {
    // None: it was shut down, or never ran.
  }
  const ended = await endLeftovers(cluster, postmaster);
  if (ended.length > 0) log.warn({ pids: ended }, 'ended a PostgreSQL that a killed service had left behind');
}

/** Puts a line of PostgreSQL's log into the service's own; what belongs to the line above it is left out. */
function forward(line: string, log: Log): void {
  const [, severity, message] = /^(PANIC|FATAL|LOG|WARNING|ERROR):\s+(.*)$/.exec(line) ?? [];
  if (message === undefined) return;
  if (severity === 'PANIC') log.error({ message }, 'PostgreSQL');
  else if (severity === 'LOG') log.info({ message }, 'PostgreSQL');
  else log.warn({ message }, 'PostgreSQL');
}
