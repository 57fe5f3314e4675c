import { execFile } from 'node:child_process';
import { access, constants, readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Config } from '../../settings/config.ts';
import { type Finding, failed, ok, warning } from './finding.ts';

/** The first versions of Node that strip types. bin/lombard checks the same. */
const MIN_NODE_MINOR = new Map([
  [22, 18],
  [23, 6],
]);
const MEBIBYTE_BYTES = 1_048_576;
/** Less free space than this on the disk of the data directory is a failure or a warning. */
const MIN_FREE_BYTES = 256 * MEBIBYTE_BYTES;
const SPARSE_FREE_BYTES = 2_048 * MEBIBYTE_BYTES;
/** The number of connections and files that a process must be able to have open. */
const MIN_OPEN_FILES = 4_096;
/** Files in the data directory that only their owner may read. */
const SECRET_FILES = /^(master-key|operator-token|postgres-url|command-tokens\.json)$|-key\.pem$/;
const OTHERS_BITS = 0o077;

/** Checks Node, the native libraries, and the resources of the machine. */
export async function checkMachine(): Promise<Finding[]> {
  return [checkNode(process.versions.node), ...(await checkLibraries()), await checkOpenFiles()];
}

/** @param version such as 24.21.0 */
export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major >= 24 || minor >= (MIN_NODE_MINOR.get(major) ?? Number.POSITIVE_INFINITY)) return ok('Node', version);
  return failed('Node', `${version} runs; 22.18 or newer is needed: start with bin/lombard, or npm ci once more`);
}

/** Native code cannot be loaded if `npm ci` ran on another kind of machine. */
async function checkLibraries(): Promise<Finding[]> {
  const load: Record<string, () => Promise<unknown>> = {
    passwords: () => import('@node-rs/argon2'),
    documents: () => import('@myriaddreamin/typst-ts-node-compiler'),
  };
  const broken: Finding[] = [];
  for (const [name, library] of Object.entries(load))
    await library().catch((error: Error) =>
      broken.push(failed('libraries', `that for ${name} does not load (${error.message}): run npm ci on this machine`)),
    );
  return broken.length > 0 ? broken : [ok('libraries', 'all of them load')];
}

async function checkOpenFiles(): Promise<Finding> {
  const { stdout } = await promisify(execFile)('sh', ['-c', 'ulimit -n']).catch(() => ({ stdout: '' }));
  const limit = stdout.trim() === 'unlimited' ? Number.POSITIVE_INFINITY : Number(stdout.trim() || Number.NaN);
  if (!(limit < MIN_OPEN_FILES)) return ok('open files', Number.isNaN(limit) ? 'unknown here' : `${limit} at once`);
  return warning(
    'open files',
    `at most ${limit} at once, which many connections use up: raise it to ${MIN_OPEN_FILES} or more (ulimit -n, LimitNOFILE=)`,
  );
}

/** Checks the data directory: its permissions, and the free space on its disk. */
export async function checkDataDirectory({ dataDir, environment }: Config): Promise<Finding[]> {
  const found = await stat(dataDir).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    if (found.code === 'ENOENT')
      return [ok('data directory', `${dataDir} does not exist yet; the first start makes it`)];
    return [
      failed(
        'data directory',
        `${dataDir} cannot be used (${found.code}): set LOMBARD_DATA_DIR to a directory of this user`,
      ),
    ];
  }
  if (!found.isDirectory())
    return [
      failed('data directory', `${dataDir} is not a directory: set LOMBARD_DATA_DIR to a directory of this user`),
    ];
  const writable = await access(dataDir, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!writable)
    return [failed('data directory', `this user may not write ${dataDir}: change its owner, or set LOMBARD_DATA_DIR`)];
  const open = await readableByOthers(dataDir);
  const judge = environment === 'production' ? failed : warning;
  const { bavail, blocks, bsize } = await statfs(dataDir);
  return [
    open.length === 0
      ? ok('data directory', `${dataDir}; its secrets are for its owner only`)
      : judge(
          'data directory',
          `others may read ${open.join(', ')} in ${dataDir}: chmod 600 them, and change these secrets`,
        ),
    checkSpace(dataDir, { free: bavail * bsize, total: blocks * bsize }),
  ];
}

async function readableByOthers(dataDir: string): Promise<string[]> {
  const open: string[] = [];
  for (const folder of ['', 'tls']) {
    for (const name of await readdir(join(dataDir, folder)).catch(() => [])) {
      if (!SECRET_FILES.test(name)) continue;
      const { mode } = await stat(join(dataDir, folder, name));
      if ((mode & OTHERS_BITS) !== 0) open.push(join(folder, name));
    }
  }
  return open;
}

/** @param bytes of the disk */
export function checkSpace(path: string, { free, total }: { free: number; total: number }): Finding {
  const left = `${Math.floor(free / MEBIBYTE_BYTES)} MiB of ${Math.floor(total / MEBIBYTE_BYTES)} MiB are free on the disk of ${path}`;
  if (free < MIN_FREE_BYTES) return failed('disk', `${left}: make room before it is full and nothing can be written`);
  if (free < SPARSE_FREE_BYTES) return warning('disk', `${left}: make room, or move LOMBARD_DATA_DIR`);
  return ok('disk', left);
}
