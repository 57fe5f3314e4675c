import {
  accessSync,
  constants,
  existsSync,
  lchownSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { StartupError } from '../values/errors.ts';
import { codeOf } from '../values/unknown.ts';

/** Contains the connection string of the embedded database. */
export const URL_FILE = 'postgres-url';

/** Error codes, what they mean for the directory, and what the person can do. */
const CAUSES: [RegExp, found: string, remedy: string][] = [
  [
    /ENOSPC|EDQUOT|No space left|Disk quota exceeded|Check free disk space|wrote only \d+ of/i,
    'is on a full disk',
    'free at least 200 MB',
  ],
  [/EROFS|Read-only file system/i, 'is on a read-only file system', 'mount it writable'],
  [
    /EACCES|EPERM|Permission denied|Operation not permitted/i,
    `cannot be written by this user (uid ${process.getuid?.()})`,
    `let this user write it (chown or chmod)`,
  ],
];
/**
 * Makes the data directory and its missing parents. What root makes belongs to the owner of the surrounding directory.
 * @param mode permissions of a new directory
 * @throws StartupError of one line if it is not a directory that this user can write
 */
export function makeDataDirectory(dataDir: string, mode = 0o777): void {
  const path = resolve(dataDir);
  try {
    const first = mkdirSync(path, { recursive: true, mode });
    if (first !== undefined) for (const made of between(first, path)) keepOwner(made);
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST' || code === 'ENOTDIR')
      throw new StartupError(
        `LOMBARD_DATA_DIR: must be a directory that this user can make or use, not "${dataDir}" (a file is there)`,
        { cause: error },
      );
    throw dataDirectoryFault(path, refusal(path) ?? error) ?? error;
  }
}

/** Why nothing can be created at the path. The system only says ENOENT if a parent directory cannot be written. */
function refusal(path: string): unknown {
  try {
    accessSync(nearest(path), constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return error;
  }
}

function nearest(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearest(dirname(path));
}

function between(first: string, last: string): string[] {
  return last.length <= first.length ? [last] : [...between(first, dirname(last)), last];
}

/** Gives a file that root has made to the owner of its directory, who then needs no root to continue. */
export function keepOwner(path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  if (uid !== 0) lchownSync(path, uid, gid);
}

/**
 * Writes a file completely or not at all, for the owner of its directory. It makes a new file and renames it. Root may write into somebody
 * else's directory here, and must not follow a link in it.
 * @param mode by default only its owner may read it
 */
export function replaceFile(path: string, text: string, mode = 0o600): void {
  const draft = `${path}.${process.pid}`;
  rmSync(draft, { force: true });
  try {
    writeFileSync(draft, text, { flag: 'wx', mode });
    keepOwner(draft);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** The superuser's connection string of the embedded database, which is kept while the database is stopped; undefined if there is none. */
export function embeddedUrl(dataDir: string): string | undefined {
  try {
    return readFileSync(join(dataDir, URL_FILE), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Whether a connection string leads to the embedded database, by any route. It is recognised by the password, which nobody else has. */
export function leadsToEmbedded(dataDir: string, url: string): boolean {
  const password = URL.parse(embeddedUrl(dataDir) ?? '')?.password;
  return password !== undefined && URL.parse(url)?.password === password;
}

/**
 * One line about a fault of the data directory: which directory, what was found, and what to do.
 * @returns undefined if the cause lies elsewhere
 */
export function dataDirectoryFault(dataDir: string, cause: unknown): StartupError | undefined {
  const path = resolve(dataDir);
  const text = cause instanceof Error ? cause.message : String(cause);
  const known = CAUSES.find(([pattern]) => pattern.test(text));
  if (!known) return undefined;
  const [, found, remedy] = known;
  const place = nearest(path);
  const where = place === path ? found : `cannot be made: ${place} ${found}`;
  return new StartupError(
    `the data directory ${path} ${where}: ${remedy}, or set LOMBARD_DATA_DIR to another directory`,
    { cause },
  );
}
