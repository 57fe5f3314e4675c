import { Counter } from 'prom-client';
import { metrics } from '../process/metrics.ts';

/** Attempts to deliver statements, by channel and outcome: `sent`, `retrying`, `failed`. */
export const statementAttemptsTotal = new Counter({
  name: 'lombard_statement_attempts_total',
  help: 'Attempts to deliver account statements by channel and outcome',
  labelNames: ['channel', 'outcome'],
  registers: [metrics],
});
