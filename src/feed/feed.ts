import type { Act } from '../audit/act.ts';
import type { Context } from '../context.ts';
import type { Db, Transaction } from '../database/database.ts';
import type { Kind } from '../database/kinds.ts';
import { monotonic } from '../values/calendar.ts';
import { Problem } from '../values/errors.ts';
import { Arrivals } from './arrivals.ts';
import { acknowledge, type Consumer, consumerPosition, deleteConsumer, listConsumers } from './consumer.ts';
import { type Cursors, readCursors } from './cursor.ts';
import { type ChangePage, readPage } from './page.ts';
import { type FeedEnds, feedEnds } from './retention.ts';

/** The request of a reader. */
export interface FeedRequest {
  /** A cursor, or `now`; undefined starts at the oldest change that is kept. */
  after?: string | undefined;
  /** Starts where this consumer has acknowledged. */
  consumer?: string | undefined;
  limit: number;
  /** Milliseconds to wait for a change if there is none yet. */
  waitMs: number;
  clientId?: string | undefined;
  entities?: Kind[] | undefined;
}

/** The change feed in the form that its readers see (docs/change-feed.md). */
export class ChangeFeed {
  readonly #context: Context;
  readonly #arrivals: Arrivals;
  #cursors: Cursors | undefined;

  constructor(context: Context) {
    this.#context = context;
    this.#arrivals = new Arrivals(context.pool);
  }

  /** Answers everybody who is waiting for changes. */
  stop(): void {
    this.#arrivals.stop();
  }

  /**
   * A page of the feed as JSON text. As long as there is nothing for the reader, it waits without holding a connection.
   * @throws Problem invalid_parameter, consumer_not_found, cursor_expired
   */
  async page(request: FeedRequest): Promise<string> {
    const { pool } = this.#context;
    const cursors = await this.#cursorsOf(pool);
    const deadline = monotonic() + request.waitMs;
    const ends = await this.#ends(pool);
    let position = await this.#start(pool, cursors, ends, request);
    let last = ends.last;
    for (;;) {
      const { limit, clientId, entities } = request;
      const page = await readPage(pool, cursors, { after: position, last, limit, clientId, entities });
      const left = deadline - monotonic();
      if (page.changes.length > 0 || page.more || left <= 0 || this.#arrivals.stopped) return shown(page, cursors);
      position = page.position;
      await this.#arrivals.wait(position, left);
      last = (await this.#ends(pool)).last;
    }
  }

  /** @throws Problem invalid_parameter, cursor_expired, cursor_behind */
  async acknowledge(
    tx: Transaction,
    act: Act,
    { name, cursor, rewind }: { name: string; cursor: string; rewind: boolean },
  ): Promise<Consumer> {
    const cursors = await this.#cursorsOf(tx);
    const ends = await this.#ends(tx);
    const position = cursors.read(cursor, 'cursor', ends.last);
    refuseExpired(position, ends, 'cursor');
    return acknowledge(tx, act, cursors, { name, position, rewind });
  }

  async consumers(): Promise<Consumer[]> {
    const { pool, clock } = this.#context;
    return listConsumers(pool, await this.#cursorsOf(pool), clock.now());
  }

  /** @throws Problem consumer_not_found */
  async deleteConsumer(tx: Transaction, act: Act, name: string): Promise<void> {
    await deleteConsumer(tx, act, { cursors: await this.#cursorsOf(tx), name });
  }

  /** The position after which a reader starts. */
  async #start(db: Db, cursors: Cursors, ends: FeedEnds, { after, consumer }: FeedRequest): Promise<number> {
    if (consumer !== undefined) {
      const position = await consumerPosition(db, consumer, 'consumer');
      refuseExpired(position, ends, 'consumer');
      return position;
    }
    if (after === undefined) return ends.floor;
    if (after === 'now') return ends.last;
    const position = cursors.read(after, 'after', ends.last);
    refuseExpired(position, ends, 'after');
    return position;
  }

  #ends(db: Db): Promise<FeedEnds> {
    const { clock, config } = this.#context;
    return feedEnds(db, clock.now(), config.changesRetentionDays);
  }

  async #cursorsOf(db: Db): Promise<Cursors> {
    this.#cursors ??= await readCursors(db);
    return this.#cursors;
  }
}

/** @throws Problem cursor_expired if changes after the position are no longer kept */
function refuseExpired(position: number, { floor }: FeedEnds, field: string): void {
  if (position >= floor) return;
  throw new Problem('cursor_expired', {
    field,
    message: 'the changes that follow are no longer kept; read the records again and begin with after=now',
  });
}

function shown({ changes, position, more }: ChangePage, cursors: Cursors): string {
  return `{"changes":[${changes.join(',')}],"cursor":"${cursors.write(position)}","more":${more}}`;
}
