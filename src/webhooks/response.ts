import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { monotonic } from '../calendar.ts';
import { Interruption, type Outcome, type Reason } from './outcome.ts';

/** Bytes of a response body that are kept with the attempt, and that are read at all (docs/decisions.md, 6). */
export const KEPT_BODY = 64 * 1024;
export const READ_BODY = 1024 * 1024;

/** Characters of response headers that are kept. */
export const KEPT_HEADERS = 16 * 1024;

/** Reads one response; calls `done` exactly once. Its deadline is kept by whoever sends (egress.ts). */
export class ResponseReader implements Dispatcher.DispatchHandler {
  /** When the exchange began, on the monotonic clock. */
  readonly started: number;
  readonly #done: (outcome: Outcome) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #statusCode: number | null = null;
  #headers: IncomingHttpHeaders | null = null;
  #chunks: Buffer[] = [];
  #read = 0;
  #finished = false;

  constructor(started: number, done: (outcome: Outcome) => void) {
    this.started = started;
    this.#done = done;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The deadline may have passed while the connection was being made.
    if (this.#finished) controller.abort(new Interruption('timeout'));
    else this.#controller = controller;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number, headers: IncomingHttpHeaders): void {
    if (statusCode < 200) return;
    this.#statusCode = statusCode;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#finished) return;
    // A copy: the chunk is a view into a buffer of the parser that is used again.
    if (this.#read < KEPT_BODY) this.#chunks.push(Buffer.from(chunk.subarray(0, KEPT_BODY - this.#read)));
    this.#read += chunk.length;
    if (this.#read >= READ_BODY) {
      const controller = this.#controller;
      this.#finish(null);
      controller?.abort(new Interruption('closed'));
    }
  }

  onResponseEnd(): void {
    this.#finish(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#finish(reasonOf(error));
  }

  /** Ends the exchange, with what has come so far. */
  fail(error: Error): void {
    if (this.#finished) return;
    const controller = this.#controller;
    this.#finish(reasonOf(error));
    controller?.abort(error);
  }

  #finish(reason: Reason | null): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#controller = undefined;
    const answered = this.#statusCode !== null;
    this.#done({
      statusCode: this.#statusCode,
      headers: answered ? storable(this.#headers ?? {}) : null,
      body: answered ? text(this.#chunks, this.#read) : null,
      reason,
      durationMs: Math.round(monotonic() - this.started),
    });
  }
}

/** PostgreSQL's text takes no NUL. */
function withoutNul(value: string): string {
  return value.includes('\u0000') ? value.replaceAll('\u0000', '\ufffd') : value;
}

/** As many headers as are kept, the first ones. */
function storable(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const stored: Record<string, string | string[]> = {};
  let left = KEPT_HEADERS;
  for (const [name, value = ''] of Object.entries(headers)) {
    const values = Array.isArray(value) ? value : [value];
    for (const one of values) left -= name.length + one.length;
    if (left < 0) break;
    stored[name] = Array.isArray(value) ? value.map(withoutNul) : withoutNul(value);
  }
  return stored;
}

function text(chunks: Buffer[], read: number): string {
  if (chunks.length === 0) return '';
  const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  // Where it was cut, half a character at the end is left away rather than shown as a broken one.
  return withoutNul(read > KEPT_BODY ? new TextDecoder().decode(bytes, { stream: true }) : bytes.toString('utf8'));
}

const CONNECT_CODES = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'EHOSTDOWN',
  'ENETDOWN',
  'EACCES',
  'EPERM',
  'EINVAL',
  'EMFILE',
  'ENFILE',
]);
const TIMEOUT_CODES = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'ETIMEDOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);
const CLOSED_CODES = new Set([
  'UND_ERR_SOCKET',
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_ABORTED',
  'UND_ERR_DESTROYED',
  'UND_ERR_CLOSED',
]);

/** The reason that is stored for an error of a connection. */
export function reasonOf(error: Error): Reason {
  if (error instanceof Interruption) return error.reason;
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return reasonOf(error.errors[0]);
  const { code = '', library } = error as NodeJS.ErrnoException & { library?: string };
  if (code === 'BLOCKED_ADDRESS') return 'blocked_address';
  if (code === 'UNKNOWN_NAME') return 'dns';
  if (CONNECT_CODES.has(code)) return 'connect';
  if (TIMEOUT_CODES.has(code)) return 'timeout';
  if (isTls(code, error.message) || library?.includes('SSL')) return 'tls';
  if (CLOSED_CODES.has(code)) return 'closed';
  return 'protocol';
}

/** Verification failures have OpenSSL's names as their codes; a connection closed in the handshake only says so in its message. */
function isTls(code: string, message: string): boolean {
  return (
    /^(ERR_TLS|ERR_SSL|EPROTO)|CERT|SIGNATURE|ISSUER|CRL/.test(code) || message.includes('before secure TLS connection')
  );
}
