import { waitedInVain } from '../database/fault.ts';
import { Problem } from '../values/errors.ts';
import type { WhenLocked } from './account-lock.ts';

/** The most bookings that share a transaction. */
const MAX_TOGETHER = 64;

/**
 * Books calls in one transaction.
 * @returns the answer or the refusal of each; undefined if it was left out
 * @throws what fails for all of them
 */
type Book<Call, Answer> = (
  calls: readonly Call[],
  whenLocked: WhenLocked,
) => Promise<readonly (Answer | Problem | undefined)[]>;

/** A call that waits for its turn. */
interface Waiting<Call, Answer> {
  call: Call;
  account: string;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/** The bookings of a cell. */
interface Lane<Call, Answer> {
  /** Whether a shared transaction is running. A second one beside it would make both smaller, and cost more for each booking. */
  running: boolean;
  /** The accounts that have a booking under way. */
  busy: Set<string>;
  waiting: Waiting<Call, Answer>[];
}

/**
 * Queues bookings. Those that arrive while others run share the next transaction, which saves commits and round trips. A booking that comes
 * alone waits for nobody. Bookings of one account run one after the other, because each records the balance after it.
 *
 * A shared transaction does not wait for an account that an order or another process has locked. It leaves that account's bookings out, and
 * they get a transaction of their own, for which only that account waits.
 */
export class BookingQueue<Call, Answer> {
  readonly #book: Book<Call, Answer>;
  readonly #lanes = new Map<number, Lane<Call, Answer>>();

  constructor(book: Book<Call, Answer>) {
    this.#book = book;
  }

  /**
   * Books when it is the account's turn.
   * @param cell where the account is; bookings of different cells never share a transaction
   * @throws the error of the booking
   */
  book(cell: number, account: string, call: Call): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const lane = this.#lanes.get(cell) ?? { running: false, busy: new Set(), waiting: [] };
    this.#lanes.set(cell, lane);
    lane.waiting.push({ call, account, resolve, reject });
    this.#begin(lane);
    return promise;
  }

  /** Begins the next turn, if none is running. */
  #begin(lane: Lane<Call, Answer>): void {
    if (lane.running) return;
    const turn = lane.waiting.filter(({ account }) => !lane.busy.has(account)).slice(0, MAX_TOGETHER);
    if (turn.length === 0) return;
    for (const { account } of turn) lane.busy.add(account);
    remove(lane, turn);
    lane.running = true;
    void this.#take(lane, turn);
  }

  async #take(lane: Lane<Call, Answer>, turn: readonly Waiting<Call, Answer>[]): Promise<void> {
    const left = await this.#answer(turn, 'leave out').catch((error: unknown) => {
      this.#fail(lane, [...lane.waiting], error);
      return [];
    });
    lane.running = false;
    const own = Map.groupBy(left, ({ account }) => account);
    for (const { account } of turn) if (!own.has(account)) lane.busy.delete(account);
    for (const [account, calls] of own) void this.#takeOwn(lane, account, calls);
    this.#begin(lane);
  }

  /** A turn of one account alone. Bookings that still cannot share a transaction follow one by one. */
  async #takeOwn(lane: Lane<Call, Answer>, account: string, turn: readonly Waiting<Call, Answer>[]): Promise<void> {
    try {
      for (const each of await this.#answer(turn, 'wait')) await this.#answer([each], 'wait');
    } catch (error) {
      this.#fail(lane, [...turn, ...lane.waiting.filter((each) => each.account === account)], error);
    }
    lane.busy.delete(account);
    this.#begin(lane);
  }

  /** Books calls and answers them. @returns those that were left out. @throws a timeout, of which these calls have been told */
  async #answer(
    turn: readonly Waiting<Call, Answer>[],
    whenLocked: WhenLocked,
  ): Promise<readonly Waiting<Call, Answer>[]> {
    try {
      const answers = await this.#book(
        turn.map(({ call }) => call),
        whenLocked,
      );
      return turn.filter(({ resolve, reject }, index) => {
        const answer = answers[index];
        if (answer instanceof Problem) reject(answer);
        else if (answer !== undefined) resolve(answer);
        return answer === undefined;
      });
    } catch (error) {
      for (const { reject } of turn) reject(error);
      if (waitedInVain(error)) throw error;
      return [];
    }
  }

  /**
   * Fails calls behind a turn that has timed out. They have waited just as long, and a turn of their own would take as long again. Those
   * that have an answer keep it.
   */
  #fail(lane: Lane<Call, Answer>, calls: readonly Waiting<Call, Answer>[], error: unknown): void {
    for (const { reject } of calls) reject(error);
    remove(lane, calls);
  }
}

function remove<Call, Answer>(lane: Lane<Call, Answer>, calls: readonly Waiting<Call, Answer>[]): void {
  const gone = new Set(calls);
  lane.waiting = lane.waiting.filter((each) => !gone.has(each));
}
