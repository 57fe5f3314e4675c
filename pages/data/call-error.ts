/** The body of a refusal (docs/errors.md). */
export interface ErrorBody {
  code?: string;
  message?: string;
  details?: string;
  errors?: ListedError[];
}

/** One fault of a body, as the refusal of an order lists it. */
export interface ListedError {
  code: string;
  details: string;
}

/** Why a session is over; `replaced` means that somebody else has signed in in this browser. */
const SESSION_ENDS = ['idle', 'expired', 'ended', 'replaced'] as const;
export type SessionEnd = (typeof SESSION_ENDS)[number];

/** A call that was refused or got no answer. */
export class CallError extends Error {
  override readonly name = 'CallError';
  /** The HTTP status; 0 if no answer came. */
  readonly status: number;
  /** The service's code, such as `payment_not_found`; `connection_lost` if no answer came. */
  readonly code: string;
  readonly details: string;
  /** All faults in the body of an order. */
  readonly errors: readonly ListedError[];
  /** The id by which the institution finds the request. */
  readonly requestId: string | undefined;
  /** For a 401: why the session is over, if the service says so. */
  readonly sessionEnd: SessionEnd | undefined;

  constructor(status: number, body: ErrorBody, headers = new Headers()) {
    super(`${status} ${body.code ?? ''}`);
    this.status = status;
    this.code = body.code ?? 'unknown';
    this.details = body.details ?? body.message ?? '';
    this.errors = body.errors ?? [];
    this.requestId = headers.get('x-request-id') ?? undefined;
    const end = headers.get('x-lombard-session-end');
    this.sessionEnd = SESSION_ENDS.find((each) => each === end);
  }

  /** The field of the body that the service refuses, such as `current_password`. */
  get field(): string | undefined {
    return fieldOf(this.details);
  }

  /** The first fault of each field of the body: its code, and the service's message. */
  get faults(): Map<string, { code: string; message: string }> {
    const faults = new Map<string, { code: string; message: string }>();
    for (const { code, details } of this.errors.length > 0 ? this.errors : [this]) {
      const field = fieldOf(details);
      const message = details.slice(details.indexOf(': ') + 1).trim();
      if (field !== undefined && !faults.has(field)) faults.set(field, { code, message });
    }
    return faults;
  }
}

function fieldOf(details: string): string | undefined {
  return /^body\.(\w+)/.exec(details)?.[1];
}
