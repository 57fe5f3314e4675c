import type { FastifyReply } from 'fastify';
import { inTime } from '../../process/deadline.ts';
import type { Patience } from '../../process/patience.ts';
import { Problem } from '../../values/errors.ts';
import type { Stopping } from './import-stopping.ts';

/** The most imports at the same time in one process. Each needs a database connection. */
const MAX_CONCURRENT_IMPORTS = 3;
/** Seconds after which a caller that got no slot may try again. */
const RETRY_AFTER_SECONDS = 30;

/** Limits how many imports run at once. Others wait for a short time, in the order of their arrival. */
export class ImportSlots {
  #free = MAX_CONCURRENT_IMPORTS;
  readonly #waiting: (() => void)[] = [];
  readonly #stopping: Stopping;
  readonly #patience: Readonly<Patience>;

  constructor(stopping: Stopping, patience: Readonly<Patience>) {
    this.#stopping = stopping;
    this.#patience = patience;
  }

  /** @throws Problem rate_limited with `Retry-After` if no import ends in time; interrupted */
  async take<T>(reply: FastifyReply, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(reply);
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  #release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }

  async #turn(reply: FastifyReply): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    const busy = () => {
      reply.header('retry-after', String(RETRY_AFTER_SECONDS));
      return new Problem('rate_limited', `${MAX_CONCURRENT_IMPORTS} imports run already; send this one again later`);
    };
    try {
      await this.#stopping.before(inTime(promise, this.#patience.turnMs, busy));
    } catch (error) {
      const place = this.#waiting.indexOf(resolve);
      // Its turn came at the same moment, so the next one gets it.
      if (place < 0) this.#release();
      else this.#waiting.splice(place, 1);
      throw error;
    }
  }
}
