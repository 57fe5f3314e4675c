import assert from 'node:assert/strict';
import type { Round } from './round.ts';

/** An attempt that was under way when a redelivery was asked for counts as it; it takes at most so long. */
const MAX_ATTEMPT_MS = 60_000;

/**
 * What was answered to be sent again has arrived again, and has a history. An attempt whose worker was killed before it could write is not
 * in the history. What an erasure has cancelled meanwhile need not arrive again.
 */
export async function redelivered({ system, known }: Round): Promise<void> {
  const arrivals = Map.groupBy(known.receiver.received, ({ headers }) => headers['x-service-notification-id'] ?? '');
  const { rows } = await system.query(
    `select n.id, n.status = 'cancelled' and e.body = '' as cancelled,
       (select count(*)::int from attempts a where a.notification_id = n.id) as attempts
     from notifications n join webhook_events e on e.client_id = n.client_id and e.created_at = n.created_at and e.id = n.event_id
     where n.id = any ($1)`,
    [known.redeliveries.map(({ id }) => id)],
  );
  const attempts = new Map<string, number>(rows.map(({ id, attempts }) => [id, attempts]));
  const cancelled = new Set<string>(rows.filter((row) => row.cancelled).map(({ id }) => id));
  const faults: string[] = [];
  for (const { id, askedAt } of known.redeliveries) {
    const times = arrivals.get(id) ?? [];
    if (!cancelled.has(id) && (times.length < 2 || (times.at(-1)?.at ?? 0) < askedAt - MAX_ATTEMPT_MS))
      faults.push(`${id} arrived ${times.length} times, and was to be sent again`);
    if (!attempts.get(id)) faults.push(`${id} has no attempt in its history`);
  }
  const pings = new Set(
    known.receiver.received
      .filter(({ headers }) => headers['x-service-webhook'] === 'Ping')
      .map(({ headers }) => headers['x-service-notification-id']),
  ).size;
  if (pings < known.pings.answered || pings > known.pings.asked)
    faults.push(`${pings} pings arrived; ${known.pings.asked} were asked for, ${known.pings.answered} answered`);
  assert.deepEqual(faults, []);
}
