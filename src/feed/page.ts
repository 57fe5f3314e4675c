import type { ChangeEntity } from '../change.ts';
import type { Db } from '../database.ts';
import type { Cursors } from './cursor.ts';
import { isWanted, type Wanted, withCursor } from './line.ts';

/** Changes that a page looks through for those that a filter wants: a page costs the same however rare they are. */
const MAX_SEARCHED_CHANGES = 20_000;
/** Changes that one statement looks through for a filter. */
const MIN_SEARCHED_CHANGES = 4_000;

export interface PageRequest {
  /** The page begins after this position. */
  after: number;
  /** The newest published position. */
  last: number;
  limit: number;
  clientId?: string | undefined;
  entities?: ChangeEntity[] | undefined;
}

/** A page of the feed as JSON text. */
export interface ChangePage {
  changes: string[];
  /** The position after which the next page begins. */
  position: number;
  /** Whether there is already more. */
  more: boolean;
}

interface PageRow {
  /** Of its first change. */
  position: number;
  body: string;
}

/** Reads a page of the feed. Each transaction's place is found by the order, and its changes by their key: no count, no offset. */
export async function readPage(db: Db, cursors: Cursors, request: PageRequest): Promise<ChangePage> {
  const { after, last, limit } = request;
  const filtered = request.clientId !== undefined || request.entities !== undefined;
  const end = Math.min(last, after + (filtered ? MAX_SEARCHED_CHANGES : limit));
  const window = filtered ? Math.max(limit, MIN_SEARCHED_CHANGES) : limit;
  const changes: string[] = [];
  for (let from = after; from < end; from += window) {
    const until = Math.min(end, from + window);
    for (const { position, line } of await readLines(db, { ...request, after: from, until })) {
      changes.push(withCursor(line, cursors.write(position)));
      if (changes.length === limit) return { changes, position, more: position < last };
    }
  }
  return { changes, position: end, more: end < last };
}

/** The lines that a reader wants, after one position and up to another. */
async function readLines(
  db: Db,
  { after, until, clientId, entities }: { after: number; until: number } & Wanted,
): Promise<{ position: number; line: string }[]> {
  const filtered = clientId !== undefined || entities !== undefined;
  const { rows } = await db.query<PageRow>({
    name: `change-page-${filtered}`,
    text: `select o.position + c.place as position, c.body from change_order o cross join lateral (
        select place, body from changes where batch = o.batch and place + changes > $1::bigint - o.position + 1 and place <= $2::bigint - o.position
          ${filtered ? 'and ($3::text is null or client_ids @> array[$3::text]) and ($4::text[] is null or entities && $4)' : ''}) c
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
