import { waitedInVain } from '../database/fault.ts';
import { Problem } from '../values/errors.ts';

/** The most bookings that share a transaction. */
const MAX_TOGETHER = 64;

/** A call that waits for its turn. */
interface Waiting<Call, Answer> {
  call: Call;
  resolve: (answer: Answer | PromiseLike<Answer>) => void;
  reject: (error: unknown) => void;
}

/** How calls are answered. */
interface BookingWork<Call, Answer> {
  /** Books a single call. */
  alone: (call: Call) => Promise<Answer>;
  /** Books several calls in one transaction. @returns the answer or the refusal of each; undefined if it is to be booked alone */
  together: (calls: readonly Call[]) => Promise<(Answer | Problem | undefined)[]>;
}

/**
 * Queues bookings by account. Bookings of one account run one after the other, because each records the balance after it. Those that arrive
 * while others of the account run share the next transaction, which saves commits. A single booking waits for nobody.
 */
export class BookingQueue<Call, Answer> {
  readonly #work: BookingWork<Call, Answer>;
  /** The waiting calls of each account that has a turn now. */
  readonly #waiting = new Map<string, Waiting<Call, Answer>[]>();

  constructor(work: BookingWork<Call, Answer>) {
    this.#work = work;
  }

  /** Books when it is the account's turn. @throws the error of the booking */
  book(account: string, call: Call): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const caller = { call, resolve, reject };
    const waiting = this.#waiting.get(account);
    if (waiting) waiting.push(caller);
    else {
      this.#waiting.set(account, []);
      void this.#takeTurns(account, [caller]);
    }
    return promise;
  }

  async #takeTurns(account: string, first: Waiting<Call, Answer>[]): Promise<void> {
    for (let turn = first; turn.length > 0; turn = this.#waiting.get(account)?.splice(0, MAX_TOGETHER) ?? []) {
      try {
        await this.#answer(turn);
      } catch (error) {
        // The calls behind a turn that timed out have waited just as long. A turn of their own would take as long again, so they fail too.
        const late = waitedInVain(error) ? (this.#waiting.get(account)?.splice(0) ?? []) : [];
        for (const { reject } of [...turn, ...late]) reject(error);
      }
    }
    this.#waiting.delete(account);
  }

  /** @throws what fails for all calls without an answer; a timeout of a single call */
  async #answer(turn: readonly Waiting<Call, Answer>[]): Promise<void> {
    const several = turn.length > 1 ? await this.#work.together(turn.map(({ call }) => call)) : [];
    for (const [index, { call, resolve, reject }] of turn.entries()) {
      const answer = several[index];
      if (answer instanceof Problem) reject(answer);
      else if (answer !== undefined) resolve(answer);
      else
        await this.#work.alone(call).then(resolve, (error: unknown) => {
          reject(error);
          if (waitedInVain(error)) throw error;
        });
    }
  }
}
