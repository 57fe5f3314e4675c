import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, call } from '../world/service.ts';

/** A caller that hears nothing gives up. */
const ANSWER_MS = 20_000;
const RETRY_AFTER_MS = 300;

/** What a caller asked for once, however often it had to ask. */
export interface Entry {
  /** Which kind of call. */
  what: string;
  /** Of each attempt. They are in the audit row of what they changed. */
  requestIds: string[];
  /** Undefined: no attempt was answered; it may have been done or not. */
  status: number | undefined;
  /** Where the audit trail has nothing to say: a change that changed nothing. */
  silent: boolean;
  answer: Answer | undefined;
  /** Texts that a table has as often as it was done. */
  table: MarkedTable | undefined;
  marks: string[];
}

export type MarkedTable = 'payments' | 'transactions' | 'trades' | 'beneficiaries' | 'contacts';

export interface Request {
  what: string;
  url: () => string;
  method: string;
  token: string;
  body?: object;
  /** NDJSON instead of a body. */
  lines?: string;
  /** Asked again under one idempotency key until it is answered. */
  insist: boolean;
  silent?: boolean;
  table?: MarkedTable;
  marks?: string[];
}

/** Everything that was asked for, with what was answered. */
export class Ledger {
  readonly entries: Entry[] = [];
  readonly #seed: number;
  answered = 0;
  #count = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** A text that nothing else has. */
  mark(): string {
    this.#count += 1;
    return `F${this.#seed}-${this.#count}`;
  }

  async ask(request: Request): Promise<Entry> {
    const key = this.mark();
    const { what, silent = false, table, marks = [] } = request;
    const entry: Entry = { what, requestIds: [], status: undefined, silent, answer: undefined, table, marks };
    this.entries.push(entry);
    for (let attempt = 1; ; attempt += 1) {
      const requestId = `${key}.${attempt}`;
      entry.requestIds.push(requestId);
      const headers: Record<string, string> = { 'x-request-id': requestId };
      if (request.insist) headers['idempotency-key'] = key;
      if (request.lines !== undefined) headers['content-type'] = 'application/x-ndjson';
      const answer = await call(request.url(), request.method, {
        token: request.token,
        headers,
        signal: AbortSignal.timeout(ANSWER_MS),
        ...(request.lines === undefined ? { body: request.body } : { raw: request.lines }),
      }).catch(() => undefined);
      // 408 and 503 of an import: it goes on behind what it has.
      if (answer && answer.status < 500 && answer.status !== 408 && answer.status !== 429) {
        entry.status = answer.status;
        entry.answer = answer;
        this.answered += 1;
        return entry;
      }
      if (!request.insist) return entry;
      await pause(RETRY_AFTER_MS);
    }
  }
}
