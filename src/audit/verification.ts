import { poolOf } from '../database/cells/pool.ts';
import { overCells } from '../database/cells/union.ts';
import { type Db, first, type Pool } from '../database/database.ts';
import type { Vault } from '../values/crypto.ts';
import { GENESIS } from './chain.ts';
import { type ChainEnd, chainEnd, linksAt, positionFrom } from './end.ts';
import { faultOfEnd, faultOfFloor, faultOfGivenHead, faultOfHeads, type GivenHead } from './head-faults.ts';
import { floorHead, type Head, type ShownHead, shown } from './heads.ts';
import { type ChainKey, ChainKeyFault, readChainKey } from './key.ts';
import { type Fault, faultOfLink, missingLink, readLinks } from './links.ts';
import { sealCells } from './seal.ts';

/** The range to verify; undefined means everything that is kept. */
export interface VerificationRange {
  /** Inclusive. */
  from?: Date | undefined;
  /** Exclusive. */
  to?: Date | undefined;
  head?: GivenHead | undefined;
}

export interface Verification {
  valid: boolean;
  /** The number of rows that were proved. */
  rows: number;
  /** The id of the row with the first fault, if it has one. */
  first_invalid: number | null;
  fault: Fault | null;
  /** The first position that the key protects; rows before it were sealed without a key. Null if no row has been sealed. */
  keyed_from: number | null;
  /** The first position that the retention has kept. */
  kept_from: number;
  /** The end of the chain; null if nothing has been sealed. */
  head: ShownHead | null;
}

/**
 * Proves the trail: each row has the content that was sealed, no row is missing, moved or added, and the chain still has every stored head
 * and the given one (docs/audit.md). The cells of a database share one chain.
 * @throws Problem invalid_parameter if the retention has dropped the position of the given head
 */
export async function verifyAudit(
  pool: Pool,
  vault: Vault,
  now: Date,
  range: VerificationRange,
): Promise<Verification> {
  try {
    const settled = await sealCells(pool, vault);
    const key = await readChainKey(poolOf(pool, 0), vault);
    return await verify(poolOf(pool, 'all'), { key, settled }, now, range);
  } catch (error) {
    if (!(error instanceof ChainKeyFault)) throw error;
    const fault = { what: error.what, position: null, id: null, message: error.message };
    return { valid: false, rows: 0, first_invalid: null, fault, keyed_from: null, kept_from: 1, head: null };
  }
}

async function verify(
  pool: Pool,
  { key, settled }: { key: ChainKey | undefined; settled: ChainEnd | undefined },
  now: Date,
  range: VerificationRange,
): Promise<Verification> {
  const last = await chainEnd(pool);
  // What was sealed since may not be in its cell yet.
  const end = settled && settled.position < last.position ? settled : last;
  const floor = await floorHead(pool);
  const forgedFloor = key ? faultOfFloor(key, floor) : undefined;
  const walked = forgedFloor ? { rows: 0, fault: forgedFloor } : await walk(pool, key, { range, end, floor });
  const fault =
    walked.fault ??
    (key ? await faultOfHeads(pool, key, range) : undefined) ??
    (await faultOfEnd(pool)) ??
    (await faultOfGivenHead(pool, range.head)) ??
    (await addedRow(pool, range));
  return {
    valid: fault === undefined,
    rows: walked.rows,
    first_invalid: fault?.id ?? null,
    fault: fault ?? null,
    keyed_from: key ? key.unkeyed + 1 : null,
    kept_from: (floor?.position ?? 0) + 1,
    head: end.position === 0 ? null : shown({ ...end, at: now }),
  };
}

interface Walk {
  range: VerificationRange;
  end: ChainEnd;
  floor: Head | undefined;
}

/** Checks every link of the range, in order, up to the first fault. */
async function walk(
  pool: Pool,
  key: ChainKey | undefined,
  { range, end, floor }: Walk,
): Promise<{ rows: number; fault?: Fault }> {
  const begin = Math.max(floor?.position ?? 0, (await firstPosition(pool, range.from, 1)) - 1);
  const last = Math.min(end.position, (await firstPosition(pool, range.to, end.position + 1)) - 1);
  let before = await linkAt(pool, begin, floor);
  let fault = before ? undefined : missingLink(begin);
  while (before && !fault && before.position < last) {
    const rows = await readLinks(pool, { key, after: before.position, end: last });
    if (rows.length === 0) fault = missingLink(before.position + 1);
    for (const row of rows) {
      fault = await faultOfLink(pool, key, { row, before });
      if (fault) break;
      before = row;
    }
  }
  const proved = Math.max(0, (before?.position ?? begin) - begin);
  if (!fault) return { rows: proved };
  // Rows that the retention has dropped meanwhile are not a fault. The check starts again after them.
  const moved = await floorHead(pool);
  if (moved && moved.position > (floor?.position ?? 0)) return walk(pool, key, { range, end, floor: moved });
  return { rows: proved, fault };
}

/** The first position at or after a moment, or the position after the last one; `otherwise` if no moment is given. */
async function firstPosition(db: Db, moment: Date | undefined, otherwise: number): Promise<number> {
  if (!moment) return otherwise;
  return (await positionFrom(db, moment)) ?? (await chainEnd(db)).position + 1;
}

/** A link, or the anchor before the first link that is kept; undefined if it is missing. */
export async function linkAt(db: Db, position: number, known?: Head): Promise<ChainEnd | undefined> {
  if (position === 0) return { position, hash: GENESIS };
  const floor = known ?? (await floorHead(db));
  if (position === floor?.position) return floor;
  return (await linksAt(db, [position]))[0];
}

/** The first row of a cell without a link. Each cell has the links of its own rows. */
const ADDED = `select a.at, a.id from audit a
  where ($1::timestamptz is null or a.at >= $1) and ($2::timestamptz is null or a.at < $2)
    and not exists (select from audit_chain c where c.audit_id = a.id and c.at = a.at)
    and not exists (select from audit_unsealed u where u.id = a.id)
  order by a.at, a.id limit 1`;

/** A row that nobody has sealed or ever will, because it was added bypassing the service. */
async function addedRow(db: Db, range: VerificationRange): Promise<Fault | undefined> {
  const row = first(
    await db.query<{ id: number }>(`select id from ${overCells(db, 'audit', ADDED)} a order by at, id limit 1`, [
      range.from ?? null,
      range.to ?? null,
    ]),
  );
  if (!row) return undefined;
  return {
    what: 'row_added',
    position: null,
    id: row.id,
    message: `row ${row.id} was added past the service: the chain does not have it`,
  };
}
