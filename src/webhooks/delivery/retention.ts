import type { Context } from '../../context.ts';
import { first, type Pool } from '../../database/database.ts';
import { Daily } from '../../process/daily.ts';
import { addDays } from '../../values/calendar.ts';

/** Days ahead for which partitions are made, so that nothing has to wait at midnight. */
const DAYS_AHEAD = 3;
/** Rows that one statement deletes from a default partition. */
const MAX_DELETED_ROWS = 5_000;
/** The tables that are partitioned by day. Each transaction changes only one of them, so that it cannot deadlock with a reader of several. */
const TABLES = ['webhook_events', 'notifications', 'attempts'];

/** Makes the partitions of today (UTC, service time) and the next days. */
export async function createDays(pool: Pool, now: Date): Promise<void> {
  const today = now.toISOString().slice(0, 10);
  for (let ahead = 0; ahead <= DAYS_AHEAD; ahead++) {
    for (const table of TABLES) {
      await pool.query('select create_webhook_day($1, $2)', [table, addDays(today, ahead)]);
    }
  }
}

/**
 * Drops the days whose events, notifications and attempts are older than the retention (LOMBARD_WEBHOOK_RETENTION_DAYS): whole partitions,
 * without reading their rows.
 * @returns the days that were dropped
 */
export async function dropOldDays(pool: Pool, retentionDays: number, now: Date): Promise<string[]> {
  const oldest = addDays(now.toISOString().slice(0, 10), -retentionDays);
  const { rows } = await pool.query<{ day: string }>(
    `select distinct to_char(to_date(right(relname, 8), 'YYYYMMDD'), 'YYYY-MM-DD') as day from pg_class
     where relnamespace = quote_ident(current_schema())::regnamespace and relkind = 'r' and relname ~ '^(webhook_events|notifications|attempts)_\\d{8}$'
     order by 1`,
  );
  const old = rows.map((row) => row.day).filter((day) => day < oldest);
  // Deliveries of such old days still wait only if their subscription has been inactive ever since.
  await pool.query('delete from webhook_queue where created_at < $1', [`${oldest}T00:00:00Z`]);
  await pool.query('delete from webhook_stream_positions where created_at < $1', [`${oldest}T00:00:00Z`]);
  for (const day of old) {
    // A separate transaction for each table, so that nothing in this process can delay the release of the lock.
    for (const table of TABLES.toReversed()) await pool.query('select drop_webhook_day($1, $2, $3)', [table, day, now]);
  }
  for (const table of TABLES) await deleteOld(pool, `${table}_default`, `${oldest}T00:00:00Z`);
  return old;
}

/** Deletes old rows of days that never got a partition. */
async function deleteOld(pool: Pool, partition: string, before: string): Promise<void> {
  let deleted: number;
  do {
    const { rowCount } = await pool.query(
      `delete from ${partition} where ctid = any(array(select ctid from ${partition} where created_at < $1 limit $2))`,
      [before, MAX_DELETED_ROWS],
    );
    deleted = rowCount ?? 0;
  } while (deleted === MAX_DELETED_ROWS);
}

async function hasPartitions(pool: Pool, day: string): Promise<boolean> {
  const result = await pool.query<{ made: boolean }>(
    `select bool_and(to_regclass(format('%I.%I', current_schema(), name || '_' || $1::text)) is not null) as made
     from unnest($2::text[]) name`,
    [day.replaceAll('-', ''), TABLES],
  );
  return first(result)?.made === true;
}

/** Makes partitions ahead and drops old ones, once a day. A failed run waits before it is retried only if today already has its partitions. */
export function createRetention({ clock, config, log, backgroundPool }: Context): Daily {
  return new Daily({
    clock,
    mayWait: (day) => hasPartitions(backgroundPool, day),
    run: async (now) => {
      await createDays(backgroundPool, now);
      const days = await dropOldDays(backgroundPool, config.webhookRetentionDays, now);
      if (days.length > 0) log.info({ days }, 'webhook history older than the retention was dropped');
    },
  });
}
