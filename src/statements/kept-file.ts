import { Readable } from 'node:stream';
import { type Db, first, type Pool, transaction } from '../database/database.ts';
import type { Clock } from '../values/calendar.ts';
import { Problem } from '../values/errors.ts';
import { isUuid } from '../values/identifiers.ts';
import { nameFile } from './file.ts';
import { recordSent, type StatementDelivery } from './queue.ts';
import type { StatementFormat } from './request.ts';
import type { Spool } from './spool.ts';

/** Files of statements that clients fetch. They are stored in the database, in parts, so that any process can answer. */

const KEPT_MS = 7 * 86_400_000;
const PART_BYTES = 1_048_576;
/** The number of statements whose files one run removes. */
const MAX_CLEARED = 100;

/** Stores the file of a delivery, replacing an earlier one, and records that it is there. */
export async function keepFile(pool: Pool, delivery: StatementDelivery, spool: Spool, clock: Clock): Promise<void> {
  const { client_id: clientId, statement_id: id } = delivery;
  await transaction(pool, async (tx) => {
    await tx.query('delete from statement_files where client_id = $1 and statement_id = $2', [clientId, id]);
    let place = 0;
    for await (const bytes of inParts(spool.stream())) {
      await tx.query('insert into statement_files (client_id, statement_id, place, bytes) values ($1, $2, $3, $4)', [
        ...[clientId, id, place, bytes],
      ]);
      place += 1;
    }
    await recordSent(tx, delivery, clock.now());
  });
}

async function* inParts(content: Readable): AsyncGenerator<Buffer> {
  let gathered: Buffer[] = [];
  let size = 0;
  for await (const chunk of content) {
    gathered.push(chunk);
    size += chunk.length;
    if (size < PART_BYTES) continue;
    yield Buffer.concat(gathered);
    gathered = [];
    size = 0;
  }
  yield Buffer.concat(gathered);
}

/** A file that is ready, or the progress of one that is not. */
type Found =
  | { filename: string; contentType: string; size: number; content: Readable }
  | { status: 'queued' | 'running' };

interface Row {
  status: string;
  finished_at: Date | null;
  format: StatementFormat;
  date_from: string;
  date_to: string;
  parts: number;
  size: number;
}

/**
 * The file of a statement that a client has requested.
 * @param wanted `accountId`: the currency account of the statement
 * @throws Problem statement_not_found, also if it could not be made, and after seven days
 */
export async function findFile(
  db: Db,
  { clientId, accountId, id }: { clientId: string; accountId: number; id: string },
  now: Date,
): Promise<Found> {
  const row = isUuid(id)
    ? first(
        await db.query<Row & Record<string, unknown>>({
          name: 'statement-file',
          text: `select d.status, d.finished_at, r.format, r.date_from, r.date_to, f.parts, f.size
            from statement_requests r
            join statement_sections s on s.client_id = $1 and s.statement_id = r.statement_id and s.currency_account_id = $3
            join statement_deliveries d on d.client_id = $1 and d.statement_id = r.statement_id and d.channel = 'file'
            cross join lateral (select count(*)::int as parts, coalesce(sum(octet_length(f.bytes)), 0)::bigint as size
              from statement_files f where f.client_id = $1 and f.statement_id = r.statement_id) f
            where r.client_id = $1 and r.statement_id = $2`,
          values: [clientId, id, accountId],
        }),
      )
    : undefined;
  const refuse = (message: string) => new Problem('statement_not_found', { field: 'statement_id', message });
  if (!row) throw refuse('does not exist for this account');
  const { status, finished_at: ended, parts, size } = row;
  if (status === 'failed') throw refuse('could not be made');
  if (status !== 'sent') return { status: status === 'requested' ? 'queued' : 'running' };
  if (parts === 0 || (ended && now.getTime() - ended.getTime() >= KEPT_MS)) throw refuse('was kept for 7 days');
  const named = nameFile({ clientId, dateFrom: row.date_from, dateTo: row.date_to, format: row.format });
  return { ...named, size, content: Readable.from(read(db, { clientId, id, parts }), { objectMode: false }) };
}

async function* read(db: Db, { clientId, id, parts }: { clientId: string; id: string; parts: number }) {
  for (let place = 0; place < parts; place += 1) {
    const found = await db.query<{ bytes: Buffer }>({
      name: 'statement-file-part',
      text: 'select bytes from statement_files where client_id = $1 and statement_id = $2 and place = $3',
      values: [clientId, id, place],
    });
    const part = first(found);
    if (!part) throw new Error('a part of a kept statement is gone');
    yield part.bytes;
  }
}

/** Removes files that are seven days old. */
export async function clearFiles(db: Db, now: Date): Promise<void> {
  await db.query(
    `with old as materialized (
       select f.client_id, f.statement_id from (select distinct client_id, statement_id from statement_files) f
       join statement_deliveries d on d.client_id = f.client_id and d.statement_id = f.statement_id and d.channel = 'file'
       where d.finished_at <= $1 limit ${MAX_CLEARED})
     delete from statement_files f using old o where f.client_id = o.client_id and f.statement_id = o.statement_id`,
    [new Date(now.getTime() - KEPT_MS)],
  );
}
