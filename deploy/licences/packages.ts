/**
 * The packages of others that reach an institution: what runs the service, and what the pages in the browser are built from. Read from the
 * lock file, so the list is the same on every platform.
 */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

/** A package of the lock file. */
export interface LockedPackage {
  /** Its folder below the repository. */
  path: string;
  name: string;
  version: string;
  /** An SPDX expression, as the package declares it. */
  licence: string | undefined;
  /** The archive's digest, as in subresource integrity: `sha512-` and base64. */
  integrity: string | undefined;
  /** It is installed on some platforms only. */
  platform: boolean;
  /** It is part of the pages in the browser, and not of what runs. */
  browser: boolean;
}

interface LockEntry {
  name?: string;
  version?: string;
  license?: string;
  integrity?: string;
  dev?: boolean;
  devOptional?: boolean;
  link?: boolean;
  os?: string[];
  cpu?: string[];
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

const FOLDER = 'node_modules/';

/** Packages that reach an institution, by name and version. @throws Error where the pages import a package that the lock file lacks */
export function shippedPackages(): LockedPackage[] {
  const lock: { packages: Record<string, LockEntry> } = JSON.parse(read('package-lock.json'));
  const entries = lock.packages;
  const browser = reachedFrom(entries, importsOfPages());
  const shipped: LockedPackage[] = [];
  for (const [path, entry] of Object.entries(entries)) {
    const runs = path.startsWith(FOLDER) && !entry.dev && !entry.devOptional;
    if (entry.link || !(runs || browser.has(path)) || entry.version === undefined) continue;
    shipped.push({
      path,
      name: entry.name ?? path.slice(path.lastIndexOf(FOLDER) + FOLDER.length),
      version: entry.version,
      licence: entry.license,
      integrity: entry.integrity,
      platform: entry.os !== undefined || entry.cpu !== undefined,
      browser: !runs,
    });
  }
  return shipped.sort((a, b) => order(a.name, b.name) || order(a.version, b.version) || order(a.path, b.path));
}

/** A file of the repository, as text. */
export function read(path: string): string {
  return readFileSync(`${REPOSITORY}${path}`, 'utf8');
}

/** Names of the packages that the pages import. What a page shows as code is no import. */
function importsOfPages(): Set<string> {
  const names = new Set<string>();
  for (const path of globSync('pages/**/*.{ts,tsx}', {
    cwd: REPOSITORY,
    exclude: ['pages/dist/**', 'pages/vite.config.ts'],
  }))
    for (const [, name] of read(path).matchAll(
      /^(?:import|export|\}).* from '((?:@[\w.-]+\/)?[\w-][\w.-]*)[^'\n]{0,100}'/gm,
    ))
      if (name !== undefined && !name.startsWith('node:')) names.add(name);
  return names;
}

/** Paths of packages and of all that they need, found as Node finds them. */
function reachedFrom(entries: Record<string, LockEntry>, names: Set<string>): Set<string> {
  const reached = new Set<string>();
  const waiting = [...names].map((name) => `${FOLDER}${name}`);
  for (const path of waiting)
    if (!entries[path]) throw new Error(`package-lock.json has no ${path}, which the pages import`);
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    const { dependencies = {}, peerDependencies = {} } = entries[path] ?? {};
    for (const name of Object.keys({ ...dependencies, ...peerDependencies })) {
      const found = foundFrom(entries, path, name);
      if (found !== undefined) waiting.push(found);
    }
  }
  return reached;
}

function foundFrom(entries: Record<string, LockEntry>, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf(`/${FOLDER}`)))) {
    const path = folder === '' ? `${FOLDER}${name}` : `${folder}/${FOLDER}${name}`;
    if (entries[path]) return path;
    if (folder === '') return undefined;
  }
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
