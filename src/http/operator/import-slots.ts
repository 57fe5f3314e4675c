import type { FastifyReply } from 'fastify';
import { inTime } from '../../process/deadline.ts';
import type { Patience } from '../../process/patience.ts';
import { Problem } from '../../values/errors.ts';
import type { Stopping } from './import-stopping.ts';

/** Imports at the same time in one process, each with a database connection. */
const MAX_CONCURRENT_IMPORTS = 3;
/** After how many seconds the caller of one that got no turn may try again. */
const RETRY_AFTER_SECONDS = 30;

/** Lets a number of imports run. The others wait for a short time, in the order of their arrival. */
export class ImportSlots {
  #free = MAX_CONCURRENT_IMPORTS;
  readonly #waiting: (() => void)[] = [];
  readonly #stopping: Stopping;
  readonly #patience: Readonly<Patience>;

  constructor(stopping: Stopping, patience: Readonly<Patience>) {
    this.#stopping = stopping;
    this.#patience = patience;
  }

  /** @throws Problem rate_limited with `Retry-After`, where no import ends in time; interrupted */
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
      // Its turn has come at the same moment: it is the next one's.
      if (place < 0) this.#release();
      else this.#waiting.splice(place, 1);
      throw error;
    }
  }
}
