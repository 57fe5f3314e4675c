import { Problem } from '../values/errors.ts';

/** Most bookings that share a transaction. */
const MAX_TOGETHER = 64;

/** A call that waits for its turn. */
interface Waiting<Call, Answer> {
  call: Call;
  resolve: (answer: Answer | Promise<Answer>) => void;
}

/**
 * Bookings of one account follow each other, since each has the balance after it. Those that come while others of the account are booked
 * share the next transaction, so that it is committed once for all of them. One that comes alone waits for nobody.
 */
export class BookingQueue<Call, Answer> {
  readonly #waiting = new Map<string, Waiting<Call, Answer>[]>();
  readonly #alone: (call: Call) => Promise<Answer>;
  readonly #together: (calls: readonly Call[]) => Promise<(Answer | Problem | undefined)[]>;

  /**
   * @param work `alone`: books one; `together`: books several in one transaction, and gives the answer or the refusal of each, or
   *   undefined where it is to be booked alone
   */
  constructor(work: {
    alone: (call: Call) => Promise<Answer>;
    together: (calls: readonly Call[]) => Promise<(Answer | Problem | undefined)[]>;
  }) {
    this.#alone = work.alone;
    this.#together = work.together;
  }

  /** Books in the turn of its account. @throws what booking it throws */
  book(account: string, call: Call): Promise<Answer> {
    const waiting = this.#waiting.get(account);
    if (waiting) return new Promise((resolve) => waiting.push({ call, resolve }));
    this.#waiting.set(account, []);
    return this.#alone(call).finally(() => void this.#next(account));
  }

  async #next(account: string): Promise<void> {
    const waiting = this.#waiting.get(account) ?? [];
    if (waiting.length === 0) return void this.#waiting.delete(account);
    const turn = waiting.splice(0, MAX_TOGETHER);
    const answers = turn.length > 1 ? this.#together(turn.map(({ call }) => call)) : Promise.resolve([]);
    let before: Promise<unknown> = answers;
    for (const [index, { call, resolve }] of turn.entries()) {
      const ended = this.#answer(answers, { index, call, before });
      before = ended.catch(() => {});
      resolve(ended);
    }
    await before.catch(() => {});
    await this.#next(account);
  }

  /** @throws what booking it throws */
  async #answer(
    answers: Promise<(Answer | Problem | undefined)[]>,
    { index, call, before }: { index: number; call: Call; before: Promise<unknown> },
  ): Promise<Answer> {
    const answer = (await answers)[index];
    if (answer instanceof Problem) throw answer;
    if (answer !== undefined) return answer;
    await before;
    return this.#alone(call);
  }
}
