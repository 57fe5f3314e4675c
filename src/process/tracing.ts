import { messageOf } from '../values/unknown.ts';

export type SpanAttributes = Record<string, string | number>;

/** A span of a trace: an activity of the process, with a beginning and an end. */
export interface Span {
  /** The header that a call within the span sends along (W3C Trace Context, 3.2). */
  readonly traceparent: string;
  /** @param failure why it failed; undefined if it did not */
  end(attributes?: SpanAttributes, failure?: string): void;
}

export interface Tracing {
  /**
   * Begins a span. Without a parent it belongs to the current span.
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
  /** Runs work with a span as the current one. */
  within<T>(span: Span, work: () => T): T;
  /** The `traceparent` of the current span; null if there is none. */
  current(): string | null;
}

let used: Tracing | undefined;

/** The tracing of the process; undefined if no traces are collected. */
export function tracing(): Tracing | undefined {
  return used;
}

/** Sets the tracing of the process. */
export function traceWith(chosen: Tracing | undefined): void {
  used = chosen;
}

/** Does work in a span of its own. If no traces are collected, it only does the work. @throws the error of the work */
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
