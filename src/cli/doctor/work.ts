import { type Db, first, type Pool } from '../../database/database.ts';
import { listConsumers } from '../../feed/consumer.ts';
import { readCursors } from '../../feed/cursor.ts';
import { oldestUnpublished } from '../../feed/metrics.ts';
import { Backlog } from '../../monitoring/backlog.ts';
import type { Clock } from '../../values/calendar.ts';
import { count, type Finding, failed, lasting, ok, warnIf, warning } from './finding.ts';

/** Work may wait up to these ages. */
const MAX_WORK_AGE_SECONDS = 60;
const MAX_LAG_SECONDS = 3_600;
const MAX_LAG_CHANGES = 100_000;
/** The number of due deliveries that may be waiting. */
const MAX_DUE_ROWS = 10_000;
const MAX_STATEMENTS_WAITING = 1_000;
/** A receiver that has failed for longer than this is listed. */
const FAILING_HOURS = 1;
const RECENT_DAYS = 7;
const MAX_NAMED = 5;
const WORKER = 'start a process with the role worker, and read its log';

/** The cells that answer; the first one has what exists once. */
type Cells = readonly [Pool, ...Pool[]];

/** Checks the waiting background work, and what hinders it. */
export async function checkWork(cells: Cells, clock: Clock): Promise<Finding[]> {
  const now = clock.now();
  return [
    ...(await checkBacklog(cells, clock)),
    ...(await checkFeed(cells, now)),
    ...(await checkReceivers(cells, now)),
    await checkPartitions(cells, now),
  ];
}

async function checkBacklog(cells: Cells, clock: Clock): Promise<Finding[]> {
  const found = await new Backlog(cells, clock).read();
  if (!found)
    return [
      failed(
        'background work',
        'the database does not tell in time what waits: look for long statements in pg_stat_activity',
      ),
    ];
  const aged = (check: string, seconds: number, what: string) =>
    seconds > MAX_WORK_AGE_SECONDS
      ? failed(check, `${what} for ${lasting(seconds)}: ${WORKER}`)
      : ok(check, seconds === 0 ? 'nothing waits' : 'what waits is seconds old');
  return [
    aged(
      'events',
      found.outbox_oldest_age_seconds,
      `${count(found.outbox_events, 'event')} without notifications wait`,
    ),
    warnIf(found.deliveries_due > MAX_DUE_ROWS, 'webhook backlog', {
      warns: `${found.deliveries_due} deliveries are due and nobody has taken them: add processes with the role worker`,
      fine: `${count(found.deliveries_due, 'delivery')} due`.replace(/^(\d+) deliverys/, '$1 deliveries'),
    }),
    warnIf(found.statements_waiting > MAX_STATEMENTS_WAITING, 'statements', {
      warns: `${found.statements_waiting} are not sent yet: add processes with the role worker, and check mail`,
      fine: `${found.statements_waiting} wait`,
    }),
    aged('audit chain', found.audit_unsealed_age_seconds, 'rows of the audit trail are unsealed'),
    aged('payment totals', found.totals_unrolled_age_seconds, 'changes are not rolled up'),
  ];
}

async function checkFeed(cells: Cells, now: Date): Promise<Finding[]> {
  const [db] = cells;
  const oldest = await oldestUnpublished(cells);
  const age = oldest ? Math.max(0, (now.getTime() - oldest.getTime()) / 1_000) : 0;
  const unpublished =
    age > MAX_WORK_AGE_SECONDS
      ? failed('change feed', `changes are unpublished for ${lasting(age)}: ${WORKER}`)
      : ok('change feed', 'every change is published');
  const consumers = await listConsumers(db, await readCursors(db), now);
  const behind = consumers.filter((one) => one.lag_seconds > MAX_LAG_SECONDS || one.lag_changes > MAX_LAG_CHANGES);
  if (behind.length === 0) return [unpublished, ok('consumers', `${consumers.length}, none far behind`)];
  return [
    unpublished,
    ...behind.map(({ name, lag_changes: changes, lag_seconds: seconds }) =>
      warning(
        'consumers',
        `${name} has not acknowledged ${count(changes, 'change')} for ${lasting(seconds)}: start it, or DELETE /change-consumers/${name}`,
      ),
    ),
  ];
}

async function checkReceivers(cells: readonly Db[], now: Date): Promise<Finding[]> {
  const hours = new Date(now.getTime() - FAILING_HOURS * 3_600_000);
  const failing = await oldestOf<{ id: string; client_id: string; since: Date }>(cells, {
    text: `select s.id, s.client_id, e.failing_since as since
     from subscriptions s join webhook_endpoints e on e.subscription_id = s.id
     where s.active and s.deleted_at is null and e.failing_since < $1 order by e.failing_since limit ${MAX_NAMED}`,
    values: [hours],
  });
  const days = new Date(now.getTime() - RECENT_DAYS * 86_400_000);
  const disabled = await oldestOf<{ id: string; client_id: string; reason: string; since: Date }>(cells, {
    text: `select s.id, s.client_id, s.disabled_reason as reason, s.disabled_at as since from subscriptions s
     where s.deleted_at is null and not s.active and s.disabled_at > $1 order by s.disabled_at limit ${MAX_NAMED}`,
    values: [days],
  });
  const findings = [
    ...failing.map(({ id, client_id: client, since }) =>
      warning(
        'receivers',
        `that of subscription ${id} (${client}) has failed since ${since.toISOString()}: tell the client`,
      ),
    ),
    ...disabled.map(({ id, client_id: client, reason }) =>
      warning(
        'receivers',
        `subscription ${id} (${client}) was switched off (${reason}): tell the client, who can switch it on again`,
      ),
    ),
  ];
  return findings.length > 0 ? findings : [ok('receivers', 'none fails for long')];
}

/** The first few results of a statement over all cells, oldest first. */
async function oldestOf<Row extends { since: Date }>(
  cells: readonly Db[],
  statement: { text: string; values: unknown[] },
): Promise<Row[]> {
  const found = await Promise.all(cells.map((cell) => cell.query<Row>(statement)));
  const rows = found.flatMap((result) => result.rows);
  return rows.sort((one, other) => one.since.getTime() - other.since.getTime()).slice(0, MAX_NAMED);
}

async function checkPartitions(cells: Cells, now: Date): Promise<Finding> {
  const [db] = cells;
  const started = first(await db.query<{ started: boolean }>('select exists (select from operator_tokens) as started'));
  if (!started?.started) return ok('partitions', 'the first start makes them');
  const text = `select name || '_' || to_char(day, 'YYYYMMDD') as name
     from unnest('{webhook_events,notifications,attempts}'::text[]) name,
       generate_series(($1::timestamptz at time zone 'UTC')::date, ($1::timestamptz at time zone 'UTC')::date + 1, interval '1 day') day
     where to_regclass(format('%I.%I', current_schema(), name || '_' || to_char(day, 'YYYYMMDD'))) is null order by 1`;
  const found = await Promise.all(cells.map((cell) => cell.query<{ name: string }>(text, [now])));
  const missing = found.flatMap(({ rows }) => rows.map(({ name }) => name));
  return warnIf(missing.length > 0, 'partitions', {
    warns: `missing: ${missing.join(', ')}: ${WORKER}, which makes them`,
    fine: 'those of today and tomorrow are there',
  });
}
