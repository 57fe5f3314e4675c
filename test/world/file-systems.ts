import { spawnSync } from 'node:child_process';
import type { TestContext } from 'node:test';
import { REPOSITORY } from './command.ts';

/** User nobody. */
export const NOBODY = 65534;
export const IS_ROOT = process.getuid?.() === 0;

/**
 * Mounts a small file system in memory, or skips the test with the reason.
 * @param options mount options such as `size=64m`; the caller unmounts it
 * @returns whether it is mounted
 */
export function mountMemory(t: TestContext, path: string, options: string): boolean {
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path], { encoding: 'utf8' });
  if (status !== 0) t.skip(`no file system can be mounted here: ${stderr ?? 'no mount command'}`);
  return status === 0;
}

/** Why a process of another user cannot run this checkout; false if it can. */
export function whyNoOtherUser(): string | false {
  if (!IS_ROOT) return 'only root can start a process of another user';
  const options = { uid: NOBODY, gid: NOBODY, cwd: '/' };
  const { status } = spawnSync(process.execPath, [`${REPOSITORY}/bin/start.mjs`, '--version'], options);
  return status === 0 ? false : 'user nobody cannot run this checkout (a private directory above it)';
}
