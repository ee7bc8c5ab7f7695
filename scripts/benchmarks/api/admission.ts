import { type EventLoops, eventLoops } from './event-loops.ts'
import { typicalAndSlow } from './figures.ts'
import { burst } from './load.ts'
import type { QueueHarness, QueueKind } from './queue-harness.ts'

/** Connections, each of which waits for its answer. */
const WRITERS = 8
/** V8 compiles what is hot, and pools fill. */
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
 * So many outbound calls are asked for, one after the other on each of eight connections: no refusal, nothing dialled, for
 * the engine is ended first, and the harness measures no call any more. Rejects when one was not admitted.
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
