import { markOf } from '../audit/chain.ts';
import { chainEnd } from '../audit/end.ts';
import { type ChainKey, readChainKey } from '../audit/key.ts';
import { erasureMac, faultOfLink, type LinkedRow, readLinks } from '../audit/links.ts';
import { momentText, readRows } from '../audit/rows.ts';
import { sealAll } from '../audit/seal.ts';
import { linkAt } from '../audit/verification.ts';
import { withinCell } from '../database/cells/connection.ts';
import { type Db, type Pool, type Transaction, transaction } from '../database/database.ts';
import type { Vault } from '../values/crypto.ts';
import type { Note } from './copies.ts';
import type { PersonEraser } from './person.ts';

/** The number of rows of the chain that one step examines. */
const WINDOW_ROWS = 5_000;

interface TrailRow {
  id: number;
  at: string;
  position: number;
  entity: string;
  entity_id: string;
  before: string | null;
  after: string | null;
  reason: string | null;
}

interface Trail {
  eraser: PersonEraser;
  erasureId: string;
  vault: Vault;
  now: Date;
  note: Note;
}

/** Replaces the person in the audit trail. The chain still verifies, because each replaced row is listed in a row that only the key can make. */
export async function eraseTrail(pool: Pool, trail: Trail): Promise<void> {
  await sealAll(pool, trail.vault);
  const key = await readChainKey(pool, trail.vault);
  if (!key) return;
  const { position: end } = await chainEnd(pool);
  for (let after: number | undefined = 0; after !== undefined; ) {
    const { rows, last } = await findRows(pool, trail.eraser, { after, end });
    if (rows.length > 0) await transaction(pool, (tx) => replaceRows(tx, key, { rows, trail }));
    after = last;
  }
}

/** The rows of a window that may mention the person. @returns also the last position of the window; undefined if it is the last window */
async function findRows(
  pool: Pool,
  eraser: PersonEraser,
  { after, end }: { after: number; end: number },
): Promise<{ rows: TrailRow[]; last: number | undefined }> {
  const { rows: links } = await pool.query<{ id: number; at: string; position: number }>(
    `select position, audit_id as id, ${momentText('at')} as at from audit_chain
     where position > $1 and position <= $2 order by position limit ${WINDOW_ROWS}`,
    [after, end],
  );
  const found = await readRows<Omit<TrailRow, 'at' | 'position'>>(pool, links, {
    columns: 'a.id, a.entity, a.entity_id, a.before::text as before, a.after::text as after, a.reason',
    where: 'before::text ~* $3 or after::text ~* $3 or reason ~* $3',
    values: [eraser.searchPattern],
  });
  const byId = new Map(links.map((link) => [link.id, link]));
  const rows = found.flatMap((row) => {
    const link = byId.get(row.id);
    return link ? [{ ...row, at: link.at, position: link.position }] : [];
  });
  return { rows, last: links.length < WINDOW_ROWS ? undefined : links.at(-1)?.position };
}

async function replaceRows(
  tx: Transaction,
  key: ChainKey,
  { rows, trail }: { rows: TrailRow[]; trail: Trail },
): Promise<void> {
  const { eraser, erasureId, now, note } = trail;
  const replaced = rows.flatMap((row) => {
    const own = row.entity === 'contact' && row.entity_id === eraser.person.contactId;
    const clean = (text: string | null) => (text === null ? null : eraser.json(text, own));
    const [before, after] = [clean(row.before), clean(row.after)];
    const reason = row.reason === null ? null : eraser.text(row.reason);
    const same = before === row.before && after === row.after && reason === row.reason;
    return same ? [] : [{ ...row, before, after, reason }];
  });
  if (replaced.length === 0) return;
  // What somebody else altered before remains a fault: it is not listed.
  const sound = new Map<number, Link>();
  await withinCell(tx, 'all', async () => {
    for (const row of replaced) {
      const link = await soundLink(tx, key, row.position);
      if (link) sound.set(row.id, link);
    }
  });
  await tx.query('select replace_audit_rows($1, $2, $3, $4, $5, $6, $7, $8)', [
    replaced.map(({ id }) => id),
    replaced.map(({ at }) => at),
    replaced.map(({ before }) => before),
    replaced.map(({ after }) => after),
    replaced.map(({ reason }) => reason),
    eraser.person.contactId,
    erasureId,
    now,
  ]);
  for (const link of sound.values()) await nameRow(tx, key, { link, erasureId });
  await note(tx, replaced.length);
}

interface Link {
  row: LinkedRow;
  before: { position: number; hash: Buffer };
}

/** The link of a row, if the row is what was sealed. */
async function soundLink(tx: Db, key: ChainKey, position: number): Promise<Link | undefined> {
  const before = await linkAt(tx, position - 1);
  const [row] = await readLinks(tx, { key, after: position - 1, end: position });
  return before && row && !(await faultOfLink(tx, key, { row, before })) ? { row, before } : undefined;
}

async function nameRow(
  tx: Transaction,
  key: ChainKey,
  { link: { row, before }, erasureId }: { link: Link; erasureId: string },
): Promise<void> {
  const [now] = await readLinks(tx, { key, after: row.position - 1, end: row.position });
  const mac = erasureMac(key, row, before, markOf(key, now?.content ?? ''));
  await tx.query(
    `insert into audit_erasures (audit_id, erasure_id, mac) values ($1, $2, $3)
     on conflict (audit_id) do update set erasure_id = excluded.erasure_id, mac = excluded.mac`,
    [row.id, erasureId, mac],
  );
}
