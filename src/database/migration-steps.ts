import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from '../process/log.ts';
import { codeOf, isOneOf } from '../values/unknown.ts';
import type { Migration } from './schema.ts';

/**
 * How a part of a migration runs (CONTRIBUTING.md, Migrations):
 * - `transaction`: all its statements together;
 * - `concurrently`: one statement outside a transaction, `create index concurrently` or `drop index concurrently`;
 * - `batches`: one statement, each time in a transaction of its own, until it changes no row.
 */
const KINDS = ['transaction', 'concurrently', 'batches'] as const;

export interface MigrationStep {
  kind: (typeof KINDS)[number];
  sql: string;
}

/** A step of a migration for a further cell (cells/migrations.ts). */
export interface CellStep {
  /** Names the step for a person. */
  name: string;
  /** `set search_path`, with the cell's schema first. */
  path: string;
  kind: MigrationStep['kind'];
  /** A transaction has any number of statements. Other steps have one, or none if the step does not concern cells. */
  statements: string[];
  /** The statement that records the step as done. */
  mark: string;
}

/**
 * How long a statement of a migration may wait for a lock. Every later statement on the table waits behind it, so it gives up soon and the
 * step is tried again.
 */
const LOCK_TIMEOUT_MS = 2_000;
const LOCK_ATTEMPTS = 30;
const RETRY_AFTER_MS = 1_000;
/** Between two batches, other transactions get the rows and the disk. */
const BATCH_PAUSE_MS = 10;
/** lock_not_available, deadlock_detected */
const RETRIED = new Set(['55P03', '40P01']);

/** Records which steps of an interrupted migration are done. */
export const STEPS_TABLE = `create table if not exists migration_steps (
  number int not null, step int not null, sha256 text not null, primary key (number, step))`;

const MARK = /^-- Step: (\w+)$/m;
const INDEX = /^(create (?:unique )?index concurrently (\w+) on|drop index concurrently if exists (\w+))\b/i;

/** The steps of a migration. A line `-- Step: batches` begins a step. Everything before the first such line is a transaction. */
export function stepsOf({ name, sql }: Pick<Migration, 'name' | 'sql'>): MigrationStep[] {
  const [first = '', ...rest] = sql.split(MARK);
  const steps: MigrationStep[] = [];
  if (statements(first) !== '') steps.push({ kind: 'transaction', sql: first });
  for (let at = 0; at < rest.length; at += 2) {
    const [kind, text = ''] = rest.slice(at);
    if (!isOneOf(KINDS, kind))
      throw new Error(`migration ${name}: -- Step: must be ${KINDS.join(', ')}, not "${kind}"`);
    const single = statements(text).replace(/;$/, '');
    if (kind !== 'transaction' && single.includes(';'))
      throw new Error(`migration ${name}: a step ${kind} has one statement`);
    if (kind === 'concurrently' && !INDEX.test(single))
      throw new Error(`migration ${name}: a step concurrently creates an index by its name, or drops one if it exists`);
    steps.push({ kind, sql: kind === 'transaction' ? text : single });
  }
  return steps;
}

function statements(sql: string): string {
  return sql.replace(/^\s*--.*$/gm, '').trim();
}

/** Runs the steps of a migration that are not done yet. The last step records the migration. @param progress `level` of its lines */
export async function applySteps(
  client: pg.Client,
  migration: Migration,
  { log, level }: { log: Logger; level: 'debug' | 'info' },
): Promise<void> {
  const steps = stepsOf(migration);
  const done = await stepsDone(client, migration);
  for (const [index, step] of steps.entries()) {
    if (done.has(index)) continue;
    const mark = index === steps.length - 1 ? record(client, migration) : recordStep(client, migration, index);
    await withRetries(migration.name, log, () => RUN[step.kind](client, [step.sql], mark));
    if (steps.length > 1)
      log[level]({ migration: migration.name, step: index + 1, of: steps.length }, 'a step is done');
  }
}

/** Runs a step of a further cell. */
export async function applyCellStep(
  client: pg.Client,
  { name, path, kind, statements, mark }: CellStep,
  log: Logger,
): Promise<void> {
  await client.query(path);
  await withRetries(name, log, () => RUN[kind](client, statements, mark));
}

/** A step as SQL, for an administrator's psql. */
export function printCellStep({ path, kind, statements, mark }: CellStep): string {
  const end = kind === 'batches' ? '' : ';';
  return `${path};\n${printStep(kind, statements.map((sql) => sql + end).join('\n'), `${mark};`)}`;
}

/** A migration's steps as SQL, for an administrator's psql. */
export function printSteps(client: pg.Client, migration: Migration): string {
  const steps = stepsOf(migration);
  const printed = steps.map(({ kind, sql }, index) => {
    const mark = index === steps.length - 1 ? `${record(client, migration)};` : '';
    return printStep(kind, kind === 'concurrently' ? `${sql};` : sql.trimEnd(), mark);
  });
  return printed.join('\n');
}

/** @param sql its statements, each with its semicolon; for `batches` one without it, or nothing */
function printStep(kind: MigrationStep['kind'], sql: string, mark: string): string {
  const end = mark && `${mark}\n`;
  if (kind === 'transaction') return `begin;\n${sql}\n${end}commit;\n`;
  if (sql === '') return end;
  return (kind === 'batches' ? batches(sql) : `${sql}\n`) + end;
}

function batches(sql: string): string {
  const body = `loop ${sql};\nget diagnostics changed = row_count; commit; exit when changed = 0; end loop;`;
  return `do $batches$ declare changed bigint; begin\n${body}\nend $batches$;\n`;
}

/** @param statements one, unless the step is a transaction; none if it does not concern a cell */
type Run = (client: pg.Client, statements: readonly string[], mark: string) => Promise<void>;

/** Runs a statement of a step. @throws the error of the database, with the text of the `statement` */
function say(client: pg.Client, sql: string): Promise<pg.QueryResult> {
  return client.query(sql).catch((error: Error) => {
    throw Object.assign(error, { statement: sql });
  });
}

const RUN: Record<MigrationStep['kind'], Run> = {
  transaction: (client, statements, mark) =>
    inTransaction(client, async () => {
      for (const sql of statements) await say(client, sql);
      await client.query(mark);
    }),
  // Such a statement waits for others without blocking anyone, so it may wait.
  concurrently: async (client, statements, mark) => {
    await client.query('set lock_timeout = 0');
    for (const sql of statements) {
      const [, , created] = INDEX.exec(sql) ?? [];
      const state = created === undefined ? 'none' : await indexState(client, created);
      if (state === 'invalid') await client.query(`drop index concurrently ${created}`);
      if (state !== 'valid') await say(client, sql);
    }
    await client.query(mark);
  },
  batches: async (client, statements, mark) => {
    for (const sql of statements) {
      for (let changed = 1; changed > 0; ) {
        changed = await inTransaction(client, async () => (await say(client, sql)).rowCount ?? 0);
        await pause(BATCH_PAUSE_MS);
      }
    }
    await client.query(mark);
  },
};

async function inTransaction<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  await client.query(`begin; set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

/** The state of an index. An index whose creation was interrupted stays behind and is useless. */
async function indexState(client: pg.Client, name: string): Promise<'none' | 'invalid' | 'valid'> {
  const { rows } = await client.query<{ valid: boolean }>(
    "select indisvalid as valid from pg_index where indexrelid = to_regclass(format('%I.%I', current_schema(), $1::text))",
    [name],
  );
  if (!rows[0]) return 'none';
  return rows[0].valid ? 'valid' : 'invalid';
}

async function withRetries(migration: string, log: Logger, work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!RETRIED.has(codeOf(error) ?? '') || attempt === LOCK_ATTEMPTS) throw error;
      log.warn({ migration, attempt }, 'a migration waits for a lock; it is tried again');
      await pause(RETRY_AFTER_MS);
    }
  }
}

/** The steps of a migration that are done. @throws Error if they belong to a migration with other content */
async function stepsDone(client: pg.Client, { number, name, sha256 }: Migration): Promise<Set<number>> {
  const { rows } = await client.query<{ step: number; sha256: string }>(
    'select step, sha256 from migration_steps where number = $1',
    [number],
  );
  if (rows.some((row) => row.sha256 !== sha256))
    throw new Error(`migration ${name} was begun with different content: restore the file`);
  return new Set(rows.map((row) => row.step));
}

function recordStep(client: pg.Client, { number, sha256 }: Migration, step: number): string {
  return `insert into migration_steps (number, step, sha256) values (${number}, ${step}, ${client.escapeLiteral(sha256)})`;
}

function record(client: pg.Client, { number, name, sha256, oldestProgram }: Migration): string {
  return `insert into migrations (number, name, sha256, oldest_program)
    values (${number}, ${client.escapeLiteral(name)}, ${client.escapeLiteral(sha256)}, ${oldestProgram})`;
}
