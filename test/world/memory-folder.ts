import { readFileSync, statfsSync } from 'node:fs';

const FOLDER = '/dev/shm';
/** All files of a run together take less than a third of this. */
const MIN_FREE_BYTES = 8 * 1024 ** 3;

/**
 * A folder in memory for everything temporary, if the machine has one with enough room: creating and dropping databases there takes half as
 * long. A container's own is too small by default, or does not allow programs to run. Then the result is undefined.
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
