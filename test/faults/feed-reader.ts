import { setTimeout as pause } from 'node:timers/promises';
import { Seeded } from '../../src/sandbox/demonstration/seeded.ts';
import type { Change } from '../world/feed-copy.ts';
import { call } from '../world/service.ts';
import { OPERATOR_TOKEN, type System } from './system.ts';

const RETRY_AFTER_MS = 200;
const ANSWER_MS = 20_000;
/** Where there is nothing new. */
const WAIT_SECONDS = 1;

/** A core that follows the change feed all the time, at whichever process answers. */
export class FeedReader {
  readonly changes: Change[] = [];
  readonly #system: System;
  readonly #random: Seeded;
  #cursor = '';
  #running = true;
  #following: Promise<void>;
  #failure: Error | undefined;

  constructor(system: System, seed: number) {
    this.#system = system;
    this.#random = new Seeded(seed);
    this.#following = this.#follow();
  }

  /** Everything that was read, once nothing is left. @throws Error where the feed answered what it must not */
  async caughtUp(): Promise<readonly Change[]> {
    await this.stop();
    if (this.#failure) throw this.#failure;
    while ((await this.#page(0)) > 0);
    this.#running = true;
    this.#following = this.#follow();
    return this.changes.slice();
  }

  async stop(): Promise<void> {
    this.#running = false;
    await this.#following;
  }

  async #follow(): Promise<void> {
    try {
      while (this.#running) await this.#page(WAIT_SECONDS);
    } catch (error) {
      this.#failure = error as Error;
    }
  }

  /** @returns how many changes it had, or 1 where nobody answered */
  async #page(wait: number): Promise<number> {
    const { operator } = this.#random.pick(this.#system.fronts);
    const query = `limit=${this.#random.whole(1, 300)}&wait=${wait}${this.#cursor && `&after=${this.#cursor}`}`;
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer = await call(`${operator}/changes?${query}`, 'GET', { token: OPERATOR_TOKEN, signal }).catch(
      () => undefined,
    );
    if (answer?.status !== 200) {
      if (answer && answer.status < 500) throw new Error(`the feed answers ${answer.status}: ${answer.text}`);
      await pause(RETRY_AFTER_MS);
      return 1;
    }
    this.changes.push(...answer.body.changes);
    this.#cursor = answer.body.cursor;
    return answer.body.changes.length;
  }
}
