import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ErrorCode, Problem } from '../../values/errors.ts';
import { errorMessage } from '../schemas/problem.ts';
import { requestIdFrom, traceIdFrom, traceIdIn } from '../server/request-id.ts';
import { answerText, rawAnswer, requestIdIn, type UnreadRequests } from '../server/unparsed.ts';

/** Why a caller is refused before its request reaches the application (service interface, Mutual TLS). */
export interface Refusal {
  code: Extract<ErrorCode, 'certificate_invalid' | 'certificate_missing' | 'https_required' | 'integration_error'>;
  details: string;
}

/** A refusal, with the listener's report of unread requests. */
interface ToldRefusal extends Refusal {
  unread: Pick<UnreadRequests, 'refused'>;
}

/** The reason phrases of nginx, which invented 495 to 497. Node has none for them. */
const REASONS: Record<Refusal['code'], string> = {
  certificate_invalid: 'SSL Certificate Error',
  certificate_missing: 'SSL Certificate Required',
  https_required: 'HTTP Request Sent to HTTPS Port',
  integration_error: 'Bad Gateway',
};

export interface RefusalLimits {
  /** Milliseconds for the request head to arrive. Afterwards the answer is written anyway. */
  refusalHeadMs: number;
  /** Milliseconds for which a refused connection may stay open after the answer. */
  refusalLingerMs: number;
}

/** The longest request head, in bytes, that is awaited. */
const MAX_HEAD_BYTES = 16 * 1024;
/** Bytes of the end of a head that may have arrived before a chunk. */
const END_OF_HEAD_BYTES = 3;

/**
 * Answers a connection that never reaches the HTTP server. It reads the request head first, and discards everything after the answer.
 * Closing a connection with unread bytes would reset it, and the caller would not see the answer.
 */
export function refuseConnection(socket: Duplex, refusal: ToldRefusal, limits: RefusalLimits): void {
  let head = Buffer.alloc(0);
  let answered = false;
  const answer = () => {
    if (answered) return;
    answered = true;
    clearTimeout(timer);
    socket.end(refusalText(head.toString('latin1'), refusal));
    setTimeout(() => socket.destroy(), limits.refusalLingerMs).unref();
  };
  const timer = setTimeout(answer, limits.refusalHeadMs);
  socket.on('error', () => socket.destroy());
  socket.on('close', () => clearTimeout(timer));
  socket.on('data', (chunk: Buffer) => {
    if (answered) return;
    // Only new bytes are searched for the end of the head, because it may arrive one byte at a time.
    const from = Math.max(0, head.length - END_OF_HEAD_BYTES);
    head = Buffer.concat([head, chunk]);
    if (head.length > MAX_HEAD_BYTES || /\r?\n\r?\n/.test(head.toString('latin1', from))) answer();
  });
  socket.on('end', answer);
}

function refusalText(head: string, refusal: ToldRefusal): string {
  const body = bodyOf(refusal, /^[A-Z]+ (\S+)/.exec(head)?.[1]);
  const problem = new Problem(refusal.code, refusal.details);
  const requestId = requestIdIn(head);
  const answer = rawAnswer(problem, requestId, body);
  if (head.startsWith('HEAD ')) answer.body = '';
  refusal.unread.refused({ problem, status: answer.status, requestId, traceId: traceIdIn(head) });
  return answerText({ ...answer, reason: REASONS[refusal.code] });
}

/** Answers a request on a connection that was admitted before. */
export function refuseRequest(request: IncomingMessage, response: ServerResponse, refusal: ToldRefusal): void {
  const problem = new Problem(refusal.code, refusal.details);
  const requestId = requestIdFrom(request.headers['x-request-id']);
  const answer = rawAnswer(problem, requestId, bodyOf(refusal, request.url));
  const traceId = traceIdFrom(request.headers.traceparent);
  refusal.unread.refused({ problem, status: answer.status, requestId, traceId });
  response.writeHead(answer.status, REASONS[refusal.code], answer.headers);
  response.end(answer.body);
  request.resume();
}

/** Token operations answer with the members of OAuth (RFC 6749, 5.2) in addition to those of the API. */
const TOKEN_OPERATIONS = /^\/(token|revoke|introspect)([/?]|$)/;

function bodyOf({ code, details }: Refusal, path = ''): string {
  const message = errorMessage(new Problem(code, details));
  if (!TOKEN_OPERATIONS.test(path)) return JSON.stringify(message);
  return JSON.stringify({ error: 'invalid_client', error_description: details, ...message });
}
