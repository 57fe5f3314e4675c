import type { Context } from '../context.ts';
import { cellPools, inEach } from '../database/cells/contexts.ts';
import { first, type Pool, type Transaction } from '../database/database.ts';
import { LOCKS } from '../database/locks.ts';
import { Periodic } from '../process/periodic.ts';
import { monotonic } from '../values/calendar.ts';
import { eraseCopies } from './copies.ts';
import { PURPOSE, withHistory } from './erasure.ts';
import { withCopies } from './former-names.ts';
import { cancelNotifications } from './notifications.ts';
import { type Person, PersonEraser, personIn } from './person.ts';
import { eraseTrail } from './trail.ts';

const INTERVAL_MS = 1_000;
/** Milliseconds after which a failed erasure is tried again. Others come first meanwhile. */
const RETRY_AFTER_MS = 2_000;

/** Erases the copies of persons, in batches. It can be interrupted at any point: another process starts over, and finds what is left. */
export function createErasures(context: Context): Periodic {
  const notBefore = new Map<string, number>();
  const run = async () => {
    if (await eraseNext(context, notBefore)) erasures.wake();
  };
  const erasures = new Periodic({ name: 'erasures', intervalMs: INTERVAL_MS, log: context.log, run });
  return erasures;
}

/**
 * Does the next erasure.
 * @param notBefore for failed erasures: monotonic milliseconds before which they are not tried again
 * @returns whether one was done, so that another may be waiting
 */
async function eraseNext(context: Context, notBefore: Map<string, number>): Promise<boolean> {
  const { backgroundPool } = context;
  const failed = [...notBefore].filter(([, until]) => monotonic() < until).map(([id]) => id);
  if (!(await nextErasure(backgroundPool, failed))) return false;
  // One process works at a time, while its session lives.
  const session = await backgroundPool.connect();
  try {
    const { rows } = await session.query('select pg_try_advisory_lock($1) as free', [LOCKS.erasure]);
    if (!rows[0]?.free) return false;
    try {
      // Another process may have done it meanwhile.
      const waiting = await nextErasure(backgroundPool, failed);
      if (!waiting) return false;
      let done = false;
      try {
        done = await erase(context, waiting);
      } finally {
        // A cell that does not answer delays nobody else, and neither does a delivery.
        if (done) notBefore.delete(waiting.erasure_id);
        else notBefore.set(waiting.erasure_id, monotonic() + RETRY_AFTER_MS);
      }
      return true;
    } finally {
      await session.query('select pg_advisory_unlock($1)', [LOCKS.erasure]);
    }
  } finally {
    session.release();
  }
}

interface WaitingErasure {
  erasure_id: string;
  sealed: Buffer;
}

async function nextErasure(pool: Pool, failed: readonly string[]): Promise<WaitingErasure | undefined> {
  return first(
    await pool.query<WaitingErasure>(
      `select erasure_id, sealed from erasures where state = 'running' and erasure_id <> all($1) order by started_at, erasure_id limit 1`,
      [failed],
    ),
  );
}

/** @returns whether nothing is left: not while a worker sends a notification that has the person's name, which may fail and wait again */
async function erase(context: Context, { erasure_id: erasureId, sealed }: WaitingErasure): Promise<boolean> {
  const { backgroundPool, vault, clock, log } = context;
  const pools = await cellPools(backgroundPool);
  const known = personIn(vault.open(sealed, PURPOSE));
  const { person, sealed: begun } = await remember(context, { erasureId, known, sealed, pools });
  const eraser = new PersonEraser(person);
  const note = async (tx: Transaction, rows: number) => {
    if (rows > 0) await tx.query('update erasures set rows = rows + $2 where erasure_id = $1', [erasureId, rows]);
  };
  let left = 0;
  await inEach(pools, async (pool) => {
    await cancelNotifications(pool, eraser, { now: clock.now(), note });
    await eraseCopies(pool, eraser, note);
    await eraseTrail(pool, { eraser, erasureId, vault, now: clock.now(), note });
    // Handles what was written meanwhile: journal entries wait in their processes for a moment, and deliveries may have been in progress.
    await eraseCopies(pool, eraser, note);
    left += await cancelNotifications(pool, eraser, { now: clock.now(), note });
  });
  if (left > 0) {
    log.debug({ erasure_id: erasureId, left }, 'notifications of a person who is erased are being sent');
    return false;
  }
  // A contact that has got a name meanwhile is being erased again.
  await backgroundPool.query(
    `update erasures set state = 'done', sealed = null, ended_at = $2 where erasure_id = $1 and sealed = $3`,
    [erasureId, clock.now(), begun],
  );
  log.info({ erasure_id: erasureId }, 'a person was erased');
  return true;
}

/**
 * Stores what the trails and the records of all cells know about a person, before any of them is erased. A cell that does not answer now is
 * erased later, when the others know nothing any more.
 */
async function remember(
  { backgroundPool, vault }: Context,
  { erasureId, known, sealed, pools }: { erasureId: string; known: Person; sealed: Buffer; pools: readonly Pool[] },
): Promise<{ person: Person; sealed: Buffer }> {
  let person = known;
  const add = async (pool: Pool) => {
    person = await withHistory(pool, person);
    person = await withCopies(pool, person);
  };
  for (const pool of pools) await (pools.length === 1 ? add(pool) : add(pool).catch(() => {}));
  const fresh = vault.seal(JSON.stringify(person), PURPOSE);
  await backgroundPool.query('update erasures set sealed = $2 where erasure_id = $1 and sealed = $3', [
    erasureId,
    fresh,
    sealed,
  ]);
  return { person, sealed: fresh };
}
