import type { AudioFormat, Ms } from '@parley/kernel'
import { type DialOptions, dialLeg, type Endpoint, type LegEnd } from '@parley/leg'

/** How loud and how high the tone of a test call is. */
const TONE_HZ = 440
const TONE_LEVEL = 4000
const RING_TIMEOUT_MS: Ms = 30_000

/** What became of a test call. */
export interface TestCall {
  readonly callId: string
  readonly rang: boolean
  readonly end: LegEnd
}

interface TestCallOptions {
  readonly endpoint: Endpoint
  readonly target: DialOptions
  /** How long an answered call lasts; it plays a tone meanwhile. Null: the call is hung up as soon as it rings or is answered. */
  readonly listenMs: Ms | null
}

/** Places a call and waits for its end. Throws what `dialLeg` throws: then nothing was sent. */
export async function placeTestCall({ endpoint, target, listenMs }: TestCallOptions): Promise<TestCall> {
  const leg = await dialLeg(endpoint, { ringTimeoutMs: RING_TIMEOUT_MS, ...target })
  const { time } = endpoint
  const { promise, resolve } = Promise.withResolvers<TestCall>()
  let rang = false
  leg.onEvent(event => {
    if (event.type === 'ringing') {
      rang = true
      if (listenMs === null) leg.hangUp()
    } else if (event.type === 'answered') {
      if (listenMs === null) return leg.hangUp()
      leg.play(tone(leg.format, listenMs))
      time.at(time.now() + listenMs, () => leg.hangUp())
    } else if (event.type === 'ended') resolve({ callId: leg.callId, rang, end: event.end })
  })
  return promise
}

function tone({ sampleRateHz }: AudioFormat, ms: Ms): Int16Array {
  const samples = new Int16Array(Math.round((sampleRateHz * ms) / 1000))
  for (let i = 0; i < samples.length; i++)
    samples[i] = Math.round(TONE_LEVEL * Math.sin((2 * Math.PI * TONE_HZ * i) / sampleRateHz))
  return samples
}
