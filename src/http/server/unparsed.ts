import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Context } from '../../context.ts';
import type { Logger } from '../../process/log.ts';
import { type ErrorCode, Problem } from '../../values/errors.ts';
import { fieldsOf } from '../../values/unknown.ts';
import { errorMessage, STATUS } from '../schemas/problem.ts';
import { requestIdFrom, traceIdFrom, traceIdIn } from './request-id.ts';

/** Milliseconds for which a refused connection may stay open after its answer. */
const LINGER_MS = 2_000;

/** The refusals for errors of Node's parser and its time limits. Any other error means that the request is not HTTP. */
const REFUSALS: Record<string, [ErrorCode, string]> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'header: the address and the headers must have at most 16384 bytes'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['payload_too_large', 'body: the extensions of its chunks are too long'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'request: its headers or its body did not arrive in time'],
};

/**
 * Answers whatever never becomes a request with an ErrorMessage and `x-request-id` (docs/decisions.md, 1): what the parser refuses, what
 * does not arrive in time, an expectation, and CONNECT.
 */
export function answerUnparsed(server: Server, unread: Pick<UnreadRequests, 'refused'>): void {
  const answered = new WeakSet<Duplex>();
  server.removeAllListeners('clientError');
  server.on('clientError', (error: Error & { code?: string; rawPacket?: Buffer }, socket: Duplex) => {
    // The parser refuses the rest of a refused request too. Destroying the socket then would lose the answer that is on its way.
    if (answered.has(socket) && error.code !== 'ECONNRESET') return;
    const begun = fieldsOf(fieldsOf(socket)._httpMessage).headersSent === true;
    if (error.code === 'ECONNRESET' || begun || !socket.writable) return void socket.destroy();
    const [code, details] = REFUSALS[error.code ?? ''] ?? [
      'malformed_request',
      `request: is not valid HTTP (${error.code?.startsWith('HPE_') ? error.code.slice('HPE_'.length) : 'unreadable'})`,
    ];
    end(socket, new Problem(code, details), error.rawPacket?.toString('latin1') ?? '');
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const problem = new Problem('expectation_failed', 'header.Expect: must be 100-continue, or absent');
    const requestId = requestIdFrom(request.headers['x-request-id']);
    const { status, headers, body } = rawAnswer(problem, requestId);
    unread.refused({ problem, status, requestId, traceId: traceIdFrom(request.headers.traceparent) });
    response.writeHead(status, headers);
    response.end(body);
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    const id = String(request.headers['x-request-id'] ?? '');
    end(socket, new Problem('method_not_allowed', 'CONNECT: this is not a proxy'), `x-request-id: ${id}`);
  });

  function end(socket: Duplex, problem: Problem, head: string): void {
    const requestId = requestIdIn(head);
    const { status, headers, body } = rawAnswer(problem, requestId);
    unread.refused({ problem, status, requestId, traceId: traceIdIn(head) });
    answered.add(socket);
    socket.on('error', () => socket.destroy());
    socket.end(answerText({ status, reason: STATUS_CODES[status] ?? '', headers, body }));
    // What the caller still sends must be read. Closing a connection with unread bytes would reset it before the caller has its answer.
    socket.resume();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  }
}

export interface RawAnswer {
  status: number;
  headers: Record<string, string | number>;
  body: string;
}

/** The answer to a request that no route answers. Its connection ends with it. */
export function rawAnswer(
  problem: Problem,
  requestId: string,
  body = JSON.stringify(errorMessage(problem)),
): RawAnswer {
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  };
  return { status: STATUS[problem.code], headers, body };
}

/** An answer as the bytes of HTTP/1.1. */
export function answerText(answer: RawAnswer & { reason: string }): string {
  const fields = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`);
  return `${[`HTTP/1.1 ${answer.status} ${answer.reason}`, ...fields].join('\r\n')}\r\n\r\n${answer.body}`;
}

/** The request id in the text of a request's head, as far as it has arrived, or a new one. */
export function requestIdIn(head: string): string {
  return requestIdFrom(/^x-request-id:([^\r\n]*)/im.exec(head)?.[1]?.trim());
}

/** What is known about a request that was refused before a route saw it. */
interface Unread {
  problem: Pick<Problem, 'code' | 'details'>;
  status: number;
  requestId: string;
  traceId: string | null;
}

/** Reports to the log and the journal of refused requests what a listener refused before a route saw it. */
export class UnreadRequests {
  readonly #listener: string;
  readonly #log: Logger;
  readonly #journals: Context['journals'];

  constructor(listener: string, { log, journals }: Pick<Context, 'log' | 'journals'>) {
    this.#listener = listener;
    this.#log = log.child({ listener });
    this.#journals = journals;
  }

  /** Writes the log line of a refused request, in the same form as for any other. */
  refused({ problem: { code, details }, status, requestId, traceId }: Unread): void {
    this.#log.info({ request_id: requestId, trace_id: traceId, status, code, details }, 'request');
    const request = { listener: this.#listener, status, code, details, request_id: requestId };
    this.#journals.refusedRequests.noteUnread(request);
  }
}
