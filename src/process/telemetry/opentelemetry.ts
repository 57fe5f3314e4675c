import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { endsWithin } from '../deadline.ts';
import type { Part } from '../parts.ts';
import { type Span, type SpanAttributes, type Tracing, traceWith } from '../tracing.ts';
import { traceStatements } from './statements.ts';

/** Milliseconds that a stop waits for the collector to accept the last spans. */
const MAX_FLUSH_MS = 2_000;
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;
const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

/** The context in which each span is current. */
const CONTEXTS = new WeakMap<Span, Context>();

/**
 * Traces with OpenTelemetry, sent to the collector in `OTEL_EXPORTER_OTLP_ENDPOINT` (OTLP over HTTP). The exporter itself reads the other
 * variables of OpenTelemetry's specification: headers, timeout, service name, resource attributes.
 */
class OpenTelemetry implements Tracing, Part {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  readonly #current = new AsyncLocalStorage<Span>();
  #forget: (() => void) | undefined;

  constructor() {
    const named = resourceFromAttributes({ 'service.name': 'lombard' });
    this.#provider = new TracerProvider({
      resource: defaultResource()
        .merge(named)
        .merge(detectResources({ detectors: [envDetector] })),
      spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
    });
    this.#tracer = this.#provider.getTracer('lombard');
  }

  start(): void {
    traceWith(this);
    this.#forget = traceStatements(this);
  }

  async stop(): Promise<void> {
    traceWith(undefined);
    this.#forget?.();
    await endsWithin(this.#provider.shutdown(), MAX_FLUSH_MS);
  }

  begin(name: string, { kind, parent, attributes = {} }: Parameters<Tracing['begin']>[1]): Span {
    const current = this.#current.getStore();
    const above = (parent && contextOf(parent)) || (current && CONTEXTS.get(current)) || ROOT_CONTEXT;
    const span = this.#tracer.startSpan(name, { kind: KINDS[kind], attributes }, above);
    const { traceId, spanId, traceFlags } = span.spanContext();
    const begun: Span = {
      traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
      end: (found: SpanAttributes = {}, failure?: string) => {
        span.setAttributes(found);
        if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
        span.end();
      },
    };
    CONTEXTS.set(begun, trace.setSpan(above, span));
    return begun;
  }

  within<T>(span: Span, work: () => T): T {
    return this.#current.run(span, work);
  }

  current(): string | null {
    return this.#current.getStore()?.traceparent ?? null;
  }
}

/** The context of a caller's span; undefined if the text is not a valid `traceparent`. */
function contextOf(traceparent: string): Context | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (!traceId || !spanId || !flags || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const traceFlags = Number.parseInt(flags, 16) & 1;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

/** The part of the service that traces while it runs. */
export function createTelemetry(): Part {
  return new OpenTelemetry();
}
