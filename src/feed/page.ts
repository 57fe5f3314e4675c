import type { ChangeEntity } from '../change.ts';
import type { Db } from '../database.ts';
import type { Cursors } from './cursor.ts';

/** Changes that a page looks through for those that a filter wants: a page costs the same however rare they are. */
const MAX_SEARCHED_CHANGES = 20_000;

export interface PageRequest {
  /** The page begins behind this position. */
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
  /** The position behind which the next page begins. */
  position: number;
  /** Whether there is more behind it already. */
  more: boolean;
}

interface PageRow {
  position: number;
  at: Date;
  entity: string;
  entity_id: string;
  client_id: string | null;
  version: number;
  action: string;
  actor: string;
  request_id: string;
  data: string;
}

/** Reads a page of the feed. Each transaction's place is found by the order, and its changes by their key: no count, no offset. */
export async function readPage(db: Db, cursors: Cursors, request: PageRequest): Promise<ChangePage> {
  const { after, last, limit, clientId, entities } = request;
  const filtered = clientId !== undefined || entities !== undefined;
  const end = filtered ? Math.min(last, after + MAX_SEARCHED_CHANGES) : last;
  const { rows } = await db.query<PageRow>({
    name: `change-page-${filtered}`,
    text: `select o.position + c.place as position, c.at, c.entity, c.entity_id, c.client_id, c.version, c.action, c.actor, c.request_id, c.data
      from change_order o cross join lateral (
        select * from changes c where c.batch = o.batch and c.place > $1::bigint - o.position and c.place <= $2::bigint - o.position
          ${filtered ? `and ($4::text is null or c.client_id = $4 or c.members @> array[$4::text]) and ($5::text[] is null or c.entity = any($5))` : ''}
        order by c.place limit $3) c
      where o.position >= coalesce((select position from change_order where position <= $1::bigint + 1 order by position desc limit 1), 0)
        and o.position <= $2
      order by o.position, c.place limit $3`,
    values: [after, end, limit, ...(filtered ? [clientId ?? null, entities ?? null] : [])],
  });
  const full = rows.length === limit;
  const position = full ? (rows.at(-1)?.position ?? end) : end;
  return { changes: rows.map((row) => shown(row, cursors)), position, more: position < last };
}

/** A change as JSON text; its record is JSON text already. */
function shown({ position, data, ...change }: PageRow, cursors: Cursors): string {
  const { at, ...rest } = change;
  const head = JSON.stringify({ cursor: cursors.write(position), at: at.toISOString(), ...rest });
  return `${head.slice(0, -1)},"data":${data}}`;
}
