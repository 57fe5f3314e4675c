import { cellNumbers } from '../cell-directory.ts';
import { poolOf } from '../cell-pool.ts';
import type { Context } from '../context.ts';
import { first, type Transaction } from '../database.ts';
import { LOCKS } from '../locks.ts';
import { Periodic } from '../periodic.ts';
import { eraseCopies } from './copies.ts';
import { PURPOSE } from './erasure.ts';
import { cancelNotifications } from './notifications.ts';
import { type Person, PersonEraser } from './person.ts';
import { eraseTrail } from './trail.ts';

const INTERVAL_MS = 1_000;

/** Erases the copies of persons, in batches. It can be interrupted at any point: another process begins again, and finds the rest. */
export function createErasures(context: Context): Periodic {
  return new Periodic({ name: 'erasures', intervalMs: INTERVAL_MS, log: context.log, run: () => eraseNext(context) });
}

async function eraseNext(context: Context): Promise<void> {
  const { backgroundPool } = context;
  const waiting = first(
    await backgroundPool.query<{ erasure_id: string; sealed: Buffer }>(
      `select erasure_id, sealed from erasures where state = 'running' order by started_at, erasure_id limit 1`,
    ),
  );
  if (!waiting) return;
  // One process works at a time, as long as its session lives.
  const session = await backgroundPool.connect();
  try {
    const { rows } = await session.query('select pg_try_advisory_lock($1) as free', [LOCKS.erasure]);
    if (!rows[0]?.free) return;
    try {
      await erase(context, waiting.erasure_id, waiting.sealed);
    } finally {
      await session.query('select pg_advisory_unlock($1)', [LOCKS.erasure]);
    }
  } finally {
    session.release();
  }
}

async function erase(context: Context, erasureId: string, sealed: Buffer): Promise<void> {
  const { backgroundPool, vault, clock, log } = context;
  const eraser = new PersonEraser(JSON.parse(vault.open(sealed, PURPOSE)) as Person);
  const note = async (tx: Transaction, rows: number) => {
    if (rows > 0) await tx.query('update erasures set rows = rows + $2 where erasure_id = $1', [erasureId, rows]);
  };
  for (const cell of await cellNumbers(backgroundPool)) {
    const pool = poolOf(backgroundPool, cell);
    await cancelNotifications(pool, eraser, { now: clock.now(), note });
    await eraseCopies(pool, eraser, note);
    await eraseTrail(pool, { eraser, erasureId, vault, now: clock.now(), note });
    // What was written meanwhile: entries of journals wait in their processes for a moment, and deliveries were being tried.
    await eraseCopies(pool, eraser, note);
    await cancelNotifications(pool, eraser, { now: clock.now(), note });
  }
  await backgroundPool.query(`update erasures set state = 'done', sealed = null, ended_at = $2 where erasure_id = $1`, [
    erasureId,
    clock.now(),
  ]);
  log.info({ erasure_id: erasureId }, 'a person was erased');
}
