import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ErrorCode, Problem } from '../../errors.ts';
import { errorMessage, STATUS } from '../problem.ts';

/** Why a caller does not get as far as the application (the service interface, Mutual TLS). */
export interface Refusal {
  code: Extract<ErrorCode, 'certificate_invalid' | 'certificate_missing' | 'https_required' | 'integration_error'>;
  details: string;
}

/** Node knows no reasons for 495 to 497; these are nginx's, whose statuses they are. */
const REASONS: Record<Refusal['code'], string> = {
  certificate_invalid: 'SSL Certificate Error',
  certificate_missing: 'SSL Certificate Required',
  https_required: 'HTTP Request Sent to HTTPS Port',
  integration_error: 'Bad Gateway',
};

export interface RefusalLimits {
  /** Milliseconds for the request head to arrive before the answer is written anyway. */
  refusalHead: number;
  /** Milliseconds that a refused connection may stay open behind the answer. */
  refusalLinger: number;
}

/** Bytes of a request head that are waited for. */
const MAX_HEAD_BYTES = 16 * 1024;

/**
 * Answers a connection that never reaches the HTTP server. The request's head is read first and what follows the answer
 * is read away: a connection closed with unread bytes is reset, and the caller would not see why.
 */
export function refuseConnection(socket: Duplex, refusal: Refusal, limits: RefusalLimits): void {
  let head = Buffer.alloc(0);
  let answered = false;
  const answer = () => {
    if (answered) return;
    answered = true;
    clearTimeout(patience);
    socket.end(rawAnswer(head.toString('latin1'), refusal));
    setTimeout(() => socket.destroy(), limits.refusalLinger).unref();
  };
  const patience = setTimeout(answer, limits.refusalHead);
  socket.on('error', () => socket.destroy());
  socket.on('close', () => clearTimeout(patience));
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

/** Answers a request of a connection that was accepted before. */
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

/** The token operations answer as OAuth does (RFC 6749, 5.2); every other one, and these too, as the API does. */
const TOKEN_OPERATIONS = /^\/(token|revoke|introspect)([/?]|$)/;

function bodyOf({ code, details }: Refusal, path = ''): string {
  const message = errorMessage(new Problem(code, details));
  if (!TOKEN_OPERATIONS.test(path)) return JSON.stringify(message);
  return JSON.stringify({ error: 'invalid_client', error_description: details, ...message });
}

/** The caller's own id where it is one (docs/decisions.md, 1). */
function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID();
}
