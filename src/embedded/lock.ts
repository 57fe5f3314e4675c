import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, startOf } from './processes.ts';

const ATTEMPTS = 10;

/**
 * Takes the data directory for this process; gives the function that releases it. Throws an error that names the
 * other process's id when one that is alive has it. A holder that was killed, or whose id now belongs to another
 * program, counts for nothing.
 */
export function lockDirectory(dataDir: string): () => void {
  const path = join(dataDir, 'postgres.lock');
  const own = `${process.pid} ${startOf(process.pid)}\n`;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (create(path, own)) {
      return () => {
        if (read(path) === own) rmSync(path, { force: true });
      };
    }
    const held = read(path);
    if (held === undefined) continue;
    const [pid, start] = held.trim().split(' ');
    if (isAlive(Number(pid)) && startOf(Number(pid)) === start) {
      throw new Error(
        `the data directory ${dataDir} is in use by process ${pid}: stop that service, or set LOMBARD_DATA_DIR to another directory`,
      );
    }
    takeAway(path, held);
  }
  throw new Error(`the data directory ${dataDir} is in use by another service that is just starting`);
}

/** By a link the file appears with its contents at once: nobody reads a half-written lock. */
function create(path: string, contents: string): boolean {
  const prepared = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(prepared, contents, { mode: 0o644 });
  try {
    linkSync(prepared, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(prepared, { force: true });
  }
}

/** Removes a stale lock; one that another starting service has put in its place meanwhile is put back. */
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
