import { type Random, randomUint32 } from './random.ts'
import type { UnixMs } from './units.ts'

/** A finished operation in the trace of a run, as in OpenTelemetry. It holds no words of callers or agents and no values of theirs. */
export interface TraceSpan {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits, as `parentId`; null: the root, or the parent is unknown. */
  readonly spanId: string
  readonly parentId: string | null
  readonly name: string
  readonly kind: 'internal' | 'server' | 'client' | 'consumer'
  readonly startMs: UnixMs
  readonly endMs: UnixMs
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  /** Null: it succeeded. */
  readonly error: string | null
}

/** Takes finished spans; never throws and does not wait. */
export type TraceSink = (span: TraceSpan) => void

/** The ids of a run's trace. They follow from the run's id, so that every process that works on the run knows them. */
export interface RunTraceIds {
  readonly traceId: string
  /** The request that admitted the run. */
  readonly request: string
  readonly run: string
}

/** `runId`: a UUID. */
export function runTraceIds(runId: string): RunTraceIds {
  const traceId = runId.replaceAll('-', '').toLowerCase()
  const request = traceId.slice(16)
  // The first digit of this half is the UUID's variant, 8 to b: 4 more is another id, and neither is zero.
  const variant = (Number.parseInt(request.slice(0, 1), 16) ^ 4).toString(16)
  return { traceId, request, run: `${variant}${request.slice(1)}` }
}

/** A random span id. */
export function newSpanId(random: Random): string {
  const half = () => randomUint32(random).toString(16).padStart(8, '0')
  return `${half()}${half()}`
}

/** The header `traceparent` of W3C Trace Context for what the run causes. */
export function traceparentOf(runId: string): string {
  const { traceId, run } = runTraceIds(runId)
  return `00-${traceId}-${run}-01`
}

/** When a UUID of version 7 was made; null: it is of another version. */
export function uuidTimeMs(uuid: string): UnixMs | null {
  return uuid.charAt(14) === '7' ? Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16) : null
}
