import { setTimeout as pause } from 'node:timers/promises';
import { stringify } from '../../sdk/src/index.ts';
import { codeOf, fieldsOf, listOf } from '../values/unknown.ts';
import { CommandFailure, INTERRUPTED, interruption } from './failure.ts';
import { example, type Frame } from './frame.ts';
import { askOperator, type OperatorOptions, refusalOf, Unanswered, withOperator } from './operator-call.ts';
import { write } from './output.ts';

/** The number of changes on one page. */
const PAGE_ROWS = 500;
/** Seconds that the service waits for a change if the command goes on. */
const WAIT_SECONDS = 20;
/** A service that has not answered this long after its wait is asked again. */
const PATIENCE_MS = 15_000;
/** Milliseconds before an unreachable service is asked again. */
const ASK_AGAIN_AFTER_MS = 500;

interface ChangesOptions extends OperatorOptions {
  consumer?: string;
  follow?: boolean;
}

interface Page {
  changes: readonly unknown[];
  cursor: string;
  more: boolean;
}

type Answer = Awaited<ReturnType<typeof askOperator>>;

/** `lombard changes`. */
export function changesCommand(frame: Frame): void {
  const changes = withOperator(
    frame.program
      .command('changes')
      .description('write the change feed to standard output, a JSON change a line (docs/change-feed.md)')
      .option('--consumer <name>', 'begin where this consumer has acknowledged, and acknowledge what was written')
      .option('--follow', 'keep writing new changes, until it is interrupted'),
  );
  example(changes, 'changes | jq .entity', 'changes --consumer core --follow >> changes.ndjson');
  frame.does<ChangesOptions>(changes, ({ options }) => writeChanges(options));
}

/**
 * Writes the feed page by page. A page is acknowledged once the output has accepted it. If the reader closes the output, as `head` does,
 * the command ends without an error. What was not written is not acknowledged.
 * @returns 0 at the end of the feed, 130 if it was interrupted
 * @throws CommandFailure, OutputClosed
 */
async function writeChanges(options: ChangesOptions): Promise<number> {
  const feed = new Feed(options, interruption());
  for (;;) {
    const page = await feed.next();
    if (!page) return INTERRUPTED;
    if (page.changes.length > 0) {
      await write(page.changes.map((change) => `${stringify(change)}\n`).join(''));
      await feed.acknowledge(page.cursor);
    }
    if (!page.more && !options.follow) return 0;
  }
}

/** Reads the pages of the feed. With `follow` it survives restarts of the service. */
class Feed {
  readonly #options: ChangesOptions;
  readonly #interrupted: AbortSignal;
  #cursor: string | undefined;
  #told = false;

  constructor(options: ChangesOptions, interrupted: AbortSignal) {
    this.#options = options;
    this.#interrupted = interrupted;
  }

  /** The next page; undefined if the command was interrupted. @throws CommandFailure */
  async next(): Promise<Page | undefined> {
    const { consumer, follow } = this.#options;
    const query = new URLSearchParams({ limit: String(PAGE_ROWS), ...(follow ? { wait: String(WAIT_SECONDS) } : {}) });
    if (this.#cursor !== undefined) query.set('after', this.#cursor);
    else if (consumer !== undefined) query.set('consumer', consumer);
    let answer = await this.#ask('GET', `/changes?${query}`);
    if (codeOf(answer?.body) === 'consumer_not_found') {
      // A new consumer begins with the oldest change that is kept. Its first acknowledgement creates it.
      query.delete('consumer');
      answer = await this.#ask('GET', `/changes?${query}`);
    }
    if (answer === undefined || this.#interrupted.aborted) return undefined;
    const { changes, cursor, more } = fieldsOf(accepted(answer));
    this.#cursor = String(cursor);
    return { changes: listOf(changes), cursor: this.#cursor, more: more === true };
  }

  /** @throws CommandFailure */
  async acknowledge(cursor: string): Promise<void> {
    const { consumer } = this.#options;
    if (consumer === undefined) return;
    const answer = await this.#ask('PUT', `/change-consumers/${encodeURIComponent(consumer)}`, { cursor });
    if (answer) accepted(answer);
  }

  /** Asks until the service answers; undefined if the command was interrupted. Without `follow` it asks once. */
  async #ask(method: 'GET' | 'PUT', path: string, body?: object): Promise<Answer | undefined> {
    for (;;) {
      const reason = await this.#askOnce(method, path, body);
      if (!(reason instanceof CommandFailure)) return reason;
      if (this.#interrupted.aborted && method === 'GET') return undefined;
      if (!this.#options.follow || this.#interrupted.aborted) throw reason;
      if (!this.#told) process.stderr.write(`lombard: ${reason.message}; it is asked again, and nothing is missed\n`);
      this.#told = true;
      await pause(ASK_AGAIN_AFTER_MS, undefined, { signal: this.#interrupted }).catch(() => {});
    }
  }

  /** @returns the answer, or the failure if the service has none at the moment. A restarted service may listen at another address */
  async #askOnce(method: 'GET' | 'PUT', path: string, body?: object): Promise<Answer | CommandFailure> {
    const patience = AbortSignal.timeout(WAIT_SECONDS * 1_000 + PATIENCE_MS);
    // What was written is acknowledged even if the command was interrupted meanwhile.
    const signal = method === 'GET' ? AbortSignal.any([patience, this.#interrupted]) : patience;
    try {
      const answer = await askOperator(this.#options, { method, path, body, signal });
      if (answer.status >= 500 || answer.status === 429) return refusalOf(answer);
      if (this.#told) process.stderr.write('lombard: the service is back\n');
      this.#told = false;
      return answer;
    } catch (error) {
      if (error instanceof Unanswered) return error;
      throw error;
    }
  }
}

/** @throws CommandFailure if the answer is a refusal */
function accepted(answer: Answer): unknown {
  if (answer.status < 300) return answer.body;
  throw refusalOf(answer);
}
