import type { Context } from '../../context.ts';
import { ClientMoves } from '../../database/cells/client-moves.ts';
import { isDistributed } from '../../database/cells/pool.ts';
import { inScope } from '../../database/cells/scope.ts';
import type { Transaction, WhenLocked } from '../../database/database.ts';
import { waitedInVain } from '../../database/fault.ts';
import type { StoredAnswer } from '../../operator/idempotency.ts';
import { Problem } from '../../values/errors.ts';
import { codeOf } from '../../values/unknown.ts';
import { runChange, runTogether, type SharedCall } from './change.ts';

/** The most changes that share a transaction. */
const MAX_TOGETHER = 64;

/**
 * Does the changes of calls in one transaction.
 * @returns the answer or the refusal of each; undefined if it was left out
 * @throws what fails for all of them
 */
type Run<Call, Answer> = (
  calls: readonly Call[],
  whenLocked: WhenLocked,
) => Promise<readonly (Answer | Problem | undefined)[]>;

/** A call that waits for its turn. */
interface Waiting<Call, Answer> {
  call: Call;
  record: string;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/** The changes of a cell. */
interface Lane<Call, Answer> {
  /** Whether a shared transaction is running. A second one beside it would make both smaller, and cost more for each change. */
  running: boolean;
  /** The records that have a change under way. */
  busy: Set<string>;
  waiting: Waiting<Call, Answer>[];
}

/**
 * Queues changes of one kind. Those that arrive while others run share the next transaction, which saves commits and round trips. A change
 * that comes alone waits for nobody. Changes of one record run one after the other.
 *
 * A shared transaction does not wait for a record that an order or another process has locked. It leaves that record's changes out, and
 * they get a transaction of their own, for which only that record waits.
 */
export class ChangeQueue<Call, Answer> {
  readonly #run: Run<Call, Answer>;
  readonly #lanes = new Map<number, Lane<Call, Answer>>();

  constructor(run: Run<Call, Answer>) {
    this.#run = run;
  }

  /**
   * Does a change when it is the record's turn.
   * @param cell where the record is; changes of different cells never share a transaction
   * @throws the error of the change
   */
  run(cell: number, record: string, call: Call): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const lane = this.#lanes.get(cell) ?? { running: false, busy: new Set(), waiting: [] };
    this.#lanes.set(cell, lane);
    lane.waiting.push({ call, record, resolve, reject });
    this.#begin(lane);
    return promise;
  }

  /** Begins the next turn, if none is running. */
  #begin(lane: Lane<Call, Answer>): void {
    if (lane.running) return;
    const turn = lane.waiting.filter(({ record }) => !lane.busy.has(record)).slice(0, MAX_TOGETHER);
    if (turn.length === 0) return;
    for (const { record } of turn) lane.busy.add(record);
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
    const own = Map.groupBy(left, ({ record }) => record);
    for (const { record } of turn) if (!own.has(record)) lane.busy.delete(record);
    for (const [record, calls] of own) void this.#takeOwn(lane, record, calls);
    this.#begin(lane);
  }

  /** A turn of one record alone. Changes that still cannot share a transaction follow one by one. */
  async #takeOwn(lane: Lane<Call, Answer>, record: string, turn: readonly Waiting<Call, Answer>[]): Promise<void> {
    try {
      for (const each of await this.#answer(turn, 'wait')) await this.#answer([each], 'wait');
    } catch (error) {
      this.#fail(lane, [...turn, ...lane.waiting.filter((each) => each.record === record)], error);
    }
    lane.busy.delete(record);
    this.#begin(lane);
  }

  /** Does the changes of calls and answers them. @returns those that were left out. @throws a timeout, of which these calls have been told */
  async #answer(
    turn: readonly Waiting<Call, Answer>[],
    whenLocked: WhenLocked,
  ): Promise<readonly Waiting<Call, Answer>[]> {
    try {
      const answers = await this.#run(
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

/**
 * Does the changes of calls of one kind that are not refused and have no answer yet.
 * @returns the answer or the refusal of each; undefined leaves a call out
 */
type Work<Call> = (
  tx: Transaction,
  calls: readonly Call[],
  whenLocked: WhenLocked,
) => Promise<(StoredAnswer | Problem | undefined)[]>;

/** Milliseconds that a shared transaction waits for a lock. Then it is undone, and each of its changes waits in a transaction of its own. */
const LOCK_WAIT_MS = 50;

/** SQLSTATEs for a lock that was not free in time, and for a deadlock. */
const LOCKED = /^(55P03|40P01)/;
/** SQLSTATEs for a value that the database refuses: out of range, against a constraint, or a duplicate. */
const REFUSED_VALUE = /^2[23]/;

/** Thrown to undo a change that is left out. */
class LeftOut extends Error {}

/**
 * Makes the function that does the changes of one kind of request. Requests that come at once share a transaction.
 * @returns a function that does the change of a call to a record, when it is the record's turn
 */
export function shareChanges<Call extends SharedCall>(
  context: Context,
  work: Work<Call>,
): (record: string, call: Call) => Promise<StoredAnswer> {
  const bounded = (tx: Transaction, calls: readonly Call[], whenLocked: WhenLocked) => {
    if (whenLocked === 'leave out') {
      // Without this, Citus does not tell the worker that waits for the lock.
      if (isDistributed(tx)) tx.later("set local citus.propagate_set_commands = 'local'");
      tx.later(`set local lock_timeout = ${LOCK_WAIT_MS}`);
    }
    return work(tx, calls, whenLocked);
  };
  const alone = (call: Call, whenLocked: WhenLocked) =>
    runChange(context, call.request, {
      ...call,
      work: async (tx) => {
        const [outcome] = await bounded(tx, [call], whenLocked);
        if (outcome instanceof Problem) throw outcome;
        if (outcome === undefined) throw new LeftOut('the record of a change is locked');
        return outcome;
      },
    });
  const run = async (calls: readonly Call[], whenLocked: WhenLocked) => {
    const [first] = calls;
    const isAlone = first !== undefined && calls.length === 1;
    try {
      return isAlone
        ? [await alone(first, whenLocked)]
        : await runTogether(context, calls, (tx, fit) => bounded(tx, fit, whenLocked));
    } catch (error) {
      const code = codeOf(error) ?? '';
      const isLocked = error instanceof LeftOut || LOCKED.test(code);
      if (isAlone ? isLocked && whenLocked === 'leave out' : isLocked || isCausedByOne(error, code)) return [];
      throw error;
    }
  };
  const queue = new ChangeQueue<Call, StoredAnswer>((calls, whenLocked) => {
    const scope = calls[0]?.request.cellScope;
    // A turn begins when another one ends, so it would run in the cell of that one.
    return scope ? inScope(scope, () => run(calls, whenLocked)) : run(calls, whenLocked);
  });
  return (record, call) => {
    const cell = call.request.cellScope?.cell;
    return queue.run(typeof cell === 'number' ? cell : 0, record, call);
  };
}

/** Whether one of several changes has failed their transaction. Nothing was done then. Each is done by itself, and told its own fault. */
function isCausedByOne(error: unknown, code: string): boolean {
  return REFUSED_VALUE.test(code) || error instanceof ClientMoves || error instanceof Problem;
}
