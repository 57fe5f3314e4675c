import { overCells } from '../database/cells/union.ts';
import type { Db } from '../database/database.ts';
import { KEYED_CONTENT, keyedLink, mac, markOf, UNKEYED_CONTENT, unkeyedLink } from './chain.ts';
import type { ChainKey } from './key.ts';
import { momentText, readRows } from './rows.ts';

/** The number of rows that one statement reads. */
const BATCH_ROWS = 5_000;

/** A fault of the trail, and its place. */
export interface Fault {
  what:
    | 'row_changed'
    | 'row_missing'
    | 'row_added'
    | 'link_changed'
    | 'rows_cut'
    | 'head_forged'
    | 'head_differs'
    | 'key_missing'
    | 'key_replaced';
  position: number | null;
  /** The id of the row, if there is one. */
  id: number | null;
  message: string;
}

/** A link of the chain with the row that it seals. */
export interface LinkedRow {
  position: number;
  id: number;
  hash: Buffer;
  at: string;
  /** The copies that lists filter by. `misdated`: whether the copy of the moment differs from the chain. */
  copies: string;
  misdated: boolean;
  /** Null if the row does not exist. */
  content: string | null;
  /** Proof that the service replaced the row because a person was erased; null if it did not. */
  erasure: Buffer | null;
}

interface RowContent {
  id: number;
  content: string;
  copies: string;
}

const copiesOf = (row: string) =>
  `json_build_array(${row}.entity, ${row}.entity_id, ${row}.client_id, ${row}.actor)::text`;

/** Positions have no gaps, so no batch covers more positions than it has rows. */
const LINKS = `select c.position, c.audit_id as id, c.hash, c.at, c.latest_at, c.late, ${copiesOf('c')} as copies, e.mac as erasure
  from audit_chain c left join audit_erasures e on e.audit_id = c.audit_id where c.position between $1 and $2`;

/** The next links after a position, in order, up to `end`. */
export async function readLinks(
  db: Db,
  { key, after, end }: { key: ChainKey | undefined; after: number; end: number },
): Promise<LinkedRow[]> {
  const unkeyed = key === undefined || after < key.unkeyed;
  const until = unkeyed && key ? Math.min(end, key.unkeyed) : end;
  const { rows } = await db.query<Omit<LinkedRow, 'content'>>(
    `select * from (
       select position, id, hash, ${momentText('at')} as at, copies, erasure,
         late <> (at < latest_at - interval '24 hours')
           or (lag(position) over w is not null or position = 1) and latest_at <> greatest(at, lag(latest_at) over w) as misdated
       from ${overCells(db, 'audit_chain', LINKS)} c window w as (order by position)) c
     where position > $1 order by position`,
    [after, Math.min(until, after + BATCH_ROWS)],
  );
  const columns = `a.id, ${unkeyed ? UNKEYED_CONTENT : KEYED_CONTENT} as content, ${copiesOf('a')} as copies`;
  const found = await readRows<RowContent>(db, rows, { columns });
  const byId = new Map<number, RowContent>();
  for (const row of found) {
    const twin = byId.get(row.id);
    // A second row in the same place is not what was sealed, whichever of the two is.
    byId.set(row.id, twin ? { ...row, content: twin.content + row.content } : row);
  }
  return rows.map((row) => {
    const content = byId.get(row.id);
    return { ...row, content: content?.content ?? null, misdated: row.misdated || content?.copies !== row.copies };
  });
}

/** The hash that a link should have. */
function expected(key: ChainKey | undefined, previous: Buffer, { position, content }: LinkedRow): Buffer {
  if (!key || position <= key.unkeyed) return unkeyedLink(previous, content ?? '');
  return keyedLink(key, previous, { position, mark: markOf(key, content ?? '') });
}

/** Proof that the service replaced the content of a row whose link was correct. */
export function erasureMac(key: ChainKey, row: LinkedRow, before: { hash: Buffer }, mark: Buffer): Buffer {
  return mac(key, 'erasure', `${row.position}:${row.id}:`, before.hash, row.hash, mark);
}

function isErased(key: ChainKey | undefined, row: LinkedRow, before: { hash: Buffer }): boolean {
  if (!key || !row.erasure || row.content === null) return false;
  return row.erasure.equals(erasureMac(key, row, before, markOf(key, row.content)));
}

/** What is wrong with a link; undefined if nothing is. @param before the link before it */
export async function faultOfLink(
  db: Db,
  key: ChainKey | undefined,
  { row, before }: { row: LinkedRow; before: { position: number; hash: Buffer } },
): Promise<Fault | undefined> {
  const { position, id } = row;
  if (position !== before.position + 1) return missingLink(before.position + 1);
  if (row.content === null)
    return {
      what: 'row_missing',
      position,
      id,
      message: `row ${id} at position ${position} was removed from the trail`,
    };
  const right = row.hash.equals(expected(key, before.hash, row)) || isErased(key, row, before);
  if (!right) return changed(db, key, row);
  if (position === key?.unkeyed && !row.hash.equals(key.anchor))
    return linkChanged(row, 'the rows from before the chain had a key were made again');
  if (row.misdated) return linkChanged(row, 'what lists filter by is not what the row says');
  return undefined;
}

export function missingLink(position: number): Fault {
  return {
    what: 'row_missing',
    position,
    id: null,
    message: `the row at position ${position} was removed from trail and chain`,
  };
}

function linkChanged({ position, id }: LinkedRow, why: string): Fault {
  return {
    what: 'link_changed',
    position,
    id,
    message: `the link of row ${id} at position ${position} was changed: ${why}`,
  };
}

/** The next link tells what was changed. If it fits this link's hash, the row was changed; otherwise the link was too. */
async function changed(db: Db, key: ChainKey | undefined, row: LinkedRow): Promise<Fault> {
  const { position, id } = row;
  const [next] = await readLinks(db, { key, after: position, end: position + 1 });
  if (next && !next.hash.equals(expected(key, row.hash, next)))
    return linkChanged(row, 'it was not sealed so; rows were added, swapped or sealed without the key');
  return { what: 'row_changed', position, id, message: `row ${id} at position ${position} is not what was sealed` };
}
