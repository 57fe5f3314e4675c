import type { Pool } from '../../database/database.ts';
import { monotonic } from '../../values/calendar.ts';

/** How long the list is used before it is read again. A newly registered application waits no longer than this. */
const LIFETIME_MS = 1_000;

/** The origins (RFC 6454) of the redirect addresses of enabled applications. Their pages may call the service. Public applications have no pages. */
export class ApplicationOrigins {
  readonly #pool: Pool;
  #read: { at: number; origins: Promise<Set<string>> } | undefined;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** @param origin in the form that a browser sends in the header Origin */
  async has(origin: string): Promise<boolean> {
    const now = monotonic();
    if (!this.#read || now - this.#read.at >= LIFETIME_MS) this.#read = { at: now, origins: this.#list() };
    return (await this.#read.origins).has(origin);
  }

  async #list(): Promise<Set<string>> {
    const { rows } = await this.#pool.query<{ uri: string }>(
      "select distinct unnest(redirect_uris) as uri from applications where status = 'enabled' and not public_client",
    );
    return new Set(rows.filter(({ uri }) => URL.canParse(uri)).map(({ uri }) => new URL(uri).origin));
  }
}
