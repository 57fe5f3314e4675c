/** Version, trace id, parent id, flags (W3C Trace Context, section 3.2); later versions may add fields. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;

/** The trace that a caller's `traceparent` names; null without a valid one. */
export function traceIdFrom(traceparent: string | string[] | undefined): string | null {
  return typeof traceparent === 'string' ? (TRACEPARENT.exec(traceparent)?.[1] ?? null) : null;
}

/** The same from the text of a request's head, as far as it has arrived. */
export function traceIdIn(head: string): string | null {
  return traceIdFrom(/^traceparent:([^\r\n]*)/im.exec(head)?.[1]?.trim());
}
