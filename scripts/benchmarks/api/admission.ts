import { quantile } from '../quantile.ts'
import { type EventLoops, eventLoops } from './event-loops.ts'
import { round, typicalAndSlow } from './figures.ts'
import { type Burst, burst } from './load.ts'
import { BARE_PREFIX } from './messages.ts'
import type { QueueHarness, QueueKind } from './queue-harness.ts'
import { ServerLink } from './server-link.ts'

/** Connections with one request at a time. */
const WRITERS = 8
/** Share of requests before the measurement, in which V8 compiles the hot code and pools fill. */
const WARM_UP = 0.1
/** The API and the bare handler take turns, so that other load of the machine affects both. */
const ROUNDS = 5

export interface AdmissionRow {
  readonly what: 'admission'
  readonly queue: QueueKind
  readonly writers: number
  readonly admissions: number
  readonly per_second: number
  readonly p50_ms: number
  readonly p99_ms: number
  /** Inserts of the rows of an admission by the bare handler. */
  readonly bare_per_second: number
  /** How many times as long an admission takes as the bare insert; median of the rounds. */
  readonly ratio: number
  readonly event_loop: EventLoops
}

/**
 * Creates outbound runs over eight connections, in turns with a bare Fastify and pg handler that looks up the same key and inserts the
 * same rows in one transaction. The engine is stopped first, so nothing is dialled, and the harness cannot measure calls afterwards.
 * Rejects if a run is not admitted.
 */
export async function measureAdmission(harness: QueueHarness, admissions: number): Promise<AdmissionRow> {
  const { url, key, engine, ownerUrl, home } = harness.calls
  await engine.stop()
  const next = () => harness.order().ask
  const bareNext = () => {
    const ask = next()
    return { ...ask, path: BARE_PREFIX + ask.path }
  }
  const warmUp = Math.ceil(admissions * WARM_UP)
  const perRound = Math.ceil(admissions / ROUNDS)
  await burst(url, key, warmUp, WRITERS, next)
  const bare = await ServerLink.start('bare-process.ts', { ownerUrl, home, plantedMs: 0 })
  try {
    await burst(bare.url, key, warmUp, WRITERS, bareNext)
    await eventLoops(harness)
    const whole: Burst[] = []
    const bareBursts: Burst[] = []
    for (let round = 0; round < ROUNDS; round++) {
      whole.push(await burst(url, key, perRound, WRITERS, next))
      bareBursts.push(await burst(bare.url, key, perRound, WRITERS, bareNext))
    }
    const median = (values: readonly number[]) => quantile(values, 0.5)
    return {
      what: 'admission',
      queue: harness.queue,
      writers: WRITERS,
      admissions: perRound * ROUNDS,
      per_second: Math.round(median(whole.map(({ perSecond }) => perSecond))),
      ...typicalAndSlow(whole.flatMap(({ tookMs }) => tookMs)),
      bare_per_second: Math.round(median(bareBursts.map(({ perSecond }) => perSecond))),
      ratio: round(median(bareBursts.map(({ perSecond }, index) => perSecond / whole[index]!.perSecond)), 2),
      event_loop: await eventLoops(harness),
    }
  } finally {
    await bare.end()
  }
}
