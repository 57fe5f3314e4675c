import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const SDK = join(ROOT, 'sdk/');

/** The SDK as it is published, and empty projects that install it without a network. */
export function packSdk() {
  const folder = mkdtempSync(join(tmpdir(), 'lombard-sdk-'));
  // Builds a copy, because test files run concurrently and must not change the checkout.
  const workshop = mkdtempSync(join(tmpdir(), 'lombard-sdk-build-'));
  cpSync(SDK, join(workshop, 'sdk'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(workshop, 'node_modules'));
  npm(join(workshop, 'sdk'), 'pack', '--pack-destination', folder);
  rmSync(workshop, { recursive: true });
  const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? 'nothing was packed');
  return {
    tarball,
    /** @param type `"type"` of the project's package.json: `module` or `commonjs` */
    project(type: string): string {
      const project = join(folder, type);
      mkdirSync(project);
      writeFileSync(
        join(project, 'package.json'),
        JSON.stringify({ name: 'empty', version: '1.0.0', private: true, type }),
      );
      npm(project, 'install', '--offline', '--no-audit', '--no-fund', tarball);
      return project;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** npm is a script for the Node that is first on the path; the repository's own Node does not include it. */
function npm(cwd: string, ...args: string[]): void {
  execFileSync('npm', [...args, '--silent'], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
}

/** The runtimes on this machine by name, and why the others are skipped. */
export function runtimes(): { name: string; command: string[]; skip: string | false }[] {
  const found = (command: string) => {
    try {
      return execFileSync(command, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch {
      return undefined;
    }
  };
  const nodes = new Map([[process.version, process.execPath]]);
  for (const path of (process.env.PATH ?? '').split(':')) {
    const version = found(join(path, 'node'));
    if (version !== undefined && !nodes.has(version)) nodes.set(version, join(path, 'node'));
  }
  const others: [string, string[]][] = [
    ['Bun', ['bun']],
    ['Deno', ['deno', 'run', '--quiet', '--allow-net', '--allow-env', '--allow-read', '--node-modules-dir=manual']],
  ];
  return [
    ...[...nodes].map(([version, path]) => ({ name: `Node ${version}`, command: [path], skip: false as const })),
    ...others.map(([name, command]) => ({
      name,
      command,
      skip: found(command[0] ?? '') === undefined && `${command[0]} is not installed`,
    })),
  ];
}
