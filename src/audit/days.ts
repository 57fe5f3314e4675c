import type { Context } from '../context.ts';
import { withinCell } from '../database/cells/connection.ts';
import { type Db, first, type Pool, transaction } from '../database/database.ts';
import { Daily } from '../process/daily.ts';
import { addDays } from '../values/calendar.ts';
import { type ChainEnd, chainEnd, linksAt, lockChain, positionFrom } from './end.ts';
import { headMac } from './heads.ts';
import { readChainKey } from './key.ts';
import { sealCells } from './seal.ts';

/** Days ahead for which partitions are made, so that nothing has to wait at midnight. */
const DAYS_AHEAD = 3;
/** The number of rows of the chain that one statement removes. */
const CLEARED_ROWS = 5_000;

/**
 * Makes the trail's partitions of today (UTC, service time) and the next days. It needs a transaction: only within one do the settings of
 * the owner's functions reach a Citus worker.
 */
export async function createAuditDays(pool: Pool, now: Date): Promise<void> {
  const today = now.toISOString().slice(0, 10);
  for (let ahead = 0; ahead <= DAYS_AHEAD; ahead++)
    await transaction(pool, (tx) => tx.query('select create_audit_day($1)', [addDays(today, ahead)]));
}

/**
 * Drops the days of a cell that are older than the retention (LOMBARD_AUDIT_RETENTION_DAYS), with their links. The head before the first
 * row that remains in any cell is kept, because verification begins there.
 * @returns the days that were dropped
 * @throws ChainKeyFault
 */
async function dropOldAudit(context: Context, now: Date): Promise<string[]> {
  const { backgroundPool: pool, config } = context;
  const oldest = addDays(now.toISOString().slice(0, 10), -config.auditRetentionDays);
  // An unsealed row has no place before the floor.
  await sealCells(pool, context.vault);
  await raiseFloor(context, new Date(`${oldest}T00:00:00Z`));
  const dropped: string[] = [];
  for (const day of await daysBefore(pool, oldest)) {
    const row = first(
      await transaction(pool, (tx) =>
        tx.query<{ dropped: boolean }>('select drop_audit_day($1, $2) as dropped', [day, now]),
      ),
    );
    if (row?.dropped) dropped.push(day);
  }
  for (;;) {
    const row = first(
      await transaction(pool, (tx) =>
        tx.query<{ cleared: number }>('select clear_audit_behind_floor($1, $2) as cleared', [now, CLEARED_ROWS]),
      ),
    );
    if ((row?.cleared ?? 0) < CLEARED_ROWS) return dropped;
  }
}

/** Makes the last position whose rows are all older than a moment the floor. */
async function raiseFloor({ backgroundPool, vault, clock }: Context, before: Date): Promise<void> {
  await transaction(backgroundPool, async (tx) => {
    await lockChain(tx);
    const key = await readChainKey(tx, vault);
    const place = await withinCell(tx, 'all', () => lastBefore(tx, before));
    if (!key || !place || place.position <= key.unkeyed) return;
    const head = { ...place, at: clock.now(), floor: true };
    await tx.query('select set_audit_floor($1, $2, $3, $4)', [head.position, head.hash, head.at, headMac(key, head)]);
  });
}

/** The last link before the first row that is not older than a moment; the end of the chain if there is no such row. */
async function lastBefore(db: Db, moment: Date): Promise<ChainEnd | undefined> {
  const kept = await positionFrom(db, moment);
  // If the end is already the floor, nothing was sealed since.
  const [link] = await linksAt(db, [kept === undefined ? (await chainEnd(db)).position : kept - 1]);
  return link;
}

/** The days before another one that have a partition. */
async function daysBefore(db: Db, oldest: string): Promise<string[]> {
  const { rows } = await db.query<{ day: string }>(
    `select to_char(to_date(right(relname, 8), 'YYYYMMDD'), 'YYYY-MM-DD') as day from pg_class
     where relnamespace = quote_ident(current_schema())::regnamespace and relkind = 'r' and relname ~ '^audit_\\d{8}$' order by 1`,
  );
  return rows.map(({ day }) => day).filter((day) => day < oldest);
}

/** Makes the partitions of a cell ahead and drops old ones, once a day. */
export function createAuditKeeper(context: Context): Daily {
  const { clock, config, log, backgroundPool } = context;
  return new Daily({
    clock,
    run: async (now) => {
      await createAuditDays(backgroundPool, now);
      if (config.auditRetentionDays === 0) return;
      const days = await dropOldAudit(context, now);
      if (days.length > 0) log.info({ days }, 'audit rows older than the retention were dropped');
    },
  });
}
