import { type Db, first } from '../database/database.ts';
import { Problem } from '../values/errors.ts';
import { type ChainEnd, chainEnd, linksAt } from './end.ts';
import { floorHead, type Head, headMac } from './heads.ts';
import type { ChainKey } from './key.ts';
import type { Fault } from './links.ts';

/** The number of heads that one statement reads. */
const BATCH_ROWS = 5_000;

/** A head that somebody has kept, from the log or from the list. */
export interface GivenHead {
  position: number;
  /** Hexadecimal. */
  hash: string;
}

interface CheckedHead extends Head {
  /** Counts the heads in the order in which they were stored. */
  number: number;
}

/** What the chain contains at the positions of heads. */
interface Chain {
  /** By position. */
  links: ReadonlyMap<number, Buffer>;
  end: number;
}

/** The fault of a floor that the service did not make. Everything before a floor counts as dropped. */
export function faultOfFloor(key: ChainKey, floor: Head | undefined): Fault | undefined {
  return floor && !floor.mac.equals(headMac(key, floor)) ? forged(floor) : undefined;
}

/** The fault if the chain lacks a head of a period, or the newest head of all. */
export async function faultOfHeads(
  db: Db,
  key: ChainKey,
  range: { from?: Date | undefined; to?: Date | undefined },
): Promise<Fault | undefined> {
  const floor = (await floorHead(db))?.position ?? 0;
  const end = (await chainEnd(db)).position;
  for (let after = 0; ; ) {
    const { rows } = await db.query<CheckedHead>(
      `select h.number, h.position, h.hash, h.at, h.floor, h.mac from audit_heads h
       where h.number > $1 and ($2::timestamptz is null or h.at >= $2) and ($3::timestamptz is null or h.at < $3)
         or h.number > $1 and h.number = (select number from audit_heads order by position desc, number desc limit 1)
       order by h.number limit ${BATCH_ROWS}`,
      [after, range.from ?? null, range.to ?? null],
    );
    const found = await linksAt(
      db,
      rows.map(({ position }) => position),
    );
    const chain = { links: new Map(found.map(({ position, hash }) => [position, hash])), end };
    for (const head of rows) {
      const fault = head.position > floor || head.floor ? faultOfHead(key, head, { floor, chain }) : undefined;
      if (fault) return fault;
    }
    after = rows.at(-1)?.number ?? after;
    if (rows.length < BATCH_ROWS) return undefined;
  }
}

function faultOfHead(
  key: ChainKey,
  head: CheckedHead,
  { floor, chain }: { floor: number; chain: Chain },
): Fault | undefined {
  if (!head.mac.equals(headMac(key, head))) return forged(head);
  if (head.position <= floor) return undefined;
  const linked = chain.links.get(head.position);
  if (!linked) return cut(head, chain.end);
  return linked.equals(head.hash) ? undefined : differs(head, `the head of ${head.at.toISOString()}`);
}

/** The fault if the chain of several cells does not reach as far as it was sealed. */
export async function faultOfEnd(db: Db): Promise<Fault | undefined> {
  const floor = (await floorHead(db))?.position ?? 0;
  const sealed = first(await db.query<ChainEnd>('select position, hash from audit_end where position > $1', [floor]));
  if (!sealed) return undefined;
  const [link] = await linksAt(db, [sealed.position]);
  if (!link) return cut(sealed, (await chainEnd(db)).position);
  return link.hash.equals(sealed.hash) ? undefined : differs(sealed, 'its end in audit_end');
}

/**
 * The fault if the chain lacks a head that somebody has kept. If rows and stored heads were cut off, only such a head reveals it.
 * @throws Problem invalid_parameter if the retention has dropped its position
 */
export async function faultOfGivenHead(db: Db, given: GivenHead | undefined): Promise<Fault | undefined> {
  if (!given) return undefined;
  const floor = await floorHead(db);
  if (floor && given.position < floor.position)
    throw new Problem('invalid_parameter', {
      field: 'head',
      message: `must be a position from ${floor.position} on: the retention has dropped what is before`,
    });
  const linked = given.position === floor?.position ? floor : (await linksAt(db, [given.position]))[0];
  if (!linked) return cut(given, (await chainEnd(db)).position);
  return linked.hash.toString('hex') === given.hash.toLowerCase() ? undefined : differs(given, 'the given head');
}

function forged({ position, at }: Head): Fault {
  const message = `the head of ${at.toISOString()} at position ${position} was not made by the service`;
  return { what: 'head_forged', position, id: null, message };
}

function cut({ position }: { position: number }, end: number): Fault {
  if (end >= position)
    return {
      what: 'row_missing',
      position,
      id: null,
      message: `the row at position ${position} was removed from the chain`,
    };
  return {
    what: 'rows_cut',
    position: end + 1,
    id: null,
    message: `the trail ends at position ${end}, and a head says that it reached ${position}: what came after ${end} was cut off`,
  };
}

function differs({ position }: { position: number }, which: string): Fault {
  return {
    what: 'head_differs',
    position,
    id: null,
    message: `position ${position} has another hash than ${which}: the trail up to there was cut off or made again`,
  };
}
