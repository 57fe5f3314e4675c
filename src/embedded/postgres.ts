import { randomInt } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { makeDataDirectory } from '../settings/data-directory.ts';
import { monotonic } from '../values/calendar.ts';
import { reachablePath, serverAccount } from './account.ts';
import { findBinaries } from './binaries.ts';
import {
  type Access,
  clusterDirectory,
  connectionString,
  prepareCluster,
  readAccess,
  removeSockets,
  socketString,
  writeAccess,
} from './cluster.ts';
import { startFailure } from './failure.ts';
import { lockDirectory } from './lock.ts';
import { endLeftovers } from './processes.ts';
import { type Server, startServer } from './server.ts';
import { serverArguments } from './settings.ts';

/** Milliseconds to wait before the first, second and later attempts to restart a server that has ended. The last value repeats. */
const RESTART_AFTER_MS = [50, 250, 1_000, 2_000, 5_000];
/** Milliseconds after which a run counts as healthy. The next failure then waits the shortest time again. */
const HEALTHY_RUN_MS = 30_000;
const MAX_PORT_ATTEMPTS = 5;

/** A running embedded PostgreSQL. */
export interface EmbeddedPostgres {
  /** The superuser's connection string of the database "lombard", for any program. It stays the same until stop(). */
  url: string;
  /** The same for the service on this machine, through the unix socket if its path is not too long. */
  socketUrl: string;
  /** Stops it: a fast shutdown, or an immediate one after five seconds. Afterwards the data directory is free. */
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
 * Starts PostgreSQL on `dataDir`/postgres, which the first start creates, and keeps it running until stop(). If the server ends, it is
 * started again on the same port. If this process is killed, the server ends too (docs/embedded-postgresql.md).
 * @param options `port`: 0 for the last one, or a free one; `durable`: false gives up crash safety for speed (tests); `settings`: further
 * settings of PostgreSQL
 * @throws StartupError of one line if the directory is in use by another process (which it names), full, read-only, out of reach, or not a
 * cluster of this version
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  let release = () => {};
  try {
    makeDataDirectory(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
    release = lockDirectory(dataDir);
    return await startLocked({ ...options, dataDir }, release);
  } catch (error) {
    try {
      release();
    } catch {
      // The first error is the one to report. The lock of a process that has ended is ignored.
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
  const password = await prepareCluster(dataDir, { binaries, account, durable });
  const path = await reachablePath(cluster, account);
  const start = (on: number) => {
    // No postmaster of this cluster runs, so its file is stale, whatever process has its id now.
    rmSync(join(cluster, 'postmaster.pid'), { force: true });
    removeSockets(cluster);
    const args = serverArguments(on, durable, settings);
    return startServer({
      program: binaries.postgres,
      cluster,
      path,
      args,
      account,
      onLine: (line) => forward(line, log),
    });
  };
  const ports = { asked: port, last: readAccess(dataDir)?.port };
  const { server, access } = await startOnFreePort(start, password, ports);
  try {
    writeAccess(dataDir, access);
  } catch (error) {
    await server.stop();
    throw error;
  }
  const supervisor = supervise(server, { start: () => start(access.port), cluster, log });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= supervisor.stop().finally(release);
    return stopped;
  };
  return { url: connectionString(access), socketUrl: socketString(cluster, access), stop };
}

/** Starts on the requested port, or on a free one. A free port may be taken before it is used; then another one is tried. */
async function startOnFreePort(
  start: (port: number) => Server,
  password: string,
  { asked, last }: { asked: number; last: number | undefined },
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
      if (!taken || attempt === MAX_PORT_ATTEMPTS) throw error;
    }
  }
}

/** Restarts the server whenever it ends without being told to, with growing waits, until it is stopped. */
function supervise(
  first: Server,
  { start, cluster, log }: { start: () => Server; cluster: string; log: Log },
): { stop(): Promise<void> } {
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

/** Ends a server whose service was killed, if its watchdog has not ended it yet. */
async function endOrphans(cluster: string, log: Log): Promise<void> {
  let postmaster: number | undefined;
  try {
    postmaster = Number(readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0]);
  } catch {
    // There is no server: it was shut down, or never ran.
  }
  const ended = await endLeftovers(cluster, postmaster);
  if (ended.length > 0) log.warn({ pids: ended }, 'ended a PostgreSQL that a killed service had left behind');
}

/** Writes a line of PostgreSQL's log to the service's log. Continuation lines are left out. */
function forward(line: string, log: Log): void {
  const [, severity, message] = /^(PANIC|FATAL|LOG|WARNING|ERROR):\s+(\S.*)$/.exec(line) ?? [];
  if (message === undefined) return;
  if (severity === 'PANIC') log.error({ message }, 'PostgreSQL');
  else if (severity === 'LOG') log.info({ message }, 'PostgreSQL');
  else log.warn({ message }, 'PostgreSQL');
}

/** Below the range that Linux and macOS use for outgoing connections, so that a restart finds its port free. */
const MIN_PORT = 20_000;
const MAX_PORT = 32_767;
const MAX_ATTEMPTS = 100;

/** A free port of 127.0.0.1: `preferred` if it is free, otherwise a random one. */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred && (await isFree(preferred))) return preferred;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const port = randomInt(MIN_PORT, MAX_PORT + 1);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port between ${MIN_PORT} and ${MAX_PORT} for the embedded PostgreSQL`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
