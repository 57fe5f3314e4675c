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
  /** When, on the clock of this process, in ms. */
  askedAt: number;
  /** Where the audit trail has nothing to say: a change that changed nothing. */
  silent: boolean;
  answer: Answer | undefined;
  /** Texts that a table has as often as it was done. */
  table: MarkedTable | undefined;
  marks: string[];
}

/** Tables whose rows have a text that only one call gives, and the column of that text. */
export const MARKED = {
  clients: 'client_name',
  payments: 'reference',
  transactions: 'transaction_reference',
  trades: 'reference',
  beneficiaries: 'beneficiary_name',
  contacts: 'name',
  operator_tokens: 'name',
  applications: 'name',
  approval_configurations: "configuration->'groups'->0->>'name'",
  mass_payments: 'external_reference_id',
} as const;

export type MarkedTable = keyof typeof MARKED;

export interface Request {
  what: string;
  url: () => string;
  method: string;
  /** Undefined: a header says who calls. */
  token?: string | undefined;
  headers?: Record<string, string> | undefined;
  body?: object | undefined;
  /** NDJSON instead of a body. */
  lines?: string | undefined;
  /** Fields of a form instead of a body. */
  form?: Record<string, string> | undefined;
  /** Asked again under one idempotency key until it is answered. */
  insist: boolean;
  /** It insists, and sends each attempt twice at the same moment. */
  twice?: boolean | undefined;
  silent?: boolean | undefined;
  table?: MarkedTable | undefined;
  marks?: string[] | undefined;
  /** What an answer means, where its status does not say it; 500 and more: it may have been done or not. */
  statusOf?: ((answer: Answer) => number) | undefined;
}

/** @throws Error where a call was done that has to be refused */
export function refused({ what, requestIds, status }: Entry): void {
  if (status !== undefined && status < 400) throw new Error(`${what} ${requestIds.join()} was answered ${status}`);
}

/** Everything that was asked for, with what was answered. */
export class Ledger {
  readonly entries: Entry[] = [];
  readonly #seed: number;
  answered = 0;
  #count = 0;
  #closed = false;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** A text that nothing else has. */
  mark(): string {
    this.#count += 1;
    return `F${this.#seed}-${this.#count}`;
  }

  /** Whether nobody insists any more. */
  get closed(): boolean {
    return this.#closed;
  }

  /** From now on nobody insists: the system does not come back. */
  close(): void {
    this.#closed = true;
  }

  async ask(request: Request): Promise<Entry> {
    const key = this.mark();
    const { what, silent = false, table, marks = [] } = request;
    const askedAt = performance.now();
    const entry: Entry = { what, requestIds: [], status: undefined, askedAt, silent, answer: undefined, table, marks };
    this.entries.push(entry);
    for (let attempt = 1; ; attempt += 1) {
      const ids = request.twice ? [`${key}.${attempt}a`, `${key}.${attempt}b`] : [`${key}.${attempt}`];
      entry.requestIds.push(...ids);
      const told = tellingOf(request, await Promise.all(ids.map((id) => this.#attempt(request, id, key))));
      if (told) {
        Object.assign(entry, told);
        this.answered += 1;
        return entry;
      }
      if (!request.insist || this.#closed) return entry;
      await pause(RETRY_AFTER_MS);
    }
  }

  async #attempt(request: Request, requestId: string, key: string): Promise<Answer | undefined> {
    const { token, lines, form, body } = request;
    const headers: Record<string, string> = { ...request.headers, 'x-request-id': requestId };
    if (request.insist) headers['idempotency-key'] = key;
    if (lines !== undefined) headers['content-type'] = 'application/x-ndjson';
    if (form) headers['content-type'] = 'application/x-www-form-urlencoded';
    const raw = form ? new URLSearchParams(form).toString() : lines;
    return call(request.url(), request.method, {
      headers,
      signal: AbortSignal.timeout(ANSWER_MS),
      ...(token === undefined ? {} : { token }),
      ...(raw === undefined ? { body } : { raw }),
    }).catch(() => undefined);
  }

  /** How often each kind of call was done, was refused, and was not answered. */
  tally(): string[] {
    return [...Map.groupBy(this.entries, ({ what }) => what)].map(([what, entries]) => {
      const done = entries.filter(({ status }) => status !== undefined && status < 300).length;
      const open = entries.filter(({ status }) => status === undefined).length;
      return `${what}: ${done} done, ${entries.length - done - open} refused, ${open} without an answer`;
    });
  }
}

/**
 * What tells what became of an attempt: that it was done, or, of all its requests, that it was refused.
 * @throws Error where two requests under one key were answered to be done, and not alike
 */
function tellingOf(
  { what, statusOf }: Request,
  answers: readonly (Answer | undefined)[],
): { status: number; answer: Answer } | undefined {
  const told = answers.flatMap((answer) => {
    const status = answer && (statusOf?.(answer) ?? answer.status);
    // 408 and 503 of an import: it goes on behind what it has.
    const tells = status !== undefined && status < 500 && status !== 408 && status !== 429;
    return answer && tells ? [{ status, answer }] : [];
  });
  const done = told.filter(({ status }) => status < 300);
  const texts = new Set(done.map(({ answer }) => answer.text));
  if (texts.size > 1) throw new Error(`${what} was answered twice under one key: ${[...texts].join(' and ')}`);
  return done[0] ?? (told.length === answers.length ? told[0] : undefined);
}
