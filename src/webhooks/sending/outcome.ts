/** Why an attempt failed before the complete response had arrived. */
export type Reason = 'dns' | 'connect' | 'tls' | 'timeout' | 'blocked_address' | 'closed' | 'protocol' | 'interrupted';

/** How a request ended. */
export interface Outcome {
  statusCode: number | null;
  headers: Record<string, string | string[]> | null;
  /** The first 64 KiB, as text. */
  body: string | null;
  /** Null if the complete response arrived, or one that is longer than is read. */
  reason: Reason | null;
  /** Whole milliseconds. */
  durationMs: number;
}

/** The deadline has passed, or the service is stopping. */
export class Interruption extends Error {
  readonly reason: Reason;
  constructor(reason: Reason) {
    super(reason);
    this.reason = reason;
  }
}

/** The status by which a receiver says that it is gone for good (RFC 9110, 15.5.11). */
export const HTTP_GONE = 410;

/** Whether an outcome is a success: any 2xx whose headers and body arrived in time (docs/decisions.md, 6). */
export function succeeded(outcome: Outcome): boolean {
  return (
    outcome.reason === null && outcome.statusCode !== null && outcome.statusCode >= 200 && outcome.statusCode < 300
  );
}
