import type { FastifyInstance } from 'fastify';
import type { Patience } from '../../process/patience.ts';
import { Problem } from '../../values/errors.ts';
import { MAX_STOP_MS } from '../server/listener.ts';

/** Decides when the imports of a stopping listener must end. They go on for a while, but leave time for their answers. */
export class Stopping {
  /** Functions that end what waits now. */
  readonly #waiting = new Set<(reason: Problem) => void>();
  #over: Problem | undefined;

  constructor(app: FastifyInstance, patience: Readonly<Patience>) {
    let timer: NodeJS.Timeout | undefined;
    app.addHook('preClose', (done) => {
      timer = setTimeout(() => this.#end(), MAX_STOP_MS - patience.interruptedMs);
      done();
    });
    app.addHook('onClose', (_app, done) => {
      clearTimeout(timer);
      done();
    });
  }

  #end(): void {
    this.#over = new Problem('interrupted', 'line 1: go on from here');
    for (const end of this.#waiting) end(this.#over);
  }

  /** The result of work that completes before the end; after that nobody waits for it. @throws Problem interrupted */
  async before<T>(work: Promise<T>): Promise<T> {
    work.catch(() => {});
    if (this.#over) throw this.#over;
    const { promise, reject } = Promise.withResolvers<never>();
    this.#waiting.add(reject);
    try {
      return await Promise.race([promise, work]);
    } finally {
      this.#waiting.delete(reject);
    }
  }

  /** The same bytes, until the end has come. @throws Problem interrupted */
  async *until(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const chunks = source[Symbol.asyncIterator]();
    for (;;) {
      const result = await this.before(chunks.next());
      if (result.done) return;
      yield result.value;
    }
  }
}
