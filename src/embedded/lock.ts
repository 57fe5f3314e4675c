import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepOwner } from '../settings/data-directory.ts';
import { codeOf } from '../values/unknown.ts';
import { isAlive, startOf } from './processes.ts';

const LOCK_FILE = 'postgres.lock';
const MAX_ATTEMPTS = 10;

/**
 * Locks the data directory for this process. It ignores a lock whose process was killed, or whose id now belongs to another program.
 * @returns the function that releases the lock
 * @throws Error if another process holds it, with that process's id
 */
export function lockDirectory(dataDir: string): () => void {
  const path = join(dataDir, LOCK_FILE);
  const own = `${process.pid} ${startOf(process.pid)}\n`;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (create(path, own)) {
      return () => {
        if (read(path) === own) rmSync(path, { force: true });
      };
    }
    const held = read(path);
    if (held === undefined) continue;
    const pid = holderOf(held);
    if (pid !== undefined)
      throw new Error(
        `the data directory ${dataDir} is in use by process ${pid}: stop that service, or set LOMBARD_DATA_DIR to another directory`,
      );
    takeAway(path, held);
  }
  throw new Error(`the data directory ${dataDir} is in use by another service that is just starting`);
}

/** The process that has locked the data directory; undefined if there is none. */
export function lockHolder(dataDir: string): number | undefined {
  return holderOf(read(join(dataDir, LOCK_FILE)));
}

/** A lock counts while its process lives and is the one that wrote it. */
function holderOf(held: string | undefined): number | undefined {
  const [pid, start] = held?.trim().split(' ') ?? [];
  return isAlive(Number(pid)) && startOf(Number(pid)) === start ? Number(pid) : undefined;
}

/** Creates the file as a link, so that it has its contents at once and nobody reads a half-written lock. */
function create(path: string, contents: string): boolean {
  const prepared = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(prepared, contents, { mode: 0o644 });
  try {
    keepOwner(prepared);
    linkSync(prepared, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(prepared, { force: true });
  }
}

/** Removes a stale lock. If another starting service has replaced it meanwhile, the new one is restored. */
function takeAway(path: string, stale: string): void {
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  const taken = read(aside);
  if (taken !== undefined && taken !== stale) create(path, taken);
  rmSync(aside, { force: true });
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
