import { type EventLoops, eventLoops } from './event-loops.ts'
import { typicalAndSlow } from './figures.ts'
import { burst } from './load.ts'
import type { QueueHarness, QueueKind } from './queue-harness.ts'

/** Connections with one request at a time. */
const WRITERS = 8
/** Share of requests before the measurement, in which V8 compiles the hot code and pools fill. */
const WARM_UP = 0.1

export interface AdmissionRow {
  readonly what: 'admission'
  readonly queue: QueueKind
  readonly writers: number
  readonly admissions: number
  readonly per_second: number
  readonly p50_ms: number
  readonly p99_ms: number
  readonly event_loop: EventLoops
}

/**
 * Creates outbound runs over eight connections. The engine is stopped first, so nothing is dialled, and the harness cannot
 * measure calls afterwards. Rejects if a run is not admitted.
 */
export async function measureAdmission(harness: QueueHarness, admissions: number): Promise<AdmissionRow> {
  const { url, key, engine } = harness.calls
  await engine.stop()
  const next = () => harness.order().ask
  await burst(url, key, Math.ceil(admissions * WARM_UP), WRITERS, next)
  await eventLoops(harness)
  const { perSecond, tookMs } = await burst(url, key, admissions, WRITERS, next)
  return {
    what: 'admission',
    queue: harness.queue,
    writers: WRITERS,
    admissions,
    per_second: Math.round(perSecond),
    ...typicalAndSlow(tookMs),
    event_loop: await eventLoops(harness),
  }
}
