import { readdirSync, readFileSync } from 'node:fs';
import { finished } from 'node:stream/promises';
import { zstdDecompressSync } from 'node:zlib';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { readMigrations } from '../../src/database/schema.ts';

/** The dumps from which upgrades are tested. Each has the schema and data of one release (docs/upgrading.md, At a release). */
export const DUMPS = new URL('../upgrades/dumps/', import.meta.url);
export const PAYMENTS = 100_000;
/** The key that opens the sealed secrets of a dump. */
export const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');

/** The names of the dumps, which are those of their releases. */
export function dumpNames(): string[] {
  return readdirSync(DUMPS).filter((name) => name.endsWith('.sql.zst'));
}

/** Plain SQL as pg_dump writes it: statements, and rows in the format of COPY. */
export function readDump(name: string): string {
  return zstdDecompressSync(readFileSync(new URL(name, DUMPS))).toString('utf8');
}

/**
 * Migrations whose content has changed since the dump. As long as they are in no release, no running database has the old content. Such a
 * dump is merely outdated.
 */
export async function editedSince(dump: string): Promise<string[]> {
  const block = /^COPY public\.migrations \(([^)]*)\) FROM stdin;\n([\s\S]*?)^\\\.$/m.exec(dump);
  const columns = block?.[1]?.split(', ') ?? [];
  const recorded = (block?.[2] ?? '')
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'));
  const files = new Map((await readMigrations()).map(({ name, sha256 }) => [name, sha256]));
  return recorded
    .filter((row) => files.get(row[columns.indexOf('name')] as string) !== row[columns.indexOf('sha256')])
    .map((row) => row[columns.indexOf('name')] as string);
}

/** The checksum of each released migration, by name. @param list in the format of sha256sum, with comments */
function releasedOf(list: string): Map<string, string> {
  return new Map(
    list
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => line.split(/ [ *]/).toReversed() as [string, string]),
  );
}

function newestOf(released: ReadonlyMap<string, string>): string {
  return [...released.keys()].sort().at(-1) ?? '';
}

function releasedList(): string {
  return readFileSync(new URL('../../migrations/released.sha256', import.meta.url), 'utf8');
}

/**
 * What is wrong with the migrations of releases.
 * @param list in the format of sha256sum, with comments
 * @param files the checksum of each file, by name
 */
export function releasedFaults(list: string, files: ReadonlyMap<string, string>): string[] {
  const released = releasedOf(list);
  const newest = newestOf(released);
  const faults: string[] = [];
  for (const [name, sum] of released) {
    const found = files.get(name);
    if (found === undefined) faults.push(`${name} was released, and is gone`);
    else if (found !== sum) faults.push(`${name} was edited after its release: a change goes into a new migration`);
  }
  for (const name of files.keys())
    if (name < newest && !released.has(name)) faults.push(`${name} has a number before ${newest}, which was released`);
  return faults;
}

/** The same check for the files of this checkout. */
export async function checkReleased(): Promise<string[]> {
  return releasedFaults(releasedList(), new Map((await readMigrations()).map(({ name, sha256 }) => [name, sha256])));
}

/** Names of the migrations with which the program of the last release would not work. */
export async function migrationsRefusingReleased(): Promise<string[]> {
  const last = Number(newestOf(releasedOf(releasedList())).slice(0, 4));
  return (await readMigrations()).filter(({ oldestProgram }) => oldestProgram > last).map(({ name }) => name);
}

/** Loads a dump into an empty database, on any server that the service supports. */
export async function loadDump(url: string, dump: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // A role belongs to the server, not to the database, and the dump grants to it.
    await client.query(
      `do $$ begin create role lombard_client nologin; exception when duplicate_object then null; end $$`,
    );
    await client.query('set synchronous_commit = off');
    const [first = '', ...parts] = dump.replace(/^\\(un)?restrict .*$/gm, '').split(/^(COPY .* FROM stdin;)\n/m);
    await client.query(first);
    for (let at = 0; at < parts.length; at += 2) {
      const [copy = '', text = ''] = [parts[at], parts[at + 1]];
      const end = text.startsWith('\\.\n') ? 0 : text.indexOf('\n\\.\n') + 1;
      const stream = client.query(copyFrom(copy));
      stream.end(text.slice(0, end));
      await finished(stream);
      await client.query(text.slice(end + 3));
    }
  } finally {
    await client.end();
  }
}
