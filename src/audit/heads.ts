import type { Context } from '../context.ts';
import { type Db, first, type Transaction, transaction } from '../database/database.ts';
import { type Filter, type List, listRows } from '../database/rows.ts';
import { mac } from './chain.ts';
import { lockChain, openEnd } from './end.ts';
import { type ChainKey, readChainKey } from './key.ts';

const MINUTE_MS = 60_000;

/** The end of the chain at a moment. With it anybody can tell whether rows up to it were changed or removed. */
export interface Head {
  position: number;
  hash: Buffer;
  at: Date;
  /** The retention has dropped all rows up to here. */
  floor: boolean;
  mac: Buffer;
}

/** Proof that the service made a head, and whether it made it a floor. */
export function headMac(key: ChainKey, { position, hash, at, floor }: Omit<Head, 'mac'>): Buffer {
  return mac(key, 'head', JSON.stringify([position, hash.toString('hex'), at.toISOString(), floor]));
}

/** The newest head that was stored. */
async function newestHead(db: Db): Promise<Head | undefined> {
  return first(
    await db.query<Head>(
      'select position, hash, at, floor, mac from audit_heads order by position desc, number desc limit 1',
    ),
  );
}

/** The head up to which the retention has dropped everything. */
export async function floorHead(db: Db): Promise<Head | undefined> {
  return first(
    await db.query<Head>(
      'select position, hash, at, floor, mac from audit_heads where floor order by position desc limit 1',
    ),
  );
}

/**
 * Stores the head of the chain each minute and writes it to the log (docs/audit.md). A minute in which nothing was sealed has a head too,
 * so a missing head means that the service or the collection of its log was down. The first head follows the first row.
 */
export async function makeHead({ backgroundPool, vault, clock, log }: Context): Promise<void> {
  const now = clock.now();
  if (!isDue(await newestHead(backgroundPool), now)) return;
  const head = await transaction(backgroundPool, (tx) => storeHead(tx, { now, key: () => readChainKey(tx, vault) }));
  if (head === 'cut') log.error('the audit trail was cut off behind its newest head; lombard audit verify tells where');
  else if (head) log.info({ ...shown(head) }, 'audit head');
}

/** Whether the next head is due, by the minutes of the clock, so that none is left out. The sandbox's clock may go back as well. */
function isDue(newest: Head | undefined, now: Date): boolean {
  return !newest || minuteOf(now) !== minuteOf(newest.at);
}

function minuteOf(moment: Date): number {
  return Math.floor(moment.getTime() / MINUTE_MS);
}

async function storeHead(
  tx: Transaction,
  { now, key: readKey }: { now: Date; key: () => Promise<ChainKey | undefined> },
): Promise<Head | 'cut' | undefined> {
  await lockChain(tx);
  const newest = await newestHead(tx);
  const { position, hash } = await openEnd(tx);
  if (!isDue(newest, now)) return undefined;
  if (newest && newest.position > position) return 'cut';
  const key = await readKey();
  if (!key || position <= key.unkeyed) return undefined;
  const head = { position, hash, at: now, floor: false };
  const made = { ...head, mac: headMac(key, head) };
  await tx.query('insert into audit_heads (position, hash, at, floor, mac) values ($1, $2, $3, $4, $5)', [
    position,
    hash,
    now,
    made.floor,
    made.mac,
  ]);
  return made;
}

/** A head in the form that callers see. */
export interface ShownHead {
  position: number;
  hash: string;
  at: Date;
}

export function shown({ position, hash, at }: Pick<Head, 'position' | 'hash' | 'at'>): ShownHead {
  return { position, hash: hash.toString('hex'), at };
}

/** A page of the heads, newest first. @param range `from` is included, `to` is not */
export async function listHeads(
  db: Db,
  range: { from?: Date | undefined; to?: Date | undefined },
  page: { page: number; pageSize: number },
): Promise<List<ShownHead>> {
  const filters: Filter[] = [
    ['at >= ?', range.from],
    ['at < ?', range.to],
  ];
  const { rows, total } = await listRows<Head>(
    db,
    { select: 'position, hash, at', from: 'audit_heads', order: 'position desc, number desc', filters },
    page,
  );
  return { rows: rows.map(shown), total };
}
