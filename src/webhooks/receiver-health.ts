import { type Db, first } from '../database/database.ts';
import { Problem } from '../values/errors.ts';
import { isUuid } from '../values/identifiers.ts';

/** Hours that the chart covers. */
const SHOWN_HOURS = 24;
const HOUR_MS = 3_600_000;
/** A notification may be this much older than the chart and still have attempts in it: more than the whole schedule of attempts. */
const RETRIES_MS = 4 * 86_400_000;
/** The most notifications that are examined, newest first, so that a busy receiver costs no more than a quiet one. */
const MAX_NOTIFICATIONS_ROWS = 5_000;

/** The attempts of an hour. */
export interface HealthHour {
  /** Its begin. */
  at: string;
  succeeded: number;
  failed: number;
  /** Milliseconds of the slowest attempt. */
  slowest_ms: number;
}

/** How a receiver has answered recently. */
export interface ReceiverHealth {
  /** The hours of the chart: its beginning, and the current hour. */
  since: string;
  until: string;
  /** Hours with attempts. */
  hours: HealthHour[];
  succeeded_at: string | null;
  failing_since: string | null;
  /** Whether there were more notifications than are examined. Then the chart shows only the newest. */
  partial: boolean;
}

/**
 * How the receiver of a client's subscription answered in the last 24 hours, for a chart.
 * @throws Problem subscription_not_found
 */
export async function receiverHealth(
  db: Db,
  { clientId, subscriptionId }: { clientId: string; subscriptionId: string },
  now: Date,
): Promise<ReceiverHealth> {
  const until = new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS);
  const since = new Date(until.getTime() - (SHOWN_HOURS - 1) * HOUR_MS);
  const subscription = isUuid(subscriptionId)
    ? first(
        await db.query<{ succeeded_at: Date | null; failing_since: Date | null }>(
          `select e.succeeded_at, e.failing_since from subscriptions s
           left join webhook_endpoints e on e.subscription_id = s.id
           where s.client_id = $1 and s.id = $2 and s.deleted_at is null`,
          [clientId, subscriptionId],
        ),
      )
    : undefined;
  if (!subscription)
    throw new Problem('subscription_not_found', { field: 'subscription_id', message: 'does not exist' });
  const { rows } = await db.query<{
    at: Date;
    succeeded: number;
    failed: number;
    slowest_ms: number;
    notifications: number;
  }>(
    `with newest as (
       select n.id, n.created_at from notifications n
       where n.client_id = $1 and n.subscription_id = $2 and n.created_at >= $4 order by n.created_at desc, n.id desc limit $5)
     select date_bin('1 hour', a.started_at, $3) as at,
       count(*) filter (where a.reason is null and a.status_code between 200 and 299) as succeeded,
       count(*) filter (where not (a.reason is null and coalesce(a.status_code, 0) between 200 and 299)) as failed,
       max(a.duration_ms) as slowest_ms, (select count(*) from newest) as notifications
     from newest join attempts a on a.client_id = $1 and a.notification_id = newest.id and a.created_at = newest.created_at
     where a.started_at >= $3 group by 1 order by 1`,
    [clientId, subscriptionId, since, new Date(since.getTime() - RETRIES_MS), MAX_NOTIFICATIONS_ROWS],
  );
  return {
    since: since.toISOString(),
    until: until.toISOString(),
    hours: rows.map(({ at, succeeded, failed, slowest_ms }) => ({
      at: at.toISOString(),
      succeeded,
      failed,
      slowest_ms,
    })),
    succeeded_at: subscription.succeeded_at?.toISOString() ?? null,
    failing_since: subscription.failing_since?.toISOString() ?? null,
    partial: (rows[0]?.notifications ?? 0) >= MAX_NOTIFICATIONS_ROWS,
  };
}
