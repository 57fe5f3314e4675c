import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import { type Db, first, type Pool, type Transaction } from '../database/database.ts';
import type { Logger } from '../process/log.ts';
import { Periodic } from '../process/periodic.ts';
import { parseInstant, type ServiceClock } from '../values/calendar.ts';
import { Problem } from '../values/errors.ts';

/** Milliseconds between two reads of the offset, so that every process follows a move within a second. */
const POLL_INTERVAL_MS = 300;
/** The most milliseconds by which the sandbox's clock may differ from the machine's: 20 years. */
const MAX_OFFSET_MS = 20 * 365 * 86_400_000;

/** How far the sandbox's clock is ahead of the machine's (ms). */
export async function readOffset(db: Db): Promise<number> {
  const row = first(await db.query<{ offset_ms: number }>('select offset_ms from service_clock'));
  return row?.offset_ms ?? 0;
}

/** A move of the clock. Exactly one of its fields is set. */
export interface ClockMove {
  /** ISO 8601 with an offset. */
  at?: string;
  /** A number, or its digits. A negative number moves the clock backward. */
  advance_seconds?: number | string;
}

/**
 * Moves the sandbox's clock to an instant, or by a number of seconds. Without either, it is set back to the machine's time.
 * @returns the new offset (ms)
 * @throws Problem invalid_body
 */
export async function moveClock(
  tx: Transaction,
  act: Act,
  clock: ServiceClock,
  input: ClockMove | undefined,
): Promise<number> {
  if (input && (input.at === undefined) === (input.advance_seconds === undefined))
    throw new Problem('invalid_body', { field: 'at', message: 'either at or advance_seconds is required' });
  const before = await readOffset(tx);
  let offset = 0;
  if (input?.at !== undefined) {
    const at = parseInstant(input.at);
    if (!at)
      throw new Problem('invalid_body', { field: 'at', message: 'must be an ISO 8601 timestamp with an offset' });
    offset = at.getTime() - (clock.now().getTime() - clock.offset);
  } else if (input?.advance_seconds !== undefined) {
    offset = before + Math.round(Number(input.advance_seconds) * 1_000);
  }
  if (Math.abs(offset) > MAX_OFFSET_MS)
    throw new Problem('invalid_body', {
      field: input?.at === undefined ? 'advance_seconds' : 'at',
      message: 'must not move the clock by more than 20 years',
    });
  await tx.query(
    `insert into service_clock (offset_ms) values ($1)
     on conflict ("only") do update set offset_ms = excluded.offset_ms`,
    [offset],
  );
  audit(tx, act, {
    action: 'update',
    entity: 'clock',
    entityId: 'clock',
    before: { offset_ms: before },
    after: { offset_ms: offset },
  });
  return offset;
}

/** Keeps this process's clock at the offset that the operator has set. */
export class ClockFollower {
  readonly #pool: Pool;
  readonly #clock: ServiceClock;
  readonly #following: Periodic;

  constructor(pool: Pool, clock: ServiceClock, log: Logger) {
    this.#pool = pool;
    this.#clock = clock;
    this.#following = new Periodic({ name: 'clock', intervalMs: POLL_INTERVAL_MS, log, run: () => this.#follow() });
  }

  async start(): Promise<void> {
    this.#clock.offset = await readOffset(this.#pool);
    this.#following.start();
  }

  stop(): Promise<void> {
    return this.#following.stop();
  }

  async #follow(): Promise<void> {
    const known = this.#clock.offset;
    const read = await readOffset(this.#pool);
    // If this process moved the clock during the query, the answer may be older than the move.
    if (this.#clock.offset === known) this.#clock.offset = read;
  }
}
