import { randomUUID } from 'node:crypto';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's own request id if it has the right form (docs/decisions.md, 1), or else a new one. */
export function requestIdFrom(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : randomUUID();
}

/** Version, trace id, parent id, flags (W3C Trace Context, section 3.2). Later versions may add fields. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;

/** The trace id in a caller's `traceparent`; null if there is no valid one. */
export function traceIdFrom(traceparent: string | string[] | undefined): string | null {
  return typeof traceparent === 'string' ? (TRACEPARENT.exec(traceparent)?.[1] ?? null) : null;
}

/** The trace id in the text of a request's head, as far as it has arrived. */
export function traceIdIn(head: string): string | null {
  return traceIdFrom(/^traceparent:([^\r\n]*)/im.exec(head)?.[1]?.trim());
}
