import type { Db, Pool } from '../database/database.ts';
import type { Logger } from '../process/log.ts';
import { metrics } from '../process/metrics.ts';
import { Periodic } from '../process/periodic.ts';
import type { Clock } from '../values/calendar.ts';
import { fieldsOf, namesOf, tableOf } from '../values/unknown.ts';

/** Milliseconds between two writes of a process. */
const WRITE_INTERVAL_MS = 10_000;
/** Hours that minutes are kept. */
const KEPT_HOURS = 48;
export const MAX_HISTORY_HOURS = KEPT_HOURS;
const HOUR_MS = 3_600_000;
/** The number of points of a chart, which determines the length of a step. */
const POINTS = 72;

/** What is counted, and from which metric: the sum of the values with a matching label. */
const COUNTED = {
  delivered: ['lombard_webhook_attempts_total', 'outcome', /^delivered$/],
  delivery_failures: ['lombard_webhook_attempts_total', 'outcome', /^(?!delivered$)/],
  errors: ['lombard_http_request_duration_seconds', 'status', /^5/],
  refused: ['lombard_http_request_duration_seconds', 'status', /^4/],
  requests: ['lombard_http_request_duration_seconds', 'status', /^[123]/],
  sign_in_failures: ['lombard_sign_ins_total', 'outcome', /^(?!ok$|second_factor_required$)/],
  sign_ins: ['lombard_sign_ins_total', 'outcome', /^ok$/],
} as const satisfies Record<string, [metric: string, label: string, fits: RegExp]>;
/** What is measured: the greatest value of all processes, and within a step. */
const MEASURED = {
  audit_lag_seconds: 'lombard_audit_unsealed_age_seconds',
  outbox_lag_seconds: 'lombard_outbox_oldest_age_seconds',
} as const;

export const MEASURES: Measure[] = [...namesOf(COUNTED), ...namesOf(MEASURED)];
type Measure = keyof typeof COUNTED | keyof typeof MEASURED;

/** The history of the service's figures. `values` has one value for each step. */
export interface ServiceHistory {
  from: Date;
  step_seconds: number;
  measures: Record<Measure, number[]>;
}

/** Adds what this process has counted and measured to the minutes that all processes share. */
export class ServiceMinutes {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #periodic: Periodic;
  #before: Record<string, number> = {};
  #writing: Promise<void> = Promise.resolve();

  constructor(pool: Pool, clock: Clock, log: Logger) {
    this.#pool = pool;
    this.#clock = clock;
    const run = () => this.write();
    this.#periodic = new Periodic({ name: 'minutes of the service', intervalMs: WRITE_INTERVAL_MS, log, run });
  }

  async start(): Promise<void> {
    this.#before = await counts();
    this.#periodic.start();
  }

  stop(): Promise<void> {
    return this.#periodic.stop();
  }

  /** Writes what has happened since the last write. Two writes at once would count it twice, so each waits for the one before it. */
  write(): Promise<void> {
    this.#writing = this.#writing.catch(() => {}).then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    const now = await counts();
    const fresh = Object.entries(now).map(([name, count]) => [name, count - (this.#before[name] ?? 0)] as const);
    const written = [...fresh, ...(await lags())].filter(([, value]) => value > 0);
    if (written.length === 0) return;
    // In one order, so that two processes do not deadlock.
    written.sort(([a], [b]) => (a < b ? -1 : 1));
    await this.#pool.query({
      name: 'service-minutes',
      text: `insert into service_minutes as m (minute, measure, value)
        select date_trunc('minute', $1::timestamptz), * from unnest($2::text[], $3::float8[])
        on conflict (minute, measure) do update set value =
          case when m.measure = any($4) then greatest(m.value, excluded.value) else m.value + excluded.value end`,
      values: [
        this.#clock.now(),
        written.map(([name]) => name),
        written.map(([, value]) => value),
        Object.keys(MEASURED),
      ],
    });
    // Set only now, so that what a lost database did not accept is written the next time.
    this.#before = now;
  }
}

async function counts(): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const [name, [metric, label, fits]] of Object.entries(COUNTED)) {
    const read = await metrics.getSingleMetric(metric)?.get();
    found[name] = (read?.values ?? [])
      // For a histogram, only the number of measurements, without its buckets and sums.
      .filter((value) => /^$|_count$/.test(String(fieldsOf(value).metricName ?? '')))
      .filter(({ labels }) => fits.test(String(labels[label] ?? '')))
      .reduce((sum, { value }) => sum + value, 0);
  }
  return found;
}

async function lags(): Promise<(readonly [string, number])[]> {
  const found: (readonly [string, number])[] = [];
  for (const [name, metric] of Object.entries(MEASURED)) {
    const read = await metrics.getSingleMetric(metric)?.get();
    found.push([name, read?.values[0]?.value ?? 0]);
  }
  return found;
}

/** The figures of the service in the last hours, in steps. The last step is not over. @param hours 1 to 48 */
export async function readServiceHistory(db: Db, now: Date, hours: number): Promise<ServiceHistory> {
  const stepMs = (hours * HOUR_MS) / POINTS;
  const end = Math.ceil((now.getTime() + 1) / stepMs) * stepMs;
  const from = new Date(end - POINTS * stepMs);
  const { rows } = await db.query<{ measure: Measure; step: number; value: number }>(
    `select measure, floor(extract(epoch from minute - $1::timestamptz) / $2)::int as step,
       case when measure = any($3) then max(value) else sum(value) end as value
     from service_minutes where minute >= $1 and minute <= $4 group by measure, step`,
    [from, stepMs / 1_000, Object.keys(MEASURED), now],
  );
  const found = new Map(rows.map(({ measure, step, value }) => [`${measure} ${step}`, value]));
  const points = (name: Measure) => Array.from({ length: POINTS }, (_, step) => found.get(`${name} ${step}`) ?? 0);
  const measures = tableOf(MEASURES, points);
  return { from, step_seconds: stepMs / 1_000, measures };
}

/** Deletes expired minutes. */
export async function clearServiceMinutes(db: Db, now: Date): Promise<void> {
  await db.query('delete from service_minutes where minute < $1', [new Date(now.getTime() - KEPT_HOURS * HOUR_MS)]);
}
