import type { Pool } from '../database/database.ts';
import type { Logger } from '../process/log.ts';
import type { Part } from '../process/parts.ts';
import { Periodic } from '../process/periodic.ts';
import type { Clock } from '../values/calendar.ts';
import { clearRefusedRequests, RefusedRequests } from './refused-requests.ts';
import { clearServiceMinutes, ServiceMinutes } from './service-minutes.ts';
import { clearSignInAttempts, SignInAttempts } from './sign-in-attempts.ts';

const CLEAR_INTERVAL_MS = 3_600_000;

/** The journals of a process. */
export class Journals implements Part {
  readonly refusedRequests: RefusedRequests;
  readonly signIns: SignInAttempts;
  readonly minutes: ServiceMinutes;

  constructor(pool: Pool, clock: Clock, log: Logger) {
    this.refusedRequests = new RefusedRequests(pool, clock, log);
    this.signIns = new SignInAttempts(pool, clock, log);
    this.minutes = new ServiceMinutes(pool, clock, log);
  }

  async start(): Promise<void> {
    this.refusedRequests.start();
    this.signIns.start();
    await this.minutes.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.refusedRequests.stop(), this.signIns.stop(), this.minutes.stop()]);
  }
}

/** Deletes expired entries, of all processes. */
export function createJournalClearing(pool: Pool, clock: Clock, log: Logger): Periodic {
  return new Periodic({
    name: 'old journal entries',
    intervalMs: CLEAR_INTERVAL_MS,
    log,
    run: async () => {
      await clearRefusedRequests(pool, clock.now());
      await clearSignInAttempts(pool, clock.now());
      await clearServiceMinutes(pool, clock.now());
    },
  });
}
