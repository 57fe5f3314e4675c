import { readFileSync, statfsSync } from 'node:fs';

const FOLDER = '/dev/shm';
/** What all files of a run take at once is below a third of it. */
const MIN_FREE_BYTES = 8 * 1024 ** 3;

/**
 * A folder in memory for everything temporary, where the machine has one with room: databases are made and dropped there for half of the
 * work. A container's own is too small by default, and programs may not run from it; then it is undefined.
 */
export function memoryFolder(): string | undefined {
  try {
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .find(([, folder]) => folder === FOLDER);
    const options = mount?.[3]?.split(',') ?? [];
    if (mount?.[2] !== 'tmpfs' || options.includes('noexec') || options.includes('ro')) return undefined;
    const { bavail, bsize } = statfsSync(FOLDER);
    return bavail * bsize >= MIN_FREE_BYTES ? FOLDER : undefined;
  } catch {
    return undefined;
  }
}
