import { messageOf } from '../values/unknown.ts';

export type SpanAttributes = Record<string, string | number>;

/** A span of a trace: something that the process does, from its beginning to its end. */
export interface Span {
  /** What a call that is part of it sends along (W3C Trace Context, 3.2). */
  readonly traceparent: string;
  /** @param failure why it failed; undefined where it did not */
  end(attributes?: SpanAttributes, failure?: string): void;
}

export interface Tracing {
  /**
   * Begins a span. Without a parent it belongs to the span that is current.
   * @param options `parent`: a `traceparent`; `kind`: whether the process serves (`server`), calls (`client`) or works for itself
   */
  begin(
    name: string,
    options: {
      kind: 'server' | 'client' | 'internal';
      parent?: string | null | undefined;
      attributes?: SpanAttributes;
    },
  ): Span;
  /** Runs work in which a span is current. */
  within<T>(span: Span, work: () => T): T;
  /** The `traceparent` of the current span; null without one. */
  current(): string | null;
}

let used: Tracing | undefined;

/** What the process traces with; undefined where nobody collects traces. */
export function tracing(): Tracing | undefined {
  return used;
}

/** Sets what the process traces with. */
export function traceWith(chosen: Tracing | undefined): void {
  used = chosen;
}

/** Does work as a span of its own. Nothing more than the work where nobody collects traces. @throws whatever the work throws */
export async function traced<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T> {
  const span = used?.begin(name, { kind: 'internal', attributes });
  if (!used || !span) return work();
  try {
    const result = await used.within(span, work);
    span.end();
    return result;
  } catch (error) {
    span.end({}, messageOf(error));
    throw error;
  }
}
