import { spawnSync } from 'node:child_process';
import { REPOSITORY } from './command.ts';

/** Makes the bundle if a source has changed since, so that the programs that tests start run it, as after `npm ci`. */
export function buildBundle(): void {
  const options = ['--disable-warning=ExperimentalWarning', 'bin/bundle.ts', '--if-needed'];
  const { status } = spawnSync(process.execPath, options, { cwd: REPOSITORY, stdio: 'inherit' });
  if (status !== 0) throw new Error('the bundle could not be made');
}
