import { Counter, Gauge, Histogram } from 'prom-client';
import { metrics } from '../../process/metrics.ts';

/** Attempts by outcome: `delivered`, `status` (a response that is not a success), or the reason why there was no complete response. */
export const attemptsTotal = new Counter({
  name: 'lombard_webhook_attempts_total',
  help: 'Webhook attempts by outcome',
  labelNames: ['outcome'],
  registers: [metrics],
});
export const attemptDuration = new Histogram({
  name: 'lombard_webhook_attempt_duration_seconds',
  help: 'Duration of webhook attempts in seconds',
  buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30],
  registers: [metrics],
});
export const firstAttemptDelay = new Histogram({
  name: 'lombard_webhook_first_attempt_delay_seconds',
  help: 'Time from an event to the first attempt of its notification in seconds',
  buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5, 30, 300],
  registers: [metrics],
});
export const finishedTotal = new Counter({
  name: 'lombard_webhook_notifications_finished_total',
  help: 'Webhook notifications that were delivered or given up',
  labelNames: ['status'],
  registers: [metrics],
});
export const disabledTotal = new Counter({
  name: 'lombard_webhook_subscriptions_disabled_total',
  help: 'Subscriptions that the service switched off, by reason (gone, failing)',
  labelNames: ['reason'],
  registers: [metrics],
});
export const takenOverTotal = new Counter({
  name: 'lombard_webhook_taken_over_total',
  help: 'Deliveries taken back from workers that died',
  registers: [metrics],
});
export const heldDeliveries = new Gauge({
  name: 'lombard_webhook_held_deliveries',
  help: 'Deliveries that this worker holds a lease on',
  registers: [metrics],
});
