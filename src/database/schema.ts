import { readdir, readFile } from 'node:fs/promises';
import { sha256 } from '../values/crypto.ts';
import { type Db, first } from './database.ts';

/** A file of migrations/. Its number is the version of the schema that it makes. */
export interface Migration {
  number: number;
  name: string;
  sql: string;
  sha256: string;
  /** The newest schema version known to the oldest program that still works on the migrated database. */
  oldestProgram: number;
}

/** The line `-- Oldest program: 11` in a migration that older programs can live with. Without it, a program must know the migration. */
const OLDEST_PROGRAM = /^-- Oldest program: (\d+)$/m;

/** The migrations of this program, in order. */
export async function readMigrations(
  folder: URL = new URL('../../migrations/', import.meta.url),
): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}_\w+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, folder), 'utf8');
      const number = Number(name.slice(0, 4));
      const oldestProgram = Number(OLDEST_PROGRAM.exec(sql)?.[1] ?? number);
      return { number, name, sql, sha256: sha256(sql).toString('hex'), oldestProgram };
    }),
  );
}

/** The newest schema version that this program knows. */
let known: Promise<number> | undefined;

async function knownSchema(): Promise<number> {
  known ??= readMigrations().then((migrations) => migrations.at(-1)?.number ?? 0);
  return known;
}

/** Why this program cannot work with the schema of the database, in words for its operator; undefined if it can (docs/upgrading.md). */
export async function schemaFault(db: Db): Promise<string | undefined> {
  const program = await knownSchema();
  const made = first(await db.query<{ made: boolean }>("select to_regclass('migrations') is not null as made"));
  if (!made?.made)
    return `the database has no schema yet, and this program needs schema ${program}: run lombard migrate`;
  const row = first(
    await db.query<{ number: number; oldest: number }>(
      `select coalesce(max(number), 0) as number, coalesce(max(oldest_program), 0) as oldest from migrations`,
    ),
  );
  const { number, oldest } = row ?? { number: 0, oldest: 0 };
  if (number < program)
    return `the database has schema ${number}, and this program needs schema ${program}: run lombard migrate`;
  if (oldest > program)
    return `the database has schema ${number}, which needs a program of schema ${oldest} or newer; this program is of schema ${program}`;
  return undefined;
}
