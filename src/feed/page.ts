import { isDistributed, isPoolOfCells, poolOf } from '../database/cells/pool.ts';
import { NUMBERS_OF_CELL } from '../database/cells/scope.ts';
import type { Db, Pool } from '../database/database.ts';
import type { Kind } from '../database/kinds.ts';
import type { Cursors, FeedCell } from './cursor.ts';
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

/** A row of the changes that have copies, or a cell whose changes have none. */
type RecentRow = (PageRow & { cell: null }) | { position: number; body: null; cell: number };

/** Reads a page of the feed. It finds the place of each transaction through the order, and its changes by key: no count, no offset. */
export async function readPage(db: Db, cursors: Cursors, request: PageRequest): Promise<ChangePage> {
  const { after, last, limit } = request;
  const filtered = isFiltered(request);
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
  const { lines: found, cells } = await recentLines(db, part);
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

/** The transactions `o` with changes after position `$1` and up to `$2`. @param joined what they are joined with */
const section = (joined = '') => `from change_order o ${joined}
  where o.position >= coalesce((select position from change_order where position <= $1::bigint + 1 order by position desc limit 1), 0)
    and o.position <= $2`;

/** Which rows of the changes `c` of a transaction `o` may have some that a reader wants. */
const wanted = (
  filtered: boolean,
) => `c.place + c.changes > $1::bigint - o.position + 1 and c.place <= $2::bigint - o.position
  ${filtered ? 'and ($3::text is null or c.client_ids @> array[$3::text]) and ($4::text[] is null or c.entities && $4)' : ''}`;

const looked = (table: string, filtered: boolean) =>
  `cross join lateral (select place, body from ${table} c where c.batch = o.batch and ${wanted(filtered)}) c`;

/**
 * The lines that have a copy next to the order, and the cells that have those without. One statement finds both, because copies are made and
 * deleted at any time.
 */
async function recentLines(pool: Pool, part: Part): Promise<{ lines: PlacedLine[]; cells: FeedCell[] }> {
  const filtered = isFiltered(part);
  const { rows } = await poolOf(pool, 0).query<RecentRow>({
    name: `changes_recent-page-${filtered}`,
    text: `with o as materialized (select o.position, o.batch ${section()})
      select o.position + c.place as position, c.body, null as cell from o ${looked('changes_recent', filtered)}
      union all
      select min(o.position), null, o.batch / ${NUMBERS_OF_CELL} from o
      where not exists (select from changes_recent r where r.batch = o.batch) group by 3
      order by 1`,
    values: valuesOf(part),
  });
  const cells = rows.flatMap(({ cell, position }) => (cell === null ? [] : [{ pool: poolOf(pool, cell), position }]));
  return {
    lines: linesOf(
      rows.flatMap((row) => (row.cell === null ? [row] : [])),
      part,
    ),
    cells,
  };
}

async function linesIn(db: Db, part: Part): Promise<PlacedLine[]> {
  const filtered = isFiltered(part);
  const joined = isDistributed(db);
  const { rows } = await db.query<PageRow>({
    name: `changes-page-${filtered}${joined ? '-joined' : ''}`,
    // Citus can join the order with a cell on a worker, but it does no look-ups there for each row.
    text: `select o.position + c.place as position, c.body
      ${section(joined ? `join changes c on c.batch = o.batch and ${wanted(filtered)}` : looked('changes', filtered))}
      order by o.position, c.place`,
    values: valuesOf(part),
  });
  return linesOf(rows, part);
}

function isFiltered({ clientId, entities }: Wanted): boolean {
  return clientId !== undefined || entities !== undefined;
}

function valuesOf(part: Part): unknown[] {
  const { after, until, clientId, entities } = part;
  return [after, until, ...(isFiltered(part) ? [clientId ?? null, entities ?? null] : [])];
}

function linesOf(rows: readonly PageRow[], { after, until, clientId, entities }: Part): PlacedLine[] {
  return rows.flatMap(({ position: first, body }) =>
    body
      .split('\n')
      .map((line, index) => ({ position: first + index, line }))
      .filter(({ position, line }) => position > after && position <= until && isWanted(line, { clientId, entities })),
  );
}
