import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { monotonic } from '../../values/calendar.ts';
import { codeOf, fieldsOf } from '../../values/unknown.ts';
import { Interruption, type Outcome, type Reason } from './outcome.ts';

/** Bytes of a response body that are kept with the attempt, and bytes that are read at most (docs/decisions.md, 6). */
export const MAX_KEPT_BODY_BYTES = 64 * 1024;
const MAX_READ_BODY_BYTES = 1024 * 1024;

/** The most characters of response headers that are kept. */
const MAX_KEPT_HEADER_CHARACTERS = 16 * 1024;

/** Reads one response and calls `done` exactly once. The sender enforces its deadline (egress.ts). */
export class ResponseReader implements Dispatcher.DispatchHandler {
  /** When the exchange began, on the monotonic clock. */
  readonly started: number;
  readonly #done: (outcome: Outcome) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #statusCode: number | null = null;
  #headers: IncomingHttpHeaders | null = null;
  #chunks: Buffer[] = [];
  #readBytes = 0;
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
    // A copy, because the chunk is a view into a buffer that the parser reuses.
    if (this.#readBytes < MAX_KEPT_BODY_BYTES)
      this.#chunks.push(Buffer.from(chunk.subarray(0, MAX_KEPT_BODY_BYTES - this.#readBytes)));
    this.#readBytes += chunk.length;
    if (this.#readBytes >= MAX_READ_BODY_BYTES) {
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

  /** Ends the exchange with what has arrived so far. */
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
      body: answered ? text(this.#chunks, this.#readBytes) : null,
      reason,
      durationMs: Math.round(monotonic() - this.started),
    });
  }
}

/** Removes NUL, which PostgreSQL's text cannot hold. */
function withoutNul(value: string): string {
  return value.includes('\u0000') ? value.replaceAll('\u0000', '\ufffd') : value;
}

/** The headers, in their order, that fit into the limit. One that does not fit is left out, and not the ones behind it. */
function storable(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const stored: Record<string, string | string[]> = {};
  let left = MAX_KEPT_HEADER_CHARACTERS;
  for (const [name, value = ''] of Object.entries(headers)) {
    const values = Array.isArray(value) ? value : [value];
    const size = values.reduce((sum, one) => sum + name.length + one.length, 0);
    if (size > left) continue;
    left -= size;
    stored[name] = Array.isArray(value) ? value.map(withoutNul) : withoutNul(value);
  }
  return stored;
}

function text(chunks: Buffer[], readBytes: number): string {
  const [first] = chunks;
  if (!first) return '';
  const bytes = chunks.length === 1 ? first : Buffer.concat(chunks);
  // If the body was cut, half a character at its end is left out rather than shown as a broken one.
  return withoutNul(
    readBytes > MAX_KEPT_BODY_BYTES ? new TextDecoder().decode(bytes, { stream: true }) : bytes.toString('utf8'),
  );
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

/** The stored reason for an error of a connection. */
function reasonOf(error: Error): Reason {
  if (error instanceof Interruption) return error.reason;
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return reasonOf(error.errors[0]);
  const code = codeOf(error) ?? '';
  if (code === 'BLOCKED_ADDRESS') return 'blocked_address';
  if (code === 'UNKNOWN_NAME') return 'dns';
  if (CONNECT_CODES.has(code)) return 'connect';
  if (TIMEOUT_CODES.has(code)) return 'timeout';
  if (isTls(code, error.message) || String(fieldsOf(error).library).includes('SSL')) return 'tls';
  if (CLOSED_CODES.has(code)) return 'closed';
  return 'protocol';
}

/** Verification failures have OpenSSL's names as codes. If a connection closes during the handshake, only the message says so. */
function isTls(code: string, message: string): boolean {
  return (
    /^(ERR_TLS|ERR_SSL|EPROTO)|CERT|SIGNATURE|ISSUER|CRL/.test(code) || message.includes('before secure TLS connection')
  );
}
