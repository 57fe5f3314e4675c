import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { monotonic } from '../calendar.ts';
import { endsWithin } from '../deadline.ts';
import { type Account, ENVIRONMENT } from './command.ts';
import { reason } from './failure.ts';
import { endLeftovers, FAST_SHUTDOWN_MS } from './processes.ts';
import { startWatchdog } from './watchdog.ts';

/** A start that must first recover after a crash replays at most max_wal_size (ms). */
const READY_WITHIN_MS = 120_000;
const POLL_MS = 10;
/** Lines kept to explain a failed start. */
const KEPT_LINES = 20;

/** One run of the PostgreSQL server. */
export interface Server {
  pid: number | undefined;
  /** Resolves when it accepts connections; rejects with its last log lines when it ends before. */
  ready: Promise<void>;
  /** Resolves with its exit code or signal when it has ended. */
  ended: Promise<string>;
  /** Fast shutdown, immediate after five seconds. */
  stop(): Promise<void>;
}

/**
 * Starts the server on a cluster, under a watchdog. `path` is the cluster as the account reaches it
 * (`reachablePath`); `onLine` gets each line of its log once it is ready and until it is being stopped.
 */
export function startServer(
  program: string,
  clusterDir: string,
  path: string,
  args: string[],
  account: Account,
  onLine: (line: string) => void,
): Server {
  const watchdog = startWatchdog(account);
  const child = spawn(program, ['-D', path, ...args], {
    cwd: clusterDir,
    env: ENVIRONMENT,
    // A group of its own: Ctrl-C is for the service, which stops the database last.
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
    if (lines.length > KEPT_LINES) lines.shift();
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
    // close, not exit: by then the last lines of its log have been read. Backends of a killed server may hold the
    // pipe for long, so that exit has the last word.
    child.on('close', (code, signal) => end(signal ?? `exit code ${code}`));
    child.on('exit', (code, signal) => setTimeout(() => end(signal ?? `exit code ${code}`), POLL_MS));
  });
  const becomeReady = async () => {
    const deadline = monotonic() + READY_WITHIN_MS;
    while (!hasEnded && monotonic() < deadline) {
      if (saysReady(clusterDir, child.pid)) {
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
    await endLeftovers(clusterDir);
  };
  const ready = becomeReady();
  ready.catch(() => undefined); // stop() may come before anybody waits for it
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
