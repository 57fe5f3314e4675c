import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { monotonic } from '../values/calendar.ts';
import { codeOf } from '../values/unknown.ts';

/** Milliseconds that PostgreSQL has for a fast shutdown, and then for an immediate one. */
export const FAST_SHUTDOWN_MS = 5_000;
const IMMEDIATE_SHUTDOWN_MS = 2_000;
const POLL_MS = 20;

/**
 * Whether a process with this id exists and has not ended. A killed process keeps its id until its parent has waited for it (a zombie). In
 * a container whose first process waits for nobody, that is for ever.
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) !== 'EPERM') return false;
  }
  return !/^[ZX]/.test(stateOf(pid));
}

/** The state of a process as the system reports it (`Z`: ended, not waited for; `X`: ending); empty if unknown. */
function stateOf(pid: number): string {
  try {
    if (process.platform === 'linux') return statFields(pid)[0] ?? '';
    return execFileSync('/bin/ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}

/** The fields of /proc/N/stat from the state on. The name before them, in parentheses, may contain spaces and parentheses. */
function statFields(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/**
 * A text that distinguishes this process from a later one with the same id: its start in ticks after boot, or on macOS its start time.
 * Empty if there is no such process.
 */
export function startOf(pid: number): string {
  try {
    if (process.platform !== 'linux') {
      return execFileSync('/bin/ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' })
        .trim()
        .replace(/\s+/g, '_');
    }
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}-${statFields(pid)[19]}`;
  } catch {
    return '';
  }
}

/**
 * Ends every PostgreSQL process that still works on the cluster: a postmaster whose service has ended, or backends whose postmaster was
 * killed. Each such backend prevents the next postmaster from starting. It tries a fast shutdown, then an immediate one, and then kills
 * them. The caller holds the lock of the data directory.
 * @returns their ids
 */
export async function endLeftovers(clusterDir: string, postmaster?: number): Promise<number[]> {
  const found = processesOn(clusterDir, postmaster);
  if (found.length === 0) return [];
  const steps: [NodeJS.Signals, number][] = [
    ['SIGINT', FAST_SHUTDOWN_MS],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
    ['SIGKILL', IMMEDIATE_SHUTDOWN_MS],
  ];
  for (const [signal, limit] of steps) {
    // A live postmaster ends its children in order, so only it gets the signal. For backends without one, SIGINT would only cancel their
    // query.
    const head = postmaster && found.includes(postmaster) && signal !== 'SIGKILL' ? [postmaster] : undefined;
    for (const pid of head ?? processesOn(clusterDir, postmaster)) {
      send(pid, head || signal !== 'SIGINT' ? signal : 'SIGQUIT');
    }
    const deadline = monotonic() + limit;
    while (monotonic() < deadline) {
      if (processesOn(clusterDir, postmaster).length === 0) return found;
      await pause(POLL_MS);
    }
  }
  return found;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended in between.
  }
}

/** Ids of the PostgreSQL processes whose working directory is the cluster. */
function processesOn(clusterDir: string, postmaster?: number): number[] {
  if (process.platform !== 'linux') return postmaster && isPostmasterByName(postmaster, clusterDir) ? [postmaster] : [];
  const cluster = statSync(clusterDir, { throwIfNoEntry: false });
  if (!cluster) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        if (readFileSync(`/proc/${pid}/comm`, 'utf8').trim() !== 'postgres') return false;
        const cwd = statSync(`/proc/${pid}/cwd`);
        return cwd.ino === cluster.ino && cwd.dev === cluster.dev;
      } catch {
        return false; // it ended, or is another user's and therefore not of this cluster
      }
    });
}

function isPostmasterByName(pid: number, clusterDir: string): boolean {
  try {
    const command = execFileSync('/bin/ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    return command.includes('postgres') && command.includes(clusterDir);
  } catch {
    return false;
  }
}
