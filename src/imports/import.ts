import { randomUUID } from 'node:crypto';
import { type Db, first, type Transaction } from '../database/database.ts';
import { LOCKS } from '../database/locks.ts';
import { leaveMark } from '../database/lost-commit.ts';
import { type List, type ListRequest, listRows } from '../database/rows.ts';
import { type ErrorCode, MESSAGES, Problem } from '../values/errors.ts';

export const IMPORT_STATES = ['running', 'done', 'interrupted'] as const;
export type ImportState = (typeof IMPORT_STATES)[number];

/** Days during which an import that has ended can be looked up. */
const IMPORTS_KEPT_DAYS = 90;
const DAY_MS = 86_400_000;

/** The progress of an import over all its runs. */
export interface Progress extends ImportAnswer {
  linesRead: number;
  /** SHA-256 of the request's method and address, and of its lines up to `linesRead`. */
  sha256: Buffer;
}

/** An import in the form that the institution reads (GET /imports/{import_id}). */
export interface Import extends ImportAnswer {
  import_id: string;
  kind: string;
  state: ImportState;
  lines_read: number;
  started_at: Date;
  ended_at: Date | null;
}

/** An import that runs on a connection. */
export interface OpenImport {
  importId: string;
  from: Progress;
  /** Whether an earlier run imported everything, and only its answer did not arrive. */
  done: boolean;
}

/** What opens an import. */
interface Opening {
  kind: string;
  /** Its Idempotency-Key, which the connection has claimed. */
  key: string | undefined;
  /** Whether the key already belongs to an import, which may have been interrupted. */
  known: boolean;
  /** The hash of what precedes the first line. */
  sha256: Buffer;
  now: Date;
}

/**
 * Opens an import, or reopens it if its key belongs to one that was interrupted. A session lock of the connection shows that it runs. The
 * lock ends with the connection, so an import whose process died is known to be interrupted.
 */
export async function openImport(connection: Transaction, opening: Opening): Promise<OpenImport> {
  const { kind, key, known, sha256, now } = opening;
  const former = known && key !== undefined ? await findFormer(connection, key) : undefined;
  const importId = former?.importId ?? randomUUID();
  await connection.query('select pg_advisory_lock($1, hashtext($2))', [LOCKS.import, importId]);
  if (former) {
    await connection.query(
      `update imports set state = 'running', updated_at = $2, ended_at = null where import_id = $1 and state <> 'done'`,
      [importId, now],
    );
    return former;
  }
  if (key !== undefined)
    await connection.query('update imports set idempotency_key = null where idempotency_key = $1', [key]);
  await deleteOldImports(connection, now);
  await connection.query(
    `insert into imports (import_id, kind, idempotency_key, state, lines_read, accepted, unchanged, rejected, sha256, started_at, updated_at)
     values ($1, $2, $3, 'running', 0, 0, 0, 0, $4, $5, $5)`,
    [importId, kind, key, sha256, now],
  );
  const from = { linesRead: 0, accepted: 0, unchanged: 0, rejected: 0, errors: [], sha256 };
  return { importId, from, done: false };
}

async function findFormer(db: Db, key: string): Promise<OpenImport | undefined> {
  const row = first(
    await db.query<Omit<Progress, 'errors'> & { importId: string; done: boolean }>(
      `select import_id as "importId", state = 'done' as done, lines_read as "linesRead", accepted, unchanged, rejected, sha256
       from imports where idempotency_key = $1`,
      [key],
    ),
  );
  if (!row) return undefined;
  const { importId, done, ...counts } = row;
  return { importId, done, from: { ...counts, errors: await readErrors(db, importId) } };
}

/** The id of the import with a key. */
export async function findByKey(db: Db, key: string): Promise<string | undefined> {
  const query = db.query<{ id: string }>('select import_id as id from imports where idempotency_key = $1', [key]);
  return first(await query)?.id;
}

/** Writes the progress of an import, in the transaction of its batch. @param batch the errors that it adds, and whether it is the last one */
export async function saveProgress(
  tx: Transaction,
  importId: string,
  progress: Progress,
  { errors, done, now }: { errors: LineError[]; done: boolean; now: Date },
): Promise<void> {
  await tx.query({
    name: 'import-progress',
    text: `update imports set lines_read = $2, accepted = $3, unchanged = $4, rejected = $5, sha256 = $6, updated_at = $7,
      state = case when $8 then 'done' else state end, ended_at = case when $8 then $7::timestamptz end where import_id = $1`,
    values: [
      importId,
      progress.linesRead,
      progress.accepted,
      progress.unchanged,
      progress.rejected,
      progress.sha256,
      now,
      done,
    ],
  });
  leaveMark(tx, {
    text: 'select lines_read = $2 as stands from imports where import_id = $1 for share',
    values: [importId, progress.linesRead],
  });
  if (errors.length === 0) return;
  await tx.query(
    `insert into import_errors (import_id, line, code, details)
     select $1, * from unnest($2::bigint[], $3::text[], $4::text[])`,
    [importId, errors.map(({ line }) => line), errors.map(({ code }) => code), errors.map(({ details }) => details)],
  );
}

/** Ends a run of an import. An import that is done stays done. */
export async function endImport(
  connection: Transaction,
  importId: string,
  { state, now }: { state: Exclude<ImportState, 'running'>; now: Date },
): Promise<void> {
  await connection.query(
    `update imports set state = case state when 'done' then state else $2 end, updated_at = $3, ended_at = coalesce(ended_at, $3)
     where import_id = $1`,
    [importId, state, now],
  );
  leaveMark(connection, {
    text: 'select state = $2 as stands from imports where import_id = $1 for share',
    values: [importId, state],
  });
}

/** Releases the lock that shows that an import runs. */
export async function unlockImport(connection: Transaction, importId: string): Promise<void> {
  await connection.query('select pg_advisory_unlock($1, hashtext($2))', [LOCKS.import, importId]);
}

/** Marks imports as interrupted whose process died, because nobody holds their lock. They ended with their last batch. */
async function closeLostImports(db: Db): Promise<void> {
  await db.query(
    `update imports set state = 'interrupted', ended_at = updated_at
     where state = 'running' and pg_try_advisory_xact_lock($1, hashtext(import_id))`,
    [LOCKS.import],
  );
}

const COLUMNS = 'import_id, kind, state, lines_read, accepted, unchanged, rejected, started_at, ended_at';

type ImportRow = Omit<Import, 'errors'>;

function shown({ started_at, ended_at, ...counts }: ImportRow, errors: LineError[]): Import {
  return { ...counts, errors, started_at, ended_at };
}

/** @throws Problem import_not_found */
export async function findImport(db: Db, importId: string): Promise<Import> {
  await closeLostImports(db);
  const row = first(await db.query<ImportRow>(`select ${COLUMNS} from imports where import_id = $1`, [importId]));
  if (!row) throw new Problem('import_not_found', { field: 'import_id', message: 'does not exist' });
  return shown(row, await readErrors(db, importId));
}

/** A page of imports, newest first. Their refused lines are counted, not listed. */
export async function listImports(
  db: Db,
  { kind, state, ...page }: ListRequest & { kind?: string | undefined; state?: ImportState | undefined },
): Promise<List<ImportRow>> {
  await closeLostImports(db);
  const filters = [
    ['kind = ?', kind],
    ['state = ?', state],
  ] as const;
  return listRows(db, { select: COLUMNS, from: 'imports', order: 'started_at desc, import_id', filters }, page);
}

async function readErrors(db: Db, importId: string): Promise<LineError[]> {
  const { rows } = await db.query<{ line: number; code: ErrorCode; details: string }>(
    'select line, code, details from import_errors where import_id = $1 order by line limit $2',
    [importId, MAX_ERRORS],
  );
  return rows.map(({ line, code, details }) => ({ line, code, message: MESSAGES[code], details }));
}

/** Deletes the imports that ended long ago. */
async function deleteOldImports(db: Db, now: Date): Promise<void> {
  await db.query("delete from imports where state <> 'running' and started_at < $1", [
    new Date(now.getTime() - IMPORTS_KEPT_DAYS * DAY_MS),
  ]);
}

/** The most refused lines that an answer lists. */
export const MAX_ERRORS = 1_000;

export interface LineError {
  line: number;
  code: string;
  message: string;
  details: string;
}

/** The answer of POST /imports/{kind}. */
export interface ImportAnswer {
  accepted: number;
  /** Lines whose record is already stored, with the same content. */
  unchanged: number;
  rejected: number;
  errors: LineError[];
}

/** The fields of the answer, from an object that may have more. */
export function answerOf({ accepted, unchanged, rejected, errors }: ImportAnswer): ImportAnswer {
  return { accepted, unchanged, rejected, errors };
}

/**
 * The refused lines for which an answer still has room.
 * @param listed the number of lines that it already has
 * @param place what precedes the name of a field, for example `body`
 */
export function listedErrors(listed: number, refused: [line: number, Problem][], place: string): LineError[] {
  return refused.slice(0, MAX_ERRORS - listed).map(([line, refusal]) => {
    const { code, details } = refusal.within(place);
    return { line, code, message: MESSAGES[code], details };
  });
}
