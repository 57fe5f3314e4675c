import { overCells } from '../database/cells/union.ts';
import type { Db } from '../database/database.ts';
import { countRows, type Filter, type List, whereOf } from '../database/rows.ts';
import { momentText, type RowPlace, readRows } from './rows.ts';

/** A filter for rows of the trail; undefined means any. */
export interface AuditFilter {
  entity?: string | undefined;
  entityId?: string | undefined;
  clientId?: string | undefined;
  /** In the form of the rows; a token also in the form of the change feed (`token:NAME`). */
  actor?: string | undefined;
  /** Inclusive. */
  from?: Date | undefined;
  /** Exclusive. */
  to?: Date | undefined;
  /** The last position to list. If there are several cells, later links may not be in their cells yet. */
  until?: number | undefined;
}

/** A row of the trail in the form that callers see. */
export interface AuditRow {
  position: number;
  hash: string;
  id: number;
  at: Date;
  actor: string;
  request_id: string;
  action: string;
  entity: string;
  entity_id: string;
  client_id: string | null;
  before: unknown;
  after: unknown;
  reason: string | null;
  /** A person of the institution, as its OpenID provider identifies it. */
  staff: { issuer: string; subject: string } | null;
}

const COLUMNS =
  'a.id, a.at, a.actor, a.request_id, a.action, a.entity, a.entity_id, a.client_id, a.before, a.after, a.reason, a.staff';

/** Rows after a position of the chain, in order. The cost does not depend on where it begins. */
export async function listAuditAfter(
  db: Db,
  filter: AuditFilter,
  { after, limit }: { after: number; limit: number },
): Promise<AuditRow[]> {
  const { where, values } = whereOf([['position > ?', after], ...conditions(filter)]);
  return readPage(db, { where, values, order: 'asc', limit, offset: 0 });
}

/** A page of the trail, and the number of matching rows. Later pages cost more; use `listAuditAfter` to go far. */
export async function listAudit(
  db: Db,
  filter: AuditFilter,
  { limit, offset, order }: { limit: number; offset: number; order: 'asc' | 'desc' },
): Promise<List<AuditRow>> {
  const { where, values } = whereOf(conditions(filter));
  const rows = await readPage(db, { where, values, order, limit, offset });
  const bounded = filter.clientId === undefined;
  return { rows, total: await countRows(db, { from: 'audit_chain', where, values, bounded }) };
}

/**
 * Moments are turned into positions, because the latest moment up to a position never decreases. A row is at most a day older than the
 * latest moment before it, except if the sandbox's clock went back. Then the end of the range is unknown, and only each row's own moment
 * counts. `exists` selects 1: Citus plans it separately, and cannot copy rows without a column.
 */
function conditions(filter: AuditFilter): Filter[] {
  return [
    ['entity = ?', filter.entity],
    ['entity_id = ?', filter.entityId],
    ['client_id = ?', filter.clientId],
    ['actor = ?', filter.actor?.replace(/^token:/, 'operator:')],
    ['at >= ?', filter.from],
    ['at < ?', filter.to],
    ['position <= ?', filter.until],
    [`position >= (${firstPosition('?')})`, filter.from],
    [
      `position < (case when exists (select 1 from audit_chain where late) then ${NO_END} else (${firstPosition("?::timestamptz + interval '24 hours'")}) end)`,
      filter.to,
    ],
  ];
}

const NO_END = `'9223372036854775807'::bigint`;

/** SQL for the first position from a moment on. */
function firstPosition(moment: string): string {
  return `select coalesce((select position from audit_chain where latest_at >= ${moment} order by latest_at, position limit 1), ${NO_END})`;
}

interface PageOfLinks {
  where: string;
  values: unknown[];
  order: 'asc' | 'desc';
  limit: number;
  offset: number;
}

/** The conditions hold for each cell separately, because the moments of a cell never decrease either. */
async function readPage(db: Db, { where, values, order, limit, offset }: PageOfLinks): Promise<AuditRow[]> {
  const select = `select position, hash, audit_id as id, ${momentText('at')} as at from audit_chain
    where ${where} order by position ${order} limit ${limit + offset}`;
  const { rows: links } = await db.query<RowPlace & { position: number; hash: Buffer }>(
    `select * from ${overCells(db, 'audit_chain', select)} c order by position ${order} limit ${limit} offset ${offset}`,
    values,
  );
  const rows = await readRows<Omit<AuditRow, 'position' | 'hash'>>(db, links, { columns: COLUMNS });
  const byId = new Map(rows.map((row) => [row.id, row]));
  // A row that was removed from the trail is not shown. Verification reports it.
  return links.flatMap(({ position, hash, id }) => {
    const row = byId.get(id);
    return row ? [{ position, hash: hash.toString('hex'), ...row }] : [];
  });
}
