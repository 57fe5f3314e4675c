import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ENVIRONMENT, run, type ServerAccount } from './command.ts';

/** The account as which PostgreSQL runs if the service is root, which PostgreSQL refuses. */
const UNPRIVILEGED = 'nobody';
const UNPRIVILEGED_ID = 65534;

/**
 * Chooses the account for PostgreSQL. It is this process's own, unless that is root, which PostgreSQL refuses. Then it is the owner of an
 * existing cluster, else of the data directory, so that an ordinary user's cluster stays usable by that user; otherwise `nobody`.
 */
export function serverAccount(clusterDir: string): ServerAccount {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  if (uid !== 0) return { uid, gid, spawn: {} };
  const owner = (path: string) => statSync(path, { throwIfNoEntry: false }) ?? { uid: 0, gid: 0 };
  const cluster = owner(clusterDir);
  const found = cluster.uid === 0 ? owner(dirname(clusterDir)) : cluster;
  if (found.uid !== 0 && (found === cluster || hasAccount(found.uid)))
    return { uid: found.uid, gid: found.gid, spawn: { uid: found.uid, gid: found.gid } };
  const spawn = unprivileged();
  // On macOS nobody is -2. spawn expects it signed, chown unsigned.
  return { uid: spawn.uid >>> 0, gid: spawn.gid >>> 0, spawn };
}

/** Whether the machine knows the user. An unknown user cannot create a cluster. */
function hasAccount(uid: number): boolean {
  try {
    execFileSync('/usr/bin/id', ['-un', String(uid)], { env: ENVIRONMENT, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function unprivileged(): { uid: number; gid: number } {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${UNPRIVILEGED}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return { uid: Number(uid ?? UNPRIVILEGED_ID), gid: Number(gid ?? UNPRIVILEGED_ID) };
}

/**
 * A path by which the account reaches `directory` from a process that starts inside it. Normally it is the path itself. Below a directory
 * that only root may enter, it is `/proc/self/cwd`: this kernel link leads to the working directory without walking the parents, so no
 * permissions have to be widened.
 * @throws Error if neither works
 */
export async function reachablePath(directory: string, account: ServerAccount): Promise<string> {
  const paths = process.platform === 'linux' ? [directory, '/proc/self/cwd'] : [directory];
  for (const path of paths) {
    const { ok } = await run('/bin/sh', ['-c', 'cd "$1" && test -r . && test -w .', 'sh', path], {
      account,
      cwd: directory,
    });
    if (ok) return path;
  }
  throw new Error(
    `PostgreSQL runs as user ${account.uid}, who cannot reach the data directory ${directory}: ` +
      'set LOMBARD_DATA_DIR to a directory that every user may pass, or start the service as an ordinary user',
  );
}
