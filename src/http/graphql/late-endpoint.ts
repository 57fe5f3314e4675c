import { cellPools } from '../../database/cells/contexts.ts';
import type { Pool } from '../../database/database.ts';
import type { Logger } from '../../process/log.ts';
import type { Part } from '../../process/parts.ts';
import type { GraphqlEndpoint } from './endpoint.ts';

/**
 * The endpoint, which is loaded with PostGraphile when somebody needs it. Loading takes half a second and 30 MB, which a process without
 * GraphQL calls saves. If clients have subscriptions, the process loads it as soon as it has started.
 */
export class LateEndpoint implements Part {
  readonly #pool: Pool;
  readonly #log: Logger;
  #made: Promise<GraphqlEndpoint> | undefined;
  #stopped = false;

  constructor(pool: Pool, log: Logger) {
    this.#pool = pool;
    this.#log = log;
  }

  /** Loads it in the background if any client has a subscription. */
  start(): void {
    this.#loadWhereUsed().catch((error: Error) => {
      if (!this.#stopped) this.#log.warn({ reason: error.message }, 'GraphQL is loaded at its first call');
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#made?.catch(() => undefined);
  }

  /** Waits until it is loaded. After a failure the next call tries again. @throws the error of the database or the module */
  get(): Promise<GraphqlEndpoint> {
    this.#made ??= this.#make();
    return this.#made;
  }

  async #make(): Promise<GraphqlEndpoint> {
    try {
      // Unless this is `production`, PostGraphile puts stacks into answers, checks its own plans at every request, and writes to the
      // console.
      // biome-ignore lint/plugin: it is set here, and read by others
      process.env.GRAPHILE_ENV = 'production';
      const { GraphqlEndpoint } = await import('./endpoint.ts');
      return await GraphqlEndpoint.create(this.#pool);
    } catch (error) {
      this.#made = undefined;
      throw error;
    }
  }

  async #loadWhereUsed(): Promise<void> {
    for (const pool of await cellPools(this.#pool)) {
      const { rowCount } = await pool.query('select from subscriptions limit 1');
      if (this.#stopped) return;
      if (rowCount) return void (await this.get());
    }
  }
}
