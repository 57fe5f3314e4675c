import type { FastifyRequest } from 'fastify';
import { Problem } from '../../values/errors.ts';

/** The header with the reason for a change: a text in percent-encoded UTF-8 (RFC 3986, 2.1). */
const REASON_HEADER = 'x-reason';
const MAX_REASON_LENGTH = 500;
/** What a header can carry unchanged: ASCII. Other characters are garbled unless they are encoded. */
const ASCII = /^[\t -~]*$/;
const [HEX, REST] = ['[0-9A-Fa-f]', '%[89ABab][0-9A-Fa-f]'];
/** A character of the header: plain ASCII, or percent-encoded UTF-8 (RFC 3629, 4). */
const CHARACTER = [
  '[\\t -$&-~]',
  `%0[1-9A-Fa-f]|%[1-7]${HEX}`,
  `%(?:[Cc][2-9A-Fa-f]|[Dd]${HEX})${REST}`,
  `%[Ee](?:0%[ABab]${HEX}|[1-9A-Ca-cEFef]${REST}|[Dd]%[89]${HEX})${REST}`,
  `%[Ff](?:0%[9ABab]${HEX}|[1-3]${REST}|4%8${HEX})${REST}${REST}`,
].join('|');

/** The header in the form of the description. */
export const REASON_HEADER_FORM = { type: 'string', pattern: `^(?:${CHARACTER}){1,${MAX_REASON_LENGTH}}$` };

/**
 * The reason for a change: from the header X-Reason, or else from the field `reason` that some bodies have.
 * @throws Problem invalid_parameter unless the header is a text of 1 to 500 characters in percent-encoded UTF-8
 */
export function reasonOf({ headers, body }: FastifyRequest): string | undefined {
  const header = headers[REASON_HEADER];
  if (header === undefined) {
    const { reason } = (body ?? {}) as { reason?: unknown };
    return typeof reason === 'string' ? reason : undefined;
  }
  const reason = ASCII.test(String(header)) ? decoded(String(header))?.trim() : undefined;
  if (!reason || reason.length > MAX_REASON_LENGTH || reason.includes('\0'))
    throw new Problem('invalid_parameter', {
      field: 'X-Reason',
      message: `must have 1 to ${MAX_REASON_LENGTH} characters, percent-encoded UTF-8`,
    });
  return reason;
}

/** The pages change nothing without a reason. @throws Problem missing_parameter, and like `reasonOf` */
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
