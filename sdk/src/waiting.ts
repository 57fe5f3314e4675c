import { sleep } from './abort.ts';
import { LombardError } from './error.ts';

/** Milliseconds between two polls. */
const LOOK_MS = 500;
/** Statuses and codes of a service that is temporarily unavailable. */
const PASSING: ReadonlySet<unknown> = new Set([502, 503, 504, 'connection_lost', 'timeout']);

/** What is waited for. */
interface Waiting<T, Status extends string> {
  /** A name for error texts, such as `mass payment`. */
  name: string;
  read: () => Promise<T>;
  statusOf: (found: T) => Status;
  wanted: Status;
  /** The final statuses. */
  final: readonly Status[];
  /** Why it has ended, if the record says so. */
  reasonOf?: (found: T) => string | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Waits until a record has a status. It keeps trying while the service is temporarily unavailable.
 * @throws LombardError `status_unreachable` if it has ended with another status
 */
export async function waitForStatus<T, Status extends string>(waiting: Waiting<T, Status>): Promise<T> {
  const { name, read, statusOf, wanted, final, reasonOf, signal } = waiting;
  for (;;) {
    const found = await read().catch((error: unknown) => {
      if (error instanceof LombardError && (PASSING.has(error.status) || PASSING.has(error.code))) return undefined;
      throw error;
    });
    if (found !== undefined) {
      const status = statusOf(found);
      if (status === wanted) return found;
      if (final.includes(status))
        throw new LombardError({
          code: 'status_unreachable',
          message: `the ${name} is "${status}"`,
          details: reasonOf?.(found) ?? `it cannot become "${wanted}" any more`,
        });
    }
    await sleep(LOOK_MS, signal);
  }
}
