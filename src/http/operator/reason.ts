import type { FastifyRequest } from 'fastify';
import { Problem } from '../../errors.ts';

/** The header that says why something is changed: a text, percent-encoded UTF-8 (RFC 3986, 2.1). */
const REASON_HEADER = 'x-reason';
const MAX_REASON_LENGTH = 500;

/**
 * Why a request changes something: its header X-Reason, else the field `reason` that some bodies have.
 * @throws Problem invalid_parameter unless the header is a text of 1 to 500 characters in percent-encoded UTF-8
 */
export function reasonOf({ headers, body }: FastifyRequest): string | undefined {
  const header = headers[REASON_HEADER];
  if (header === undefined) {
    const { reason } = (body ?? {}) as { reason?: unknown };
    return typeof reason === 'string' ? reason : undefined;
  }
  const reason = decoded(String(header))?.trim();
  if (!reason || reason.length > MAX_REASON_LENGTH || reason.includes('\0'))
    throw new Problem('invalid_parameter', {
      field: 'X-Reason',
      message: `must have 1 to ${MAX_REASON_LENGTH} characters, percent-encoded UTF-8`,
    });
  return reason;
}

/** The pages change nothing without a reason. @throws Problem missing_parameter, and as `reasonOf` */
export function requireReason(request: FastifyRequest): void {
  if (request.method === 'GET' || request.method === 'HEAD') return;
  if (request.headers[REASON_HEADER] === undefined)
    throw new Problem('missing_parameter', {
      field: 'X-Reason',
      message: 'is required where the pages change something',
    });
  reasonOf(request);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
