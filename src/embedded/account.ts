import { readFileSync, statSync } from 'node:fs';
import { type Account, run } from './command.ts';

/** Where PostgreSQL refuses to run as root: the account it gets instead. */
const UNPRIVILEGED = 'nobody';
const UNPRIVILEGED_ID = 65534;

/**
 * Chooses the account: this process's own or, as root (which PostgreSQL refuses), the owner of an existing
 * cluster, so that a directory made by an ordinary user stays usable by that user, else `nobody`.
 */
export function serverAccount(clusterDir: string): Account {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  if (uid !== 0) return { uid, gid, spawn: {} };
  const owner = statSync(clusterDir, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid, spawn: { uid: owner.uid, gid: owner.gid } };
  const spawn = unprivileged();
  // macOS knows nobody as -2: spawn takes it signed, chown unsigned.
  return { uid: spawn.uid >>> 0, gid: spawn.gid >>> 0, spawn };
}

function unprivileged(): { uid: number; gid: number } {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${UNPRIVILEGED}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return { uid: Number(uid ?? UNPRIVILEGED_ID), gid: Number(gid ?? UNPRIVILEGED_ID) };
}

/**
 * The path under which the account reaches `directory` when its process is started inside of it: the path itself
 * or, below a directory that only root may pass, `/proc/self/cwd` (a kernel link that jumps to the working
 * directory without walking the parents; nobody's permissions are widened for it).
 * Throws when neither works.
 */
export async function reachablePath(directory: string, account: Account): Promise<string> {
  const paths = process.platform === 'linux' ? [directory, '/proc/self/cwd'] : [directory];
  for (const path of paths) {
    const { ok } = await run('/bin/sh', ['-c', 'cd "$1" && test -r . && test -w .', 'sh', path], account, directory);
    if (ok) return path;
  }
  throw new Error(
    `the data directory ${directory} cannot be reached by user ${account.uid}, as which PostgreSQL runs: ` +
      'set LOMBARD_DATA_DIR to a directory below which every user may pass, or start the service as an ordinary user',
  );
}
