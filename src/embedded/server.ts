import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { endsWithin } from '../process/deadline.ts';
import { monotonic } from '../values/calendar.ts';
import { ENVIRONMENT, type ServerAccount } from './command.ts';
import { reason } from './failure.ts';
import { endLeftovers, FAST_SHUTDOWN_MS } from './processes.ts';
import { startWatchdog } from './watchdog.ts';

/** Milliseconds for a start. A start that recovers from a crash replays at most max_wal_size. */
const READY_LIMIT_MS = 120_000;
const POLL_MS = 10;
/** The number of log lines that are kept to explain a failed start. */
const MAX_KEPT_LINES = 20;

/** One run of the PostgreSQL server. */
export interface Server {
  pid: number | undefined;
  /** Resolves when it accepts connections. Rejects with its last log lines if it ends before that. */
  ready: Promise<void>;
  /** Resolves with its exit code or signal when it has ended. */
  ended: Promise<string>;
  /** Stops it: a fast shutdown, or an immediate one after five seconds. */
  stop(): Promise<void>;
}

export interface PostgresServerOptions {
  /** The path of `postgres`. */
  program: string;
  /** The directory of the cluster. */
  cluster: string;
  /** The same directory by a path that the account can reach (`reachablePath`). */
  path: string;
  args: string[];
  account: ServerAccount;
  /** Receives each line of its log, from when it is ready until it is stopped. */
  onLine: (line: string) => void;
}

/** Starts the server on a cluster, under a watchdog. */
export function startServer({ program, cluster, path, args, account, onLine }: PostgresServerOptions): Server {
  const watchdog = startWatchdog(account);
  const child = spawn(program, ['-D', path, ...args], {
    cwd: cluster,
    env: ENVIRONMENT,
    // It has its own process group, because Ctrl-C is for the service, which stops the database last.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    ...account.spawn,
  });
  if (child.pid !== undefined) watchdog.watch(child.pid);
  let isReady = false;
  let hasEnded = false;
  let stopping = false;
  const lines: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line);
    if (lines.length > MAX_KEPT_LINES) lines.shift();
    if (isReady && !stopping) onLine(line);
  });
  const ended = new Promise<string>((resolve) => {
    const end = (how: string) => {
      hasEnded = true;
      watchdog.release();
      resolve(how);
    };
    child.on('error', (error) => {
      lines.push(String(error));
      end(String(error));
    });
    // At `close` the last lines of its log have been read. Backends of a killed server may hold the pipe for long, so `exit` ends the wait
    // too.
    child.on('close', (code, signal) => end(signal ?? `exit code ${code}`));
    child.on('exit', (code, signal) => setTimeout(() => end(signal ?? `exit code ${code}`), POLL_MS));
  });
  const becomeReady = async () => {
    const deadline = monotonic() + READY_LIMIT_MS;
    while (!hasEnded && monotonic() < deadline) {
      if (saysReady(cluster, child.pid)) {
        isReady = true;
        return;
      }
      await pause(POLL_MS);
    }
    throw new Error(`PostgreSQL did not start: ${reason(lines.join('\n'))}`);
  };
  const stop = async () => {
    stopping = true;
    if (!hasEnded) child.kill('SIGINT');
    if (!(await endsWithin(ended, FAST_SHUTDOWN_MS))) child.kill('SIGQUIT');
    const killed = setTimeout(() => child.kill('SIGKILL'), FAST_SHUTDOWN_MS);
    await ended;
    clearTimeout(killed);
    await endLeftovers(cluster);
  };
  const ready = becomeReady();
  ready.catch(() => undefined); // stop() may be called before anybody waits for it
  return { pid: child.pid, ready, ended, stop };
}

/** PostgreSQL writes its id and state into postmaster.pid. */
function saysReady(clusterDir: string, pid: number | undefined): boolean {
  try {
    const lines = readFileSync(join(clusterDir, 'postmaster.pid'), 'utf8').split('\n');
    return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
  } catch {
    return false;
  }
}
