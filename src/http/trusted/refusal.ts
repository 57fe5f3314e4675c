import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ErrorCode, Problem } from '../../errors.ts';
import { errorMessage, STATUS } from '../problem.ts';

/** Why a caller is refused before its request reaches the application (the service interface, Mutual TLS). */
export interface Refusal {
  code: Extract<ErrorCode, 'certificate_invalid' | 'certificate_missing' | 'https_required' | 'integration_error'>;
  details: string;
}

/** The reason phrases of nginx, which invented 495 to 497. Node has none for them. */
const REASONS: Record<Refusal['code'], string> = {
  certificate_invalid: 'SSL Certificate Error',
  certificate_missing: 'SSL Certificate Required',
  https_required: 'HTTP Request Sent to HTTPS Port',
  integration_error: 'Bad Gateway',
};

export interface RefusalLimits {
  /** The time for the request head to arrive. After it the answer is written anyway. */
  refusalHeadMs: number;
  /** The time that a refused connection may stay open after the answer. */
  refusalLingerMs: number;
}

/** The longest request head that is awaited. */
const MAX_HEAD_BYTES = 16 * 1024;

/**
 * Answers a connection that never reaches the HTTP server. It reads the request head first, and discards everything after the
 * answer: closing a connection with unread bytes resets it, and the caller would not see the answer.
 */
export function refuseConnection(socket: Duplex, refusal: Refusal, limits: RefusalLimits): void {
  let head = Buffer.alloc(0);
  let answered = false;
  const answer = () => {
    if (answered) return;
    answered = true;
    clearTimeout(timer);
    socket.end(rawAnswer(head.toString('latin1'), refusal));
    setTimeout(() => socket.destroy(), limits.refusalLingerMs).unref();
  };
  const timer = setTimeout(answer, limits.refusalHeadMs);
  socket.on('error', () => socket.destroy());
  socket.on('close', () => clearTimeout(timer));
  socket.on('data', (chunk: Buffer) => {
    if (answered) return;
    head = Buffer.concat([head, chunk]);
    if (head.length > MAX_HEAD_BYTES || /\r?\n\r?\n/.test(head.toString('latin1'))) answer();
  });
  socket.on('end', answer);
}

function rawAnswer(head: string, refusal: Refusal): string {
  const body = bodyOf(refusal, /^[A-Z]+ (\S+)/.exec(head)?.[1]);
  const lines = [
    `HTTP/1.1 ${STATUS[refusal.code]} ${REASONS[refusal.code]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId(/^x-request-id:[ \t]*(.*?)[ \t]*$/im.exec(head)?.[1])}`,
    'cache-control: no-store',
    'connection: close',
  ];
  return `${lines.join('\r\n')}\r\n\r\n${head.startsWith('HEAD ') ? '' : body}`;
}

/** Answers a request of a connection that was admitted before. */
export function refuseRequest(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  const body = bodyOf(refusal, request.url);
  response.writeHead(STATUS[refusal.code], REASONS[refusal.code], {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId(request.headers['x-request-id']),
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(body);
  request.resume();
}

/** The token operations answer with the members of OAuth (RFC 6749, 5.2) in addition to those of the API. */
const TOKEN_OPERATIONS = /^\/(token|revoke|introspect)([/?]|$)/;

function bodyOf({ code, details }: Refusal, path = ''): string {
  const message = errorMessage(new Problem(code, details));
  if (!TOKEN_OPERATIONS.test(path)) return JSON.stringify(message);
  return JSON.stringify({ error: 'invalid_client', error_description: details, ...message });
}

/** The caller's own request id where it is valid (docs/decisions.md, 1). */
function requestId(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(sent) ? sent : randomUUID();
}
