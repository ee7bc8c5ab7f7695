import type { HrTime } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import type { TraceSink, TraceSpan, UnixMs } from '@parley/kernel'

/** Spans that wait for the collector; beyond them new ones are dropped. */
const MAX_QUEUED = 8192
const EXPORT_WITHIN_MS = 5000
/** A stopping process waits this long for the collector. */
const CLOSE_WITHIN_MS = 3000

export interface Tracing {
  readonly onSpan: TraceSink
  /** Sends what waits; never rejects. */
  close(): Promise<void>
}

/**
 * Sends the spans of runs to an OpenTelemetry collector: OTLP with JSON over HTTP, at `endpoint`/v1/traces. `service`: the name of this process, such
 * as `parley-engine`. The packages of OpenTelemetry are loaded here and by nothing else: without an endpoint they cost nothing. A collector that is
 * away loses spans and delays no run.
 */
export async function openTracing(endpoint: string, service: string): Promise<Tracing> {
  const [{ OTLPTraceExporter }, { BatchSpanProcessor }, { resourceFromAttributes }, { SpanKind, SpanStatusCode }] =
    await Promise.all([
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/api'),
    ])
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, timeoutMillis: EXPORT_WITHIN_MS })
  const processor = new BatchSpanProcessor({ exporter, maxQueueSize: MAX_QUEUED })
  const resource = resourceFromAttributes({ 'service.name': service, 'service.namespace': 'parley' })
  const kinds = {
    internal: SpanKind.INTERNAL,
    server: SpanKind.SERVER,
    client: SpanKind.CLIENT,
    consumer: SpanKind.CONSUMER,
  }
  const readable = ({
    traceId,
    spanId,
    parentId,
    name,
    kind,
    startMs,
    endMs,
    attributes,
    error,
  }: TraceSpan): ReadableSpan => {
    const context = (id: string) => ({ traceId, spanId: id, traceFlags: 1 })
    const ended = Math.max(startMs, endMs)
    return {
      name,
      kind: kinds[kind],
      spanContext: () => context(spanId),
      ...(parentId !== null && { parentSpanContext: context(parentId) }),
      startTime: hrTimeOf(startMs),
      endTime: hrTimeOf(ended),
      duration: hrTimeOf(ended - startMs),
      status: error === null ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: error },
      attributes: { ...attributes },
      links: [],
      events: [],
      ended: true,
      resource,
      instrumentationScope: { name: 'parley' },
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    }
  }
  return {
    onSpan: span => processor.onEnd(readable(span)),
    async close() {
      const late = Promise.withResolvers<void>()
      const timer = setTimeout(() => late.resolve(), CLOSE_WITHIN_MS)
      await Promise.race([processor.shutdown().catch(() => {}), late.promise])
      clearTimeout(timer)
    },
  }
}

/** Seconds and nanoseconds. */
function hrTimeOf(ms: UnixMs): HrTime {
  const seconds = Math.floor(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1_000_000)]
}
