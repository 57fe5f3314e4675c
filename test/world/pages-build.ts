import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PAGES = fileURLToPath(new URL('../../pages/', import.meta.url));
const BUILT = `${PAGES}dist/manifest.json`;

/** Builds the pages if a source is newer than the build, so that tests see the current pages. */
export function buildPages(): void {
  const builtAt = existsSync(BUILT) ? statSync(BUILT).mtimeMs : 0;
  const sources = readdirSync(PAGES, { recursive: true, encoding: 'utf8' }).filter((name) => !name.startsWith('dist'));
  if (!sources.some((name) => statSync(PAGES + name).mtimeMs > builtAt)) return;
  const { status } = spawnSync('npm', ['run', '--silent', 'pages'], { cwd: `${PAGES}..`, stdio: 'inherit' });
  if (status !== 0) throw new Error('the pages could not be built');
}
