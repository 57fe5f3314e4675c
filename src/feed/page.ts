import { isDistributed, isPoolOfCells, poolOf } from '../database/cells/pool.ts';
import type { Db } from '../database/database.ts';
import type { Kind } from '../database/kinds.ts';
import { type Cursors, cellsBetween } from './cursor.ts';
import { isWanted, type Wanted, withCursor } from './line.ts';

/** The most changes that a page examines for a filter, so that a page costs the same however rare the wanted changes are. */
const MAX_SEARCHED_CHANGES = 20_000;
/** The number of changes that one statement examines for a filter. */
const MIN_SEARCHED_CHANGES = 4_000;

export interface PageRequest {
  /** The page starts after this position. */
  after: number;
  /** The newest published position. */
  last: number;
  limit: number;
  clientId?: string | undefined;
  entities?: Kind[] | undefined;
}

/** A page of the feed as JSON text. */
export interface ChangePage {
  changes: string[];
  /** The position after which the next page starts. */
  position: number;
  /** Whether there are already more changes. */
  more: boolean;
}

interface PageRow {
  /** The position of its first change. */
  position: number;
  body: string;
}

/** Reads a page of the feed. It finds the place of each transaction through the order, and its changes by key: no count, no offset. */
export async function readPage(db: Db, cursors: Cursors, request: PageRequest): Promise<ChangePage> {
  const { after, last, limit } = request;
  const filtered = request.clientId !== undefined || request.entities !== undefined;
  const end = Math.min(last, after + (filtered ? MAX_SEARCHED_CHANGES : limit));
  const window = filtered ? Math.max(limit, MIN_SEARCHED_CHANGES) : limit;
  const changes: string[] = [];
  for (let from = after; from < end; from += window) {
    const until = Math.min(end, from + window);
    const { lines, end: read } = await readLines(db, { ...request, after: from, until });
    for (const { position, line } of lines) {
      changes.push(withCursor(line, cursors.write(position)));
      if (changes.length === limit) return { changes, position, more: position < last };
    }
    if (read < until) return { changes, position: read, more: true };
  }
  return { changes, position: end, more: end < last };
}

interface Part extends Wanted {
  after: number;
  until: number;
}

interface PlacedLine {
  position: number;
  line: string;
}

/**
 * The lines that a reader wants, after one position and up to another. `end`: how far they could be read. The feed has one order, so it
 * stops at the first change of a cell that does not answer, unless there is a copy (publisher.ts).
 * @throws if that is the very next change
 */
async function readLines(db: Db, part: Part): Promise<{ lines: PlacedLine[]; end: number }> {
  if (!isPoolOfCells(db)) return { lines: await linesIn(db, part), end: part.until };
  // Copies are read first. If some are deleted meanwhile, the cells are read instead.
  const found = await linesIn(poolOf(db, 0), part, 'changes_recent');
  const cells = await cellsBetween(db, part, { recent: false });
  const asked = await Promise.allSettled(cells.map((cell) => linesIn(cell.pool, part)));
  let end = part.until;
  for (const [index, { position }] of cells.entries()) {
    const answer = asked[index];
    if (answer?.status === 'fulfilled') found.push(...answer.value);
    else if (position - 1 <= part.after) throw answer?.reason;
    else end = Math.min(end, position - 1);
  }
  const lines = found.filter(({ position }) => position <= end).sort((a, b) => a.position - b.position);
  return { lines: lines.filter(({ position }, index) => position !== lines[index - 1]?.position), end };
}

async function linesIn(db: Db, { after, until, clientId, entities }: Part, table = 'changes'): Promise<PlacedLine[]> {
  const filtered = clientId !== undefined || entities !== undefined;
  const joined = isDistributed(db);
  const wanted = `c.place + c.changes > $1::bigint - o.position + 1 and c.place <= $2::bigint - o.position
    ${filtered ? 'and ($3::text is null or c.client_ids @> array[$3::text]) and ($4::text[] is null or c.entities && $4)' : ''}`;
  const { rows } = await db.query<PageRow>({
    name: `${table}-page-${filtered}${joined ? '-joined' : ''}`,
    // Citus can join the order with a cell on a worker, but it does no look-ups there for each row.
    text: `select o.position + c.place as position, c.body from change_order o ${
      joined
        ? `join ${table} c on c.batch = o.batch and ${wanted}`
        : `cross join lateral (select place, body from ${table} c where c.batch = o.batch and ${wanted}) c`
    }
      where o.position >= coalesce((select position from change_order where position <= $1::bigint + 1 order by position desc limit 1), 0)
        and o.position <= $2
      order by o.position, c.place`,
    values: [after, until, ...(filtered ? [clientId ?? null, entities ?? null] : [])],
  });
  return rows.flatMap(({ position: first, body }) =>
    body
      .split('\n')
      .map((line, index) => ({ position: first + index, line }))
      .filter(({ position, line }) => position > after && position <= until && isWanted(line, { clientId, entities })),
  );
}
