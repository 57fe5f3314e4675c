import { Gauge } from 'prom-client';
import { first, type Pool } from '../database/database.ts';
import { endsWithin } from '../process/deadline.ts';
import { metrics } from '../process/metrics.ts';
import type { Part } from '../process/parts.ts';
import { type Clock, monotonic } from '../values/calendar.ts';
import { namesOf } from '../values/unknown.ts';

/** The age in milliseconds up to which a result also serves the next scrape. */
const MAX_AGE_MS = 5_000;
/** Milliseconds that a scrape waits for the database. */
const MAX_WAIT_MS = 2_000;
/** Rows are counted up to this number. */
const MAX_COUNTED_ROWS = 100_000;

const GAUGES = {
  outbox_events: 'Events without notifications so far',
  outbox_oldest_age_seconds: 'Age of the oldest event without notifications',
  deliveries_due: `Webhook deliveries that are due and that no worker has taken, at most ${MAX_COUNTED_ROWS}`,
  statements_waiting: 'Statements that have not been sent yet',
  audit_unsealed_age_seconds: 'Age of the oldest audit row that is not in the chain yet',
  totals_unrolled_age_seconds: 'Age of the oldest change that payment totals have not rolled up yet',
  holds_overdue: 'Holds whose payment was sent, or whose trade was closed, more than an hour ago',
} as const;
type Backlogs = Record<keyof typeof GAUGES, number>;

/** Gauges of the work that waits in the database. They are read when a scrape asks, at most every five seconds. */
export class Backlog implements Part {
  readonly #cells: readonly Pool[];
  readonly #clock: Clock;
  /** Cells that have not answered the last question yet. They are not asked again until they have. */
  readonly #asked = new Set<Pool>();
  #reading: { at: number; found: Promise<Backlogs | undefined> } | undefined;

  /** @param cells the background pool of each cell */
  constructor(cells: readonly Pool[], clock: Clock) {
    this.#cells = cells;
    this.#clock = clock;
  }

  start(): void {
    running.add(this);
  }

  stop(): void {
    running.delete(this);
  }

  /** The waiting work, in the cells that answer; undefined if none does in time. */
  async read(): Promise<Backlogs | undefined> {
    if (!this.#reading || monotonic() - this.#reading.at > MAX_AGE_MS)
      this.#reading = { at: monotonic(), found: this.#readAll() };
    return this.#reading.found;
  }

  async #readAll(): Promise<Backlogs | undefined> {
    const found = await Promise.all(this.#cells.map((cell) => this.#readCell(cell)));
    const told = found.filter((each) => each !== undefined);
    return told.length > 0 ? told.reduce(together) : undefined;
  }

  async #readCell(cell: Pool): Promise<Backlogs | undefined> {
    if (this.#asked.has(cell)) return undefined;
    this.#asked.add(cell);
    const answer = cell
      .query<Backlogs>(SELECT, [this.#clock.now()])
      .then(first, () => undefined)
      .finally(() => this.#asked.delete(cell));
    return (await endsWithin(answer, MAX_WAIT_MS)) ? answer : undefined;
  }
}

/** The waiting work of two cells: the older age, and the sum of everything else. */
function together(one: Backlogs, other: Backlogs): Backlogs {
  const both = { ...one };
  for (const name of namesOf(GAUGES))
    both[name] = name.endsWith('_age_seconds') ? Math.max(one[name], other[name]) : one[name] + other[name];
  return both;
}

/** The services of this process: one, except in tests. */
const running = new Set<Backlog>();

for (const name of namesOf(GAUGES))
  new Gauge({
    name: `lombard_${name}`,
    help: GAUGES[name],
    registers: [metrics],
    async collect() {
      const [backlog] = running;
      const found = await backlog?.read();
      // A value that could not be read is omitted rather than shown with its old value.
      if (found) this.set(found[name]);
      else this.remove();
    },
  });

/** $1 is the service's time, in which events and audit rows are written. */
const SELECT = `
  select (select count(*) from (select from webhook_outbox limit ${MAX_COUNTED_ROWS}) o)::int as outbox_events,
    ${age('(select min(created_at) from webhook_outbox)')} as outbox_oldest_age_seconds,
    (select count(*) from (
      select from webhook_queue where due_at <= $1 and lease_owner is null limit ${MAX_COUNTED_ROWS}) q)::int as deliveries_due,
    (select count(*) from statement_deliveries where status in ('requested', 'making', 'retrying'))::int as statements_waiting,
    ${age('(select min(at) from audit_unsealed)')} as audit_unsealed_age_seconds,
    extract(epoch from coalesce(clock_timestamp() - least(
      (select min(at) from payment_total_deltas), (select min(at) from payment_approver_deltas),
      (select min(at) from trade_allocation_deltas), (select min(at) from trade_total_deltas)), interval '0'))::float8
      as totals_unrolled_age_seconds,
    (select count(*) from (select from holds where closed_at is null and executed_at < $1::timestamptz - interval '1 hour'
      limit ${MAX_COUNTED_ROWS}) h)::int as holds_overdue`;

function age(instant: string): string {
  return `greatest(0, extract(epoch from coalesce($1::timestamptz - ${instant}, interval '0')))::float8`;
}
