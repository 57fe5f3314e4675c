/** Why an attempt failed before a whole response had come. */
export type Reason = 'dns' | 'connect' | 'tls' | 'timeout' | 'blocked_address' | 'closed' | 'protocol' | 'interrupted';

/** What came of a request. */
export interface Outcome {
  statusCode: number | null;
  headers: Record<string, string | string[]> | null;
  /** The first 64 KiB, as text. */
  body: string | null;
  /** Null where a response came whole (or longer than is read). */
  reason: Reason | null;
  /** Milliseconds, whole. */
  durationMs: number;
}

/** The deadline has passed, or the service stops. */
export class Interruption extends Error {
  readonly reason: Reason;
  constructor(reason: Reason) {
    super(reason);
    this.reason = reason;
  }
}

/** Whether an outcome is a success: any 2xx whose headers and body have come in time (docs/decisions.md, 6). */
export function succeeded(outcome: Outcome): boolean {
  return (
    outcome.reason === null && outcome.statusCode !== null && outcome.statusCode >= 200 && outcome.statusCode < 300
  );
}
