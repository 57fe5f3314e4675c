import type { Context } from '../../context.ts';
import type { Logger } from '../../process/log.ts';
import type { Problem } from '../../values/errors.ts';

/** What is known of a request that was refused before a route could see it. */
interface Unread {
  problem: Pick<Problem, 'code' | 'details'>;
  status: number;
  requestId: string;
  traceId: string | null;
}

/** Tells the log and the journal of refused requests what a listener refused before a route could see it. */
export class UnreadRequests {
  readonly #listener: string;
  readonly #log: Logger;
  readonly #journals: Context['journals'];

  constructor(listener: string, { log, journals }: Pick<Context, 'log' | 'journals'>) {
    this.#listener = listener;
    this.#log = log.child({ listener });
    this.#journals = journals;
  }

  /** Writes the line of a refused request, as that of any other. */
  refused({ problem: { code, details }, status, requestId, traceId }: Unread): void {
    this.#log.info({ request_id: requestId, trace_id: traceId, status, code, details }, 'request');
    const request = { listener: this.#listener, status, code, details, request_id: requestId };
    this.#journals.refusedRequests.noteUnread(request);
  }
}
