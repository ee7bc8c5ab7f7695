import type { MediaStatistics } from '../../../media/src/index.ts'
import { VirtualCall } from '../../../media/src/testing/index.ts'
import { msToSamples, type Samples } from '../../../packages/kernel/src/index.ts'
import type { Impairment, Line } from './lines.ts'

/** Before the first utterance and after each: RTCP reports loss meanwhile, which an encoder prepares for. */
const PAUSE_MS = 1000
const STEP_MS = 20

/** What the listener of a call heard. */
export interface HeardCall {
  /** Each utterance with the silence around it: from 250 ms before it was said. */
  readonly utterances: readonly Int16Array[]
  readonly statistics: MediaStatistics
}

/** Samples of `HeardCall.utterances` before the utterance was said, and at least as many after it. */
function marginOf({ format }: Line): Samples {
  return msToSamples(250, format)
}

/**
 * One call in virtual time: the caller says each utterance (of the line's format) to a listener, over a network with this impairment. The
 * same seed has the same result.
 */
export async function holdImpairedCall(
  line: Line,
  impairment: Impairment,
  utterances: readonly Int16Array[],
  seed: number,
): Promise<HeardCall> {
  const { codec, fmtp, format, holdMs } = line
  const call = await VirtualCall.start({
    codec,
    seed,
    conditions: impairment,
    session: { format, ...(holdMs !== undefined && { holdMs }) },
  })
  call.apply({ a: { codecFmtp: fmtp }, b: { codecFmtp: fmtp } })
  const heard = new Listener(call, msToSamples(PAUSE_MS, format))
  const margin = marginOf(line)
  heard.listen(PAUSE_MS)
  const parts: { readonly from: Samples; readonly until: Samples }[] = []
  for (const utterance of utterances) {
    // The longest delay of any network here is part of the margin behind the utterance.
    parts.push({ from: heard.now - margin, until: heard.now + utterance.length + 2 * margin })
    call.a.session.play(utterance)
    heard.listen((1000 * utterance.length) / format.sampleRateHz + PAUSE_MS)
  }
  return {
    utterances: parts.map(({ from, until }) => heard.part(from, until)),
    statistics: await call.b.session.statistics(),
  }
}

/** Keeps all that one end of a call hears, by its place on the session's sample clock. */
class Listener {
  readonly #call: VirtualCall
  readonly #blocks: { readonly at: Samples; readonly samples: Int16Array }[] = []
  readonly #block: Int16Array
  readonly #openedAtMs: number

  constructor(call: VirtualCall, most: Samples) {
    this.#call = call
    this.#block = new Int16Array(most)
    this.#openedAtMs = call.time.now()
  }

  /** Position on the sample clock. */
  get now(): Samples {
    const { time, b } = this.#call
    return msToSamples(time.now() - this.#openedAtMs, b.session.format)
  }

  listen(ms: number): void {
    const { session } = this.#call.b
    for (let left = ms; left > 0; left -= STEP_MS) {
      this.#call.time.advance(STEP_MS)
      for (;;) {
        const at = session.heardPosition()
        const count = session.readHeard(this.#block)
        if (count === 0) break
        this.#blocks.push({ at, samples: this.#block.slice(0, count) })
      }
    }
  }

  part(from: Samples, until: Samples): Int16Array {
    const part = new Int16Array(until - from)
    for (const { at, samples } of this.#blocks) {
      const first = Math.max(from, at)
      const last = Math.min(until, at + samples.length)
      if (first < last) part.set(samples.subarray(first - at, last - at), first - from)
    }
    return part
  }
}
